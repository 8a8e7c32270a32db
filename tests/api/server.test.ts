/** Routes, start and stop of a server in this process. */
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { rotateToken } from '#server/auth/token.ts';
import { rawRequest, rawUpgrade } from '#support/raw-request.ts';
import { startServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import type { TestServer, TestServerOptions } from '#support/server.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});
async function start(options?: TestServerOptions): Promise<TestServer> {
  const server = await startServer(options);
  cleanups.push(server.close);
  return server;
}
async function directory(): Promise<string> {
  const path = await temporaryDirectory();
  cleanups.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

describe('meta', () => {
  it('describes the server', async () => {
    const server = await start({ webTitle: 'Mine' });
    const { data } = await server.api('GET', '/meta');
    expect(data).toMatchObject({
      server_id: server.app.serverId,
      dangerous_bypass_auth: false,
      backend: 'v2',
      web_title: 'Mine',
      open_in_apps: [],
    });
  });

  it('omits a missing title, and works without a token when auth is bypassed', async () => {
    const server = await start({ bypassAuth: true });
    const answer = await rawRequest(server.url, { path: '/api/v1/meta' });
    expect(JSON.parse(answer.text).data).toMatchObject({ dangerous_bypass_auth: true });
    expect(JSON.parse(answer.text).data).not.toHaveProperty('web_title');
    const foreign = await rawRequest(server.url, { path: '/api/v1/meta', headers: { host: 'evil.test' } });
    expect(foreign.status).toBe(403);
  });
});

describe('host', () => {
  it.each([
    '[::1]evil.test',
    '[::1].evil.test',
    '[::1',
    'localhost:80x',
    'evil.test/.localhost',
    'localhost..',
    'evil.test.',
    'evil.test',
  ])('%s is refused for requests and upgrades', async (host) => {
    const server = await start();
    for (const path of ['/', '/api/v1/healthz', '/api/v1/meta']) {
      const headers = { host, authorization: `Bearer ${server.token}` };
      const answer = await rawRequest(server.url, { path, headers });
      expect([path, answer.status]).toEqual([path, 403]);
      expect(JSON.parse(answer.text)).toMatchObject({ code: 40301, msg: expect.stringContaining(host) });
    }
    const upgrade = { Host: host, Authorization: `Bearer ${server.token}` };
    expect(await rawUpgrade(server.url, '/api/v1/ws', upgrade)).toMatch(/^HTTP\/1\.1 403/);
  });

  it.each(['localhost', 'localhost.:1', 'x.localhost:1', '[::1]:58627', '::1', '10.0.0.1'])(
    '%s is served',
    async (host) => {
      const server = await start();
      expect((await rawRequest(server.url, { path: '/api/v1/healthz', headers: { host } })).status).toBe(200);
    },
  );
});

describe('token', () => {
  it('follows the file: a rotation applies immediately, the old token is refused, deletion changes nothing', async () => {
    const server = await start();
    const status = async (token: string) =>
      (await rawRequest(server.url, { path: '/api/v1/meta', headers: { authorization: `Bearer ${token}` } })).status;
    const rotated = await rotateToken(server.home);
    expect([await status(server.token), await status(rotated)]).toEqual([401, 200]);
    await rm(join(server.home, 'server.token'));
    expect([await status(server.token), await status(rotated)]).toEqual([401, 200]);
  });
});

describe('non-loopback bind', () => {
  const remote = { host: '0.0.0.0' };

  it('bans after ten failures, for every request of the address', async () => {
    const server = await start(remote);
    const get = (path: string, token: string) =>
      rawRequest(server.url, { path, headers: { authorization: `Bearer ${token}` } });
    for (let failures = 0; failures < 10; failures += 1) expect((await get('/api/v1/meta', 'bad')).status).toBe(401);
    for (const path of ['/api/v1/healthz', '/api/v1/meta', '/']) {
      const answer = await get(path, server.token);
      expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
        429,
        { code: 42901, msg: 'Too many failed auth attempts' },
      ]);
    }
  });

  it('adds the security headers everywhere and mounts no shutdown', async () => {
    const server = await start(remote);
    for (const path of ['/', '/api/v1/healthz', '/api/v1/nope']) {
      const { headers } = await rawRequest(server.url, { path });
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
      // The page contains the same policy.
      expect(headers['content-security-policy']).toBe(`${await pagePolicy()}; frame-ancestors 'self'`);
    }
    expect(await server.api('POST', '/shutdown')).toMatchObject({ status: 404, code: 40400 });
    const document = z.object({ paths: z.record(z.string(), z.unknown()) });
    const { paths } = document.parse(await (await server.fetch('/openapi.json')).json());
    expect(paths).not.toHaveProperty('/api/v1/shutdown');
  });

  it('answers a file with the policy of files, which replaces the usual one', async () => {
    const server = await start(remote);
    const file = join(server.home, 'a.html');
    await writeFile(file, '<p>');
    const path = `/api/v1/fs:content?path=${encodeURIComponent(file)}`;
    const { headers } = await server.fetch(path);
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    const again = await server.fetch(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    expect([again.status, again.headers.get('content-security-policy')]).toEqual([304, "sandbox; default-src 'none'"]);
    const missing = await server.fetch('/api/v1/fs:content?path=/none');
    expect(missing.headers.get('content-security-policy')).toContain("default-src 'self'");
  });

  it('mounts shutdown when allowed', async () => {
    const server = await start({ ...remote, allowRemoteShutdown: true });
    expect(await server.api('POST', '/shutdown')).toMatchObject({ code: 0, data: { ok: true } });
    await server.app.stopRequested;
  });
});

describe('shutdown', () => {
  it('answers, then requests the stop; sends no security headers on loopback, where the page sets them', async () => {
    const server = await start();
    const answer = await server.api('POST', '/shutdown', { ignored: true });
    expect(answer.data).toEqual({ ok: true });
    expect(answer.headers.has('content-security-policy')).toBe(false);
    await server.app.stopRequested;
  });
});

describe('instances', () => {
  const files = async (home: string) => (await readdir(join(home, 'server', 'instances'))).toSorted();

  it('has a file for each of two servers on one home, on different ports', async () => {
    const home = await directory();
    const first = await start({ home });
    const second = await start({ home, port: Number(new URL(first.url).port) });
    expect(second.url).not.toBe(first.url);
    expect(second.token).toBe(first.token);
    expect(await files(home)).toEqual([`${first.app.serverId}.json`, `${second.app.serverId}.json`].toSorted());
    for (const { app, url } of [first, second]) {
      const file = join(home, 'server', 'instances', `${app.serverId}.json`);
      const port = Number(new URL(url).port);
      expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
        server_id: app.serverId,
        pid: process.pid,
        port,
      });
    }
    await cleanups.pop()?.();
    expect(await files(home)).toEqual([`${first.app.serverId}.json`]);
  });

  it('removes files of exited processes, keeps unreadable ones', async () => {
    const home = await directory();
    const folder = join(home, 'server', 'instances');
    await mkdir(folder, { recursive: true });
    const dead = { server_id: 'dead', pid: 2 ** 22 + 1, host: '127.0.0.1', port: 1, started_at: 1, heartbeat_at: 1 };
    await writeFile(join(folder, 'dead.json'), JSON.stringify(dead));
    await writeFile(join(folder, 'torn.json'), '{"server_id":');
    const server = await start({ home });
    expect(await files(home)).toEqual([`${server.app.serverId}.json`, 'torn.json'].toSorted());
  });
});

