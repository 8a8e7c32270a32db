/** Built servers of one home: the option, a second server, a killed one, large bodies, and proxies of the environment. */
import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { remoteCloudDuringTest, type RemoteCloud } from '#support/cloud/remote-home.ts';
import { listenDuringTest } from '#support/listen-during-test.ts';
import { until } from '#support/patience.ts';
import { spawnServer, type SpawnOptions } from '#support/spawned-server.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { WebSocket } from 'ws';

async function spawned({ env }: RemoteCloud, home: string, options: SpawnOptions = {}) {
  const server = await spawnServer({ ...options, home, env: { ...env, ...options.env } });
  onTestFinished(server.close);
  return {
    ...server,
    start: () => server.api('POST', '/remote-control', { enabled: true }),
    status: async () => (await server.api('GET', '/remote-control')).data as Record<string, unknown>,
  };
}

async function ownedLeases(home: string): Promise<number> {
  const names = (await readdir(join(home, 'remote'))).filter((name) => name.startsWith('lock.'));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(home, 'remote', name))).size));
  return sizes.filter((size) => size > 0).length;
}

it('a second server is refused with the holder, and starts after the holder was killed', async () => {
  const cloud = await remoteCloudDuringTest();
  const home = await temporaryHome();
  await cloud.logIn(home);
  const first = await spawned(cloud, home);
  const second = await spawned(cloud, home);
  const { data } = await first.start();
  expect(data).toMatchObject({ state: 'on' });
  const conflict = { pid: first.process.pid, local_origin: first.url, url: (data as { url: string }).url };
  expect(await second.start()).toMatchObject({ code: 40928, details: conflict });
  expect(await second.status()).toMatchObject({ conflict, error: expect.any(String) as string });
  await first.stop('SIGKILL');
  const now = await second.status();
  expect([now.state, now.conflict, now.error]).toEqual(['off', undefined, undefined]);
  expect(await second.start()).toMatchObject({ code: 0, data: { state: 'on' } });
  // A stop leaves no lease.
  await second.stop('SIGTERM');
  expect(await ownedLeases(home)).toBe(0);
});

it.each([
  ['HTTP', []],
  ['HTTPS with its own certificate', ['--https']],
  ['HTTPS below a path', ['--https', '--base-path', '/code']],
])('a server deactivates the device that another one hosts, with %s', async (_what, args) => {
  const cloud = await remoteCloudDuringTest();
  const home = await temporaryHome();
  await cloud.logIn(home);
  const first = await spawned(cloud, home, { args: [...args, '--remote-control'] });
  await until(() => first.output().includes('Remote control:'));
  const second = await spawned(cloud, home);
  expect(await second.status()).toMatchObject({ conflict: { pid: first.process.pid, local_origin: first.url } });
  const { deviceId } = cloud.relay.tunnel();
  expect(await second.api('POST', `/remote-control/devices/${deviceId}/deactivate`)).toMatchObject({ code: 0 });
  expect((await second.status()).conflict).toBeUndefined();
  expect(cloud.relay.devices.get(deviceId)?.active).toBe(false);
  expect(await first.stop()).toBe(0);
});

it('a server below a path is reached through the relay, whose prefix replaces the path', async () => {
  const cloud = await remoteCloudDuringTest();
  const home = await temporaryHome();
  await cloud.logIn(home);
  const server = await spawned(cloud, home, { args: ['--base-path', '/code', '--remote-control', '--demo'] });
  await until(() => server.output().includes('Remote control:'));
  const prefix = cloud.relay.prefix();
  const base = `${cloud.relay.url}${prefix}`;
  const headers = { authorization: `Bearer ${server.token}` };
  const page = await (await fetch(`${base}/`)).text();
  expect(page).toContain(`<meta name="service-base" content="${prefix}/"`);
  expect(page).not.toContain('/code/');
  const direct = await (await fetch(`${server.url}/code/`)).text();
  expect(direct).toContain('<meta name="service-base" content="/code/"');
  expect((await fetch(`${base}/api/v1/meta`, { headers })).status).toBe(200);
  const socket = new WebSocket(`${base.replace('http', 'ws')}/api/v1/ws`, { headers });
  const [hello] = await once(socket, 'message');
  expect(String(hello)).toContain('server_hello');
  socket.terminate();
  expect(server.errors()).toBe('');
});

it('a server with --trust-proxy is not reached through the relay, and says so in one line', async () => {
  const cloud = await remoteCloudDuringTest();
  const home = await temporaryHome();
  await cloud.logIn(home);
  const args = ['--base-path', '/code', '--trust-proxy', 'loopback'];
  const server = await spawned(cloud, home, { args: [...args, '--remote-control'] });
  const refused = 'Remote control cannot be combined with --trust-proxy.';
  await until(() => server.errors().includes('Remote control:'));
  expect(server.errors()).toContain(`Remote control: ${refused}\n`);
  expect(await server.start()).toMatchObject({ msg: refused });
  expect(cloud.relay.devices.size).toBe(0);
  // It does not keep another server of the home from it.
  const plain = await spawned(cloud, home);
  expect(await plain.start()).toMatchObject({ code: 0, data: { state: 'on' } });
});

