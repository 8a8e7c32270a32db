import type { ServerResponse } from 'node:http';

/** Counts the requests whose reply is not complete. */
export interface OpenRequests {
  add(response: ServerResponse): void;
  /** Resolves when no request is open. */
  ended(): Promise<void>;
}

export function createOpenRequests(): OpenRequests {
  let open = 0;
  let waiting: (() => void)[] = [];
  return {
    add(response) {
      open += 1;
      response.once('close', () => {
        open -= 1;
        if (open > 0) return;
        for (const resolve of waiting) resolve();
        waiting = [];
      });
    },
    ended: () => (open === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
