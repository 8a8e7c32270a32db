#!/usr/bin/env node
// The installed command: starts the built server.
await import('../.output/server/index.mjs');
