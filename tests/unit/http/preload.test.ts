/** Modules that the server imports before their first use. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import endpoints from '#endpoints';
import { createLogger } from '#server/logging/log.ts';
import { eventually } from '#support/patience.ts';
import { preloadAfterFirstAnswer } from '#utils/http/preload.ts';
import type { EndpointEntry } from '#utils/http/route-table.ts';

async function listening() {
  const loaded: string[] = [];
  const logged: string[] = [];
  const entry = (method: string, route: string): EndpointEntry => ({
    method,
    route,
    load() {
      loaded.push(`${method} ${route}`);
      return Promise.reject(new Error('EMFILE'));
    },
  });
  const server = createServer(({ url }, response) => void response.writeHead(Number(url?.slice(1))).end());
  preloadAfterFirstAnswer(server, {
    endpoints: endpoints.map(({ method, route }) => entry(method, route)),
    steps: [async () => void loaded.push('step 1'), () => Promise.reject(new Error('EMFILE'))],
    log: createLogger('warn', (line) => logged.push(line)),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const get = (status: number) => fetch(`http://127.0.0.1:${port}/${status}`);
  return { server, get, loaded, logged };
}

it('are loaded sequentially after the first success; a failure does not prevent the others', async () => {
  const { get, loaded, logged } = await listening();
  await get(401);
  await get(404);
  expect(loaded).toEqual([]);
  await get(200);
  await get(200);
  const essential = [
    'step 1',
    'post /api/v1/sessions',
    'post /api/v1/sessions/:session_id/prompts',
    'get /api/v1/sessions/:session_id/snapshot',
    'get /api/v1/sessions/:session_id/messages',
  ];
  await eventually(() => expect(loaded).toEqual(expect.arrayContaining(essential)));
  expect(loaded[0]).toBe('step 1');
  expect(new Set(loaded).size).toBe(loaded.length);
  expect(loaded.filter((route) => route.includes('/fs/'))).toEqual([]);
  await eventually(() => expect(logged.length).toBe(loaded.length));
});

it('are not loaded by a closed server', async () => {
  const { server, get, loaded } = await listening();
  await get(200);
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
  const before = loaded.length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(loaded.length).toBe(before);
});
