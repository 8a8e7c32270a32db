/**
 * Calls into libsql of a worker thread. A thread that ends during a call aborts the whole process, so the process waits
 * at its end until the current call is over; the thread makes no further one.
 */

/** Shared between the main thread and the search thread: whether a call runs, and whether no other may begin. */
const CALL_RUNS = 0;
const STOPPED = 1;
/** How long the end of the process waits for a call. */
const WAIT_MS = 500;

export const newCallState = (): Int32Array<SharedArrayBuffer> => new Int32Array(new SharedArrayBuffer(8));

/** In the thread: runs a call, unless the process is ending. */
export function guardedCall<T>(state: Int32Array, call: () => T): T {
  Atomics.store(state, CALL_RUNS, 1);
  try {
    if (Atomics.load(state, STOPPED) === 1) throw new Error('the process is ending');
    return call();
  } finally {
    Atomics.store(state, CALL_RUNS, 0);
    Atomics.notify(state, CALL_RUNS);
  }
}

/** In the main thread, when the process ends: lets no further call begin, and waits for the current one. */
export function stopCalls(state: Int32Array): void {
  Atomics.store(state, STOPPED, 1);
  const end = performance.now() + WAIT_MS;
  for (let left = WAIT_MS; Atomics.load(state, CALL_RUNS) === 1 && left > 0; left = end - performance.now()) {
    Atomics.wait(state, CALL_RUNS, 1, left);
  }
}