async function pagePolicy(): Promise<string | undefined> {
  const page = await readFile(resolve(import.meta.dirname, '../../web/index.html'), 'utf8');
  return /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(page)?.[1];
}

describe('page', () => {
  it('serves files, falls back to the page, and answers Not found', async () => {
    const webDirectory = await directory();
    await mkdir(join(webDirectory, 'assets'));
    await writeFile(join(webDirectory, 'index.html'), '<p>page</p>');
    await writeFile(join(webDirectory, 'assets', 'a.js'), 'x');
    await writeFile(join(webDirectory, 'assets', 'a.js.br'), 'xx');
    await writeFile(join(webDirectory, '..', 'outside.txt'), 'no');
    const server = await start({ webDirectory });
    const get = (path: string, method = 'GET') => rawRequest(server.url, { method, path });
    for (const path of ['/', '/sessions/abc', '/index.html']) {
      const answer = await get(path);
      expect([answer.text, answer.headers['cache-control']]).toEqual(['<p>page</p>', 'no-cache']);
      expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    }
    const script = await get('/assets/a.js');
    expect(script.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-length': '1',
    });
    const compressed = await rawRequest(server.url, {
      path: '/assets/a.js',
      headers: { 'accept-encoding': 'br', origin: 'http://localhost:5173' },
    });
    expect(compressed).toMatchObject({
      text: 'xx',
      headers: { 'content-encoding': 'br', 'content-length': '2', vary: 'Origin, Accept-Encoding' },
    });
    expect(await get('/assets/a.js', 'HEAD')).toMatchObject({ text: '', headers: { 'content-length': '1' } });
    for (const path of [
      '/missing.js',
      '/../outside.txt',
      '/%2e%2e/outside.txt',
      '/..%2foutside.txt',
      '/assets%2fa.js',
      '/assets/a.js.br',
    ]) {
      const answer = await get(path);
      expect([path, answer.status, answer.text]).toEqual([path, 404, 'Not found']);
    }
  });

  it('is missing in a checkout without a build', async () => {
    const server = await start();
    expect(await rawRequest(server.url, { path: '/' })).toMatchObject({ status: 404, text: 'Not found' });
  });
});
