/** Queue of input that the program has not accepted yet. */

/** High-water mark: senders wait while more bytes are queued. */
export const INPUT_BYTES = 1024 * 1024;
/** Timeout of a waiting sender: a program that does not read must not block other terminals permanently. */
const ROOM_WAIT_MS = 1000;
const MIN_RETRY_MS = 5;
const MAX_RETRY_MS = 160;

export interface InputQueue {
  /** Queues text and writes as much as possible immediately. False if the queue stayed full until the timeout. */
  push(text: string): Promise<boolean>;
  /** Drops queued and later text. */
  close(): void;
}

/** Creates the queue of a writer that returns how many bytes it accepted. */
export function createInputQueue(write: (bytes: Uint8Array) => number): InputQueue {
  let pieces: Buffer[] = [];
  let queued = 0;
  let retry: NodeJS.Timeout | undefined;
  let retryMs = MIN_RETRY_MS;
  let closed = false;
  let waiters: (() => void)[] = [];

  function wake(): void {
    const woken = waiters;
    waiters = [];
    for (const resolve of woken) resolve();
  }

  function drain(): void {
    retry = undefined;
    for (let first = pieces[0]; first; first = pieces[0]) {
      const taken = write(first);
      queued -= taken;
      retryMs = taken > 0 ? MIN_RETRY_MS : Math.min(retryMs * 2, MAX_RETRY_MS);
      if (taken < first.length) {
        pieces[0] = first.subarray(taken);
        retry = setTimeout(drain, retryMs);
        break;
      }
      pieces.shift();
    }
    if (queued < INPUT_BYTES) wake();
  }

  /** Resolves when the queue is below the mark, or on the timeout. */
  function room(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ROOM_WAIT_MS);
      waiters.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  return {
    async push(text) {
      if (closed || text === '') return true;
      if (queued >= INPUT_BYTES) await room();
      if (closed) return true;
      if (queued >= INPUT_BYTES) return false;
      const bytes = Buffer.from(text);
      pieces.push(bytes);
      queued += bytes.length;
      if (retry === undefined) drain();
      return true;
    },
    close() {
      closed = true;
      clearTimeout(retry);
      pieces = [];
      queued = 0;
      wake();
    },
  };
}
