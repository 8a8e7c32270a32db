import type { Server } from 'node:http';

/** Counts the requests of `server` from now on; the returned function resolves when none is open. */
export function trackRequests(server: Server): () => Promise<void> {
  let open = 0;
  let waiting: (() => void)[] = [];
  server.on('request', (_request, response) => {
    open += 1;
    response.once('close', () => {
      open -= 1;
      if (open > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    });
  });
  return () => (open === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)));
}
