// Preloaded into a command of bin/ (`node --require`): sends it SIGUSR1 when it requires its second module.
const Module = require('node:module');
const load = Module._load;
Module._load = function (...args) {
  if (args[0] === './thread-pool.cjs') process.kill(process.pid, 'SIGUSR1');
  return load.apply(this, args);
};
