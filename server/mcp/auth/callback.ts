/** Loopback listener for the redirect of a sign-in in a browser of this machine. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorCode } from '#server/errors/errno.ts';

const HOST = '127.0.0.1';
const PATH = '/callback';

/** Progress of a sign-in at the time of a callback: the code is exchanged for tokens after the callback is answered. */
export type CallbackOutcome = 'failed' | 'received' | 'succeeded';

export interface CallbackListener {
  /** `http://127.0.0.1:<port>/callback`. */
  url: string;
  /** Idempotent. */
  close(): void;
}

const page = (title: string, text: string) =>
  `<!doctype html><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p>\n`;
const PAGES: Record<CallbackOutcome, string> = {
  failed: page('Sign-in failed', 'This address did not complete it. You can close this window.'),
  received: page('Received', 'service-code shows whether the sign-in has succeeded. You can close this window.'),
  succeeded: page('Signed in', 'You can close this window.'),
};

function answer(response: ServerResponse, status: 200 | 400 | 404, text: string): void {
  response.writeHead(status, {
    'content-type': status === 404 ? 'text/plain' : 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(text);
}

/**
 * Listens on loopback, on `port` if it is free, else on any port. `arrived` receives the query of each callback and
 * returns the outcome that its page displays; a failure has the status 400.
 */
export async function listenForCallback(
  arrived: (query: URLSearchParams) => CallbackOutcome,
  port = 0,
): Promise<CallbackListener> {
  const server = createServer({ requestTimeout: 30_000 }, (request: IncomingMessage, response: ServerResponse) => {
    const target = request.url ?? '';
    const url = URL.canParse(target, `http://${HOST}`) ? new URL(target, `http://${HOST}`) : undefined;
    if (request.method !== 'GET' || url?.pathname !== PATH) {
      answer(response, 404, 'not found\n');
      return;
    }
    const outcome = arrived(url.searchParams);
    answer(response, outcome === 'failed' ? 400 : 200, PAGES[outcome]);
  });
  server.unref();
  const listen = (on: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(on, HOST, () => {
        server.off('error', reject);
        resolve();
      });
    });
  try {
    await listen(port);
  } catch (error) {
    const code = errorCode(error);
    if (port === 0 || (code !== 'EADDRINUSE' && code !== 'EACCES')) throw error;
    await listen(0);
  }
  server.on('error', () => undefined);
  // A TCP listener has an `AddressInfo`, not the path of a pipe.
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${HOST}:${bound}${PATH}`,
    close() {
      server.close();
      server.closeIdleConnections();
    },
  };
}
