/** A server without credentials: nothing but the origin stands between a web page and the machine. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from '#support/server.ts';
import { connect } from '#support/ws-client.ts';

let server: TestServer;
let own: string;
let neighbour: string;
beforeAll(async () => {
  server = await startServer({ bypassAuth: true, env: () => ({ SERVICE_CODE_CORS_ORIGINS: 'https://listed.test' }) });
  own = server.url;
  neighbour = `http://127.0.0.1:${Number(new URL(own).port) + 1}`;
});
afterAll(() => server.close());

const send = (origin: string | undefined, method = 'GET', path = '/api/v1/meta') =>
  fetch(server.url + path, { method, headers: origin === undefined ? {} : { origin } });
const foreign = () => [
  'null',
  'https://evil.test',
  neighbour,
  own.replace('http:', 'https:'),
  own.replace('127.0.0.1', 'localhost'),
];

describe('--dangerous-bypass-auth', () => {
  test('refuses every foreign origin, also where no preflight comes first', async () => {
    for (const origin of foreign()) {
      const requests = [
        ['GET', '/api/v1/meta'],
        ['POST', '/api/v1/shutdown'],
        ['POST', '/api/v1/sessions/none:abort'],
        ['OPTIONS', '/api/v1/sessions'],
        ['GET', '/api/v1/healthz'],
        ['GET', '/'],
      ] as const;
      for (const [method, path] of requests) {
        const answer = await send(origin, method, path);
        expect([origin, method, path, answer.status]).toEqual([origin, method, path, 403]);
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
        expect(await answer.json()).toMatchObject({ code: 40301, msg: `Origin not allowed: ${origin}`, data: null });
      }
    }
    expect((await send(undefined, 'GET', '/api/v1/healthz')).status).toBe(200);
  });

  test('refuses their WebSockets', async () => {
    for (const origin of foreign()) {
      await expect(connect(server, { token: null, headers: { origin } })).rejects.toMatchObject({ status: 403 });
    }
  });

  test('serves its own page, listed origins and who is no browser', async () => {
    for (const origin of [undefined, own, 'https://listed.test']) {
      const answer = await send(origin);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin ?? null);
      const client = await connect(server, { token: null, headers: origin === undefined ? {} : { origin } });
      await client.close();
    }
  });
});

test('with credentials the rule stays as it was', async () => {
  const guarded = await startServer();
  try {
    const port = Number(new URL(guarded.url).port) + 1;
    for (const origin of ['null', `http://localhost:${port}`]) {
      const answer = await guarded.fetch('/api/v1/meta', { headers: { origin } });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    }
  } finally {
    await guarded.close();
  }
});
