/** A server without credentials: only the origin check protects the machine from web pages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startServer, type TestServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
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
  test('refuses every foreign origin, also without a preflight', async () => {
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

  test('serves its page, listed origins and clients that are not browsers', async () => {
    for (const origin of [undefined, own, 'https://listed.test']) {
      const answer = await send(origin);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin ?? null);
      const client = await connect(server, { token: null, headers: origin === undefined ? {} : { origin } });
      await client.close();
    }
  });
});

describe('a page of another site, without credentials', () => {
  const navigate = (path: string, site: string, more: Record<string, string> = {}) =>
    fetch(server.url + path, { headers: { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', ...more } });

  test('reaches no endpoint by links, images and scripts, which send no origin', async () => {
    const page = join(server.home, 'evil.html');
    await writeFile(page, '<script>parent.postMessage(1)</script>');
    const content = `/api/v1/fs:content?path=${encodeURIComponent(page)}`;
    for (const site of ['cross-site', 'same-site']) {
      for (const path of [content, '/api/v1/meta', '/openapi.json', '/api/v1/nope']) {
        const answer = await navigate(path, site);
        expect([site, path, answer.status]).toEqual([site, path, 403]);
        expect(await answer.json()).toMatchObject({ code: 40301, msg: 'Request from another site not allowed' });
      }
      await expect(connect(server, { token: null, headers: { 'sec-fetch-site': site } })).rejects.toMatchObject({
        status: 403,
      });
    }
    // The user's navigation and requests of the server's page.
    for (const site of ['none', 'same-origin']) expect((await navigate(content, site)).status).toBe(200);
  });

  test('opens the page by a link; a listed origin may fetch', async () => {
    // The page is not built in tests: 404 shows that the request reached the asset reader.
    expect((await navigate('/', 'cross-site')).status).toBe(404);
    expect((await navigate('/api/v1/healthz', 'cross-site')).status).toBe(200);
    const origin = 'https://listed.test';
    const answer = await navigate('/api/v1/meta', 'cross-site', { origin });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
  });

  test.each([
    ['127.0.0.1', true, /^default-src 'self'; .*; frame-ancestors 'self' https:\/\/listed\.test$/],
    ['0.0.0.0', true, /^default-src 'self'; .*; frame-ancestors 'self' https:\/\/listed\.test$/],
    // Editors embed the page in a frame.
    ['127.0.0.1', false, /^default-src 'self'; (?!.*frame-ancestors)/],
    ['0.0.0.0', false, /; frame-ancestors 'self'$/],
  ])('on %s, bypass %s, the page has the security headers, with the policy %s', async (host, bypassAuth, policy) => {
    const webDirectory = await temporaryDirectory();
    await writeFile(join(webDirectory, 'index.html'), '<title>Page</title>');
    await writeFile(join(webDirectory, 'a.js'), '1');
    const env = () => ({
      SERVICE_CODE_CORS_ORIGINS: "https://listed.test, null, https://x.test;script-src *, 'unsafe'",
    });
    const framed = await startServer({ host, bypassAuth, webDirectory, env });
    try {
      for (const path of ['/', '/s/some-session', '/index.html']) {
        const { headers } = await fetch(framed.url + path);
        expect(headers.get('content-security-policy')).toMatch(policy);
        expect([headers.get('x-content-type-options'), headers.get('referrer-policy')]).toEqual([
          'nosniff',
          'no-referrer',
        ]);
      }
      const script = (await fetch(`${framed.url}/a.js`)).headers.get('content-security-policy');
      if (host === '127.0.0.1') expect(script).toBeNull();
      else expect(script).toMatch(/; frame-ancestors 'self'$/);
    } finally {
      await framed.close();
    }
  });
});

test('with credentials other origins read no reply and open no socket, though the request is served', async () => {
  const guarded = await startServer({ env: () => ({ SERVICE_CODE_CORS_ORIGINS: 'https://listed.test, x-listed' }) });
  try {
    const port = Number(new URL(guarded.url).port) + 1;
    for (const origin of ['https://listed.test', 'x-listed', `http://localhost:${port}`]) {
      const answer = await guarded.fetch('/api/v1/meta', { headers: { origin } });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
      await (await connect(guarded, { headers: { origin } })).close();
    }
    for (const origin of ['null', 'x', 'https://evil.test']) {
      const answer = await guarded.fetch('/api/v1/meta', { headers: { origin } });
      expect([origin, answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([origin, 200, null]);
      const preflight = await fetch(`${guarded.url}/api/v1/meta`, { method: 'OPTIONS', headers: { origin } });
      expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, null]);
      await expect(connect(guarded, { headers: { origin } })).rejects.toMatchObject({ status: 403 });
    }
  } finally {
    await guarded.close();
  }
});
