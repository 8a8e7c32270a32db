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
  'undici/lib/web/websocket/stream/websocketstream.js',
  'undici/lib/web/cache/cachestorage.js',
  'undici/lib/web/eventsource/eventsource.js',
  'undici/lib/mock/snapshot-agent.js',
  'undici/lib/interceptor/cache.js',
  'undici/lib/interceptor/dns.js',
  'undici/lib/dispatcher/env-http-proxy-agent.js',
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
  // Undici's cookies read the global Headers, for which Node loads its own copy of undici.
  Reflect.get(globalThis, 'Headers');
  await yieldToLoop();
  require('undici');
  await yieldToLoop();
  return import('undici');
}
