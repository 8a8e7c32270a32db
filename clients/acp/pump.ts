/** Repeats a pass while there are changes: one runs at a time, and changes during a pass share the next one. */
export interface Pump {
  /** Starts a pass, immediately if none runs. */
  poke(): void;
  /** Resolves when a pass that has started after the call has ended. */
  flushed(): Promise<void>;
}

/** `pass` must not reject. */
export function createPump(pass: () => Promise<void>): Pump {
  let isStale = false;
  let isRunning = false;
  let waiting: (() => void)[] = [];

  async function run(): Promise<void> {
    isRunning = true;
    while (isStale) {
      isStale = false;
      const served = waiting;
      waiting = [];
      await pass();
      for (const resolve of served) resolve();
    }
    isRunning = false;
  }

  function poke(): void {
    isStale = true;
    if (!isRunning) void run();
  }

  return {
    poke,
    flushed: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        poke();
      }),
  };
}
