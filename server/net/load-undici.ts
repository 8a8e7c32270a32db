/** Loads undici. */
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { yieldToLoop } from '#server/async/yield.ts';

/** Modules that undici's entry requires; each takes a part of its load, in this order. */
export const PARTS = [
  'undici/lib/core/util.js',
  'undici/lib/dispatcher/client-h1.js',
  'undici/lib/dispatcher/client-h2.js',
  'undici/lib/dispatcher/agent.js',
  'undici/lib/web/fetch/util.js',
  'undici/lib/web/fetch/index.js',
  'undici/lib/web/cookies/index.js',
  'undici/lib/web/websocket/stream/websocketstream.js',
];

/**
 * Imports undici, its largest parts first in turns of the event loop of their own: the entry requires some hundred files,
 * which together would block the loop for more than 50 ms.
 */
export async function loadUndici(): Promise<typeof import('undici')> {
  // Node 20 would optimize undici's HTTP parser (WebAssembly) at the first reply: 30 MiB and 0.2 s of CPU time, for less
  // than a microsecond per chunk.
  setFlagsFromString('--liftoff-only');
  const require = createRequire(import.meta.url);
  for (const part of PARTS) {
    require(part);
    await yieldToLoop();
  }
  return import('undici');
}
