/**
 * Loads in the background what requests load at their first use. Node never loads a module again whose file could not be
 * opened: a first use while the process had no free descriptor would fail until the server is restarted.
 */
import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '#server/logging/log.ts';
import type { EndpointEntry } from './route-table.ts';

/** Between two loads: requests come first. */
const PAUSE_MS = 20;
/** Endpoints of prompts and of the reads of sessions that clients cannot do without; more would take more memory. */
const ESSENTIAL = /^\/api\/v1\/sessions(?:$|\/:session_id(?:$|\/(?:messages|prompts|snapshot|status)\b))/;

export interface PreloadDeps {
  endpoints: readonly EndpointEntry[];
  /** Loads what endpoints of sessions share; the steps run one after the other. */
  steps: readonly (() => Promise<unknown>)[];
  log: Logger;
}

/** Begins after the first answer of `server` that is a success; a failure is logged, and the rest is loaded all the same. */
export function preloadAfterFirstAnswer(server: Server, { endpoints, steps, log }: PreloadDeps): void {
  const loads = [...steps, ...endpoints.filter(({ route }) => ESSENTIAL.test(route)).map(({ load }) => load)];
  let begun = false;
  let closed = false;
  async function preload(): Promise<void> {
    for (const load of loads) {
      await delay(PAUSE_MS, undefined, { ref: false });
      if (closed) return;
      await load().catch((error: unknown) => log.warn('code could not be loaded ahead of its use', { err: error }));
    }
  }
  server.on('close', () => (closed = true));
  server.on('request', (_request, response) => {
    if (begun) return;
    response.once('finish', () => {
      if (begun || response.statusCode !== 200) return;
      begun = true;
      void preload();
    });
  });
}
