#!/usr/bin/env node
// Starts the demo (see demo.mjs).
require('./debug-signal.cjs');
require('./thread-pool.cjs');
void import('./demo.mjs');
