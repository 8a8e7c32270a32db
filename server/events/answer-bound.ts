/** Bound of the answers that a client has not read yet: above it, none of the client's frames is handled. */

const UNSENT_ANSWERS = 256;
const UNSENT_ANSWER_BYTES = 1024 * 1024;

export interface AnswerBound {
  add(bytes: number): void;
  remove(bytes: number): void;
  /** Resolves when one more answer may be queued, or when the connection has closed. */
  room(): Promise<void>;
  close(): void;
}

/** Counts the unsent answers of one connection. */
export function createAnswerBound(): AnswerBound {
  let unsent = 0;
  let unsentBytes = 0;
  let closed = false;
  let waiters: (() => void)[] = [];

  const hasRoom = () => closed || (unsent < UNSENT_ANSWERS && unsentBytes < UNSENT_ANSWER_BYTES);

  function wake(): void {
    if (waiters.length === 0 || !hasRoom()) return;
    const woken = waiters;
    waiters = [];
    for (const resolve of woken) resolve();
  }

  return {
    add(bytes) {
      unsent += 1;
      unsentBytes += bytes;
    },
    remove(bytes) {
      unsent -= 1;
      unsentBytes -= bytes;
      wake();
    },
    room() {
      if (hasRoom()) return Promise.resolve();
      return new Promise((resolve) => {
        waiters.push(resolve);
      });
    },
    close() {
      closed = true;
      wake();
    },
  };
}
