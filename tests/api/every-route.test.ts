/** Rules of every endpoint, including those added later. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import endpoints from '#endpoints';
import { publicPath } from '#utils/http/route-table.ts';
import { startServer, type TestServer } from '#support/server.ts';

let server: TestServer;
beforeAll(async () => (server = await startServer()));
afterAll(() => server.close());

const routes = endpoints.map(({ method = 'get', route }) => ({
  method: method.toUpperCase(),
  path: publicPath(route.replaceAll(/:([^/]+)/g, 'x')),
}));
const open = 'GET /api/v1/healthz';
/** Stops the server that answers the other requests. */
const stops = 'POST /api/v1/shutdown';

it.each(routes)('$method $path requires the token, unless it is the health check', async ({ method, path }) => {
  const response = await fetch(server.url + path, { method });
  if (`${method} ${path}` === open) {
    expect(response.status).toBe(200);
    return;
  }
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ code: 40101, msg: 'Unauthorized', data: null });
});

it.each(routes)('$method $path never answers with a page or a stack', async ({ method, path }) => {
  if (`${method} ${path}` === stops) return;
  const body = method === 'GET' ? {} : { body: '[1]', headers: { 'content-type': 'application/json' } };
  const response = await server.fetch(path, { method, ...body });
  const text = await response.text();
  expect(text).not.toMatch(/<html|\n\s+at /i);
  if (text !== '') expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
});
