#!/usr/bin/env node
// The installed command: starts the built server.
require('./debug-signal.cjs');
require('./thread-pool.cjs');
void import('../.output/server/index.mjs');
