#!/usr/bin/env node
// Starts the demo (see demo.mjs).
require('./thread-pool.cjs');
void import('./demo.mjs');
