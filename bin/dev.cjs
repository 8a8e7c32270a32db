// Starts `nitro dev` with the arguments given.
require('./debug-signal.cjs');
require('./thread-pool.cjs');
process.argv.splice(2, 0, 'dev');
void import('nitropack/cli');
