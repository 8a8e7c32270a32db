#!/usr/bin/env node
// The installed command: starts the built server.
require('./thread-pool.cjs');
void import('../.output/server/index.mjs');
