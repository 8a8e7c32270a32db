/**
 * Coalesces calls of a read: one runs at a time, and calls during a run share the next one. The returned promise
 * settles after a run that has started after the call. `read` must not reject.
 */
export function coalesced(read: () => Promise<void>): () => Promise<void> {
  let isStale = false;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (isStale) {
      isStale = false;
      await read();
    }
    running = undefined;
  }

  return () => {
    isStale = true;
    running ??= run();
    return running;
  };
}