it('--remote-control prints the address with the token and a QR code; a failure is one line', async () => {
  const cloud = await remoteCloudDuringTest();
  const home = await temporaryHome();
  await cloud.logIn(home);
  const server = await spawned(cloud, home, { args: ['--remote-control'] });
  await until(() => server.output().includes('█'));
  const { url } = await server.status();
  expect(server.output()).toContain(`Remote control: ${String(url)}#token=${server.token}`);
  expect(server.errors()).toBe('');
  const refused = await spawned(cloud, home, { args: ['--remote-control'] });
  await until(() => refused.errors());
  expect(refused.errors()).toMatch(/^Remote control: Remote control is already running in process \d+\n$/);
  expect((await refused.api('GET', '/meta')).code).toBe(0);
});

describe('a file of 100 MiB', () => {
  const PARTS = 1600;
  const PART = Buffer.alloc(64 * 1024, 'service-code ');
  /** The window of a stream and what the heap leaves until it is collected; far less than the file. */
  const MAX_MORE_MIB = 60;

  function* form(hash: Hash) {
    yield '--b\r\ncontent-disposition: form-data; name="file"; filename="large.bin"\r\n\r\n';
    for (let count = 0; count < PARTS; count += 1) {
      const part = Buffer.from(PART);
      part.writeUInt32BE(count);
      hash.update(part);
      yield part;
    }
    yield '\r\n--b--\r\n';
  }

  /** Returns the highest resident memory since the last call, in MiB. */
  async function peakMiB(pid: number | undefined): Promise<number> {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    await writeFile(`/proc/${pid}/clear_refs`, '5');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  }

  it('passes the tunnel in both directions with bounded memory, also next to a browser that reads nothing', async () => {
    const cloud = await remoteCloudDuringTest();
    const home = await temporaryHome();
    await cloud.logIn(home);
    const server = await spawned(cloud, home);
    await server.start();
    const base = cloud.relay.url + cloud.relay.prefix();
    const headers = { authorization: `Bearer ${server.token}` };
    const sentHash = createHash('sha256');
    const upload = async (hash: Hash): Promise<string> => {
      const type = { 'content-type': 'multipart/form-data; boundary=b' };
      const sent = request(`${base}/api/v1/files`, { method: 'POST', headers: { ...headers, ...type } });
      const answered = once(sent, 'response');
      await pipeline(Readable.from(form(hash)), sent);
      const [response] = (await answered) as [IncomingMessage];
      return ((await json(response)) as { data: { id: string } }).data.id;
    };
    // The modules are loaded and the heap has grown.
    await upload(createHash('sha256'));
    await peakMiB(server.process.pid);
    const before = await peakMiB(server.process.pid);
    const id = await upload(sentHash);
    const afterUpload = (await peakMiB(server.process.pid)) - before;

    const { relay } = cloud;
    const host = new URL(relay.url).host;
    const facts = { remote_addr: '203.0.113.9', scheme: 'http', host, prefix: relay.prefix() } as const;
    const stalled = Array.from({ length: 8 }, () => {
      const stream = relay.tunnel().streams.open(facts);
      stream.on('error', () => undefined);
      const head = [`GET /api/v1/files/${id} HTTP/1.1`, `host: ${host}`, `authorization: Bearer ${server.token}`];
      stream.write(`${head.join('\r\n')}\r\n\r\n`);
      return stream;
    });
    const hash = createHash('sha256');
    const response = await fetch(`${base}/api/v1/files/${id}`, { headers });
    for await (const chunk of response.body ?? []) hash.update(chunk);
    expect(hash.digest('hex')).toBe(sentHash.digest('hex'));
    const afterDownload = (await peakMiB(server.process.pid)) - before;
    for (const stream of stalled) stream.destroy();
    await until(() => relay.tunnel().streams.size === 0);
    expect(afterUpload).toBeLessThan(MAX_MORE_MIB);
    expect(afterDownload).toBeLessThan(MAX_MORE_MIB);
  });
});

it('the relay is reached through the proxy of the environment, unless NO_PROXY names it', async () => {
  const cloud = await remoteCloudDuringTest();
  const port = new URL(cloud.relay.url).port;
  // Only the proxy can resolve the name.
  cloud.relay.url = `http://relay.test:${port}`;
  const targets: string[] = [];
  const proxy = createServer();
  proxy.on('connect', ({ url = '' }: IncomingMessage, socket, head) => {
    targets.push(url);
    const onward = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  const proxyUrl = `http://127.0.0.1:${await listenDuringTest(proxy)}`;
  const home = await temporaryHome();
  await cloud.logIn(home);
  const env = { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl, SERVICE_CODE_REMOTE_HOST: cloud.relay.url };
  const server = await spawned(cloud, home, { env });
  expect(await server.start()).toMatchObject({ data: { state: 'on' } });
  expect(new Set(targets)).toEqual(new Set([`relay.test:${port}`]));
  // The registry, and the tunnel.
  expect(targets.length).toBeGreaterThan(1);
  const path = `http://127.0.0.1:${port}${cloud.relay.prefix()}/api/v1/meta`;
  expect((await fetch(path, { headers: { authorization: `Bearer ${server.token}` } })).status).toBe(200);
  await server.stop('SIGTERM');

  const used = targets.length;
  const direct = await spawned(cloud, home, { env: { ...env, NO_PROXY: '.test' } });
  void direct.start();
  await until(async () => (await direct.status()).error);
  expect(await direct.status()).toMatchObject({ error: expect.stringContaining('relay.test') as string });
  expect(targets).toHaveLength(used);
});
