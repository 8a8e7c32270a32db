import type { ServerOptions } from 'node:http';

/** Options of the HTTP server. */
export const listenOptions: ServerOptions = {
  keepAliveTimeout: 72_000,
  // No time limit on requests: prompts with media come over slow lines.
  requestTimeout: 0,
  // The guard answers a missing Host itself.
  requireHostHeader: false,
};
