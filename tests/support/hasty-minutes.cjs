// Preloaded into a server and its threads: what they do once a minute is due after 300 ms.
const { setTimeout: wait } = globalThis;
globalThis.setTimeout = Object.assign(
  (callback, ms, ...rest) => wait(callback, ms === 60_000 ? 300 : ms, ...rest),
  wait,
);
