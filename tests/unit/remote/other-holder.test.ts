import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listenDuringTest } from '#support/listen-during-test.ts';
import { makeTestCertificate } from '#support/proxies.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { requestStop } from '#server/remote/other-holder.ts';

const conflict = (local_origin: string) => ({ pid: 7, local_origin, device_id: 'd', url: '', started_at: '' });

async function holder(status: number, body: string, headers: Record<string, string> = {}) {
  const bearers: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    bearers.push(request.headers.authorization);
    response.writeHead(status, headers).end(body);
  });
  return { origin: `http://127.0.0.1:${await listenDuringTest(server)}`, bearers };
}

it('sends the stop with the token of the home', async () => {
  const { origin, bearers } = await holder(200, '{"code":0}');
  await requestStop(conflict(origin), { token: 'secret' });
  expect(bearers).toEqual(['Bearer secret']);
});

it.each([
  'http://192.0.2.1:58627',
  'http://example.com',
  'http://localhost.evil.test:1',
  'http://127.0.0.1.evil.test:1',
  'http://user@127.0.0.1:1',
  'http://127.0.0.1:1/path',
  'ftp://127.0.0.1',
  'no address',
  '',
])('sends the token to no address of another machine: %s', async (origin) => {
  await expect(requestStop(conflict(origin), { token: 'secret' })).rejects.toThrow('it has no address on this machine');
});

it('follows no redirect', async () => {
  const other = await holder(200, '{"code":0}');
  const { origin } = await holder(307, '', { location: `${other.origin}/api/v1/remote-control` });
  await expect(requestStop(conflict(origin), { token: 'secret' })).rejects.toThrow('it answered with status 307');
  expect(other.bearers).toEqual([]);
});

it('uses no proxy of the environment', async () => {
  const proxy = await holder(200, '{"code":0}');
  const { origin, bearers } = await holder(200, '{"code":0}');
  process.env.HTTP_PROXY = proxy.origin;
  try {
    await requestStop(conflict(origin), { token: 'secret' });
  } finally {
    delete process.env.HTTP_PROXY;
  }
  expect([proxy.bearers, bearers]).toEqual([[], ['Bearer secret']]);
});

it('fails for a server that refuses', async () => {
  const { origin } = await holder(200, '{"code":50001}');
  await expect(requestStop(conflict(origin), { token: 'secret' })).rejects.toThrow(
    'The server of process 7 did not stop',
  );
});

it('trusts the certificate of the instance, and no other one', async () => {
  const folder = await temporaryHome();
  const [own, other] = [await makeTestCertificate(folder, 'own'), await makeTestCertificate(folder, 'other')];
  const bearers: (string | undefined)[] = [];
  const pair = { cert: await readFile(own.cert), key: await readFile(own.key) };
  const server = createSecureServer(pair, (request, response) => {
    bearers.push(request.headers.authorization);
    response.end('{"code":0}');
  });
  const target = conflict(`https://127.0.0.1:${await listenDuringTest(server)}`);
  await expect(requestStop(target, { token: 'secret' })).rejects.toThrow('The server of process 7 did not stop');
  await expect(requestStop(target, { token: 'secret', certificate: other.cert })).rejects.toThrow('did not stop');
  await expect(requestStop(target, { token: 'secret', certificate: join(folder, 'none') })).rejects.toThrow(
    'its certificate cannot be read',
  );
  expect(bearers).toEqual([]);
  await requestStop(target, { token: 'secret', certificate: own.cert });
  expect(bearers).toEqual(['Bearer secret']);
});
