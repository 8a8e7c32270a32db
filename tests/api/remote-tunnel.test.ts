/** Requests through the tunnel, and faults of the tunnel and of a hostile relay. */
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { remoteCloudDuringTest } from '#support/cloud/remote-home.ts';
import { browse, startRemote, type Remote } from '#support/cloud/remote-server.ts';
import { createFollower } from '#support/event-follower.ts';
import { until } from '#support/patience.ts';
import { startWorld } from '#support/world.ts';
import { connect } from '#support/ws-client.ts';
import { dataFrame, encodeOpen, encodeReset, HEADER_BYTES, type OpenFacts } from '#server/net/streams/frames.ts';

const MIB = 1024 * 1024;

async function startedRemote(...options: Parameters<typeof startRemote>): Promise<Remote> {
  const remote = await startRemote(...options);
  expect(await remote.start()).toMatchObject({ data: { state: 'on' } });
  return remote;
}

const factsOf = ({ relay }: Remote): OpenFacts => ({
  remote_addr: '203.0.113.9',
  scheme: 'http',
  host: new URL(relay.url).host,
  prefix: relay.prefix(),
});

/** A stream that the test writes itself; `text` is what has arrived. */
function rawStream(remote: Remote): { stream: Duplex; text(): string } {
  const stream = remote.relay.tunnel().streams.open(factsOf(remote));
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  stream.on('end', () => stream.end());
  return { stream, text: () => text };
}

const head = ({ relay, server }: Remote, line: string, ...lines: string[]) =>
  [line, `host: ${new URL(relay.url).host}`, `authorization: Bearer ${server.token}`, ...lines, '', ''].join('\r\n');

const status = async (remote: Remote) => (await remote.status()).state;

describe('requests of browsers', () => {
  it('streams events over a WebSocket', async () => {
    const remote = await startedRemote();
    const client = await connect({ url: remote.relay.url + remote.relay.prefix(), token: remote.server.token });
    expect(client.hello.type).toBe('server_hello');
    client.sendRaw(JSON.stringify({ type: 'ping', payload: {} }));
    await client.waitFor(({ type }) => type === 'pong');
    await client.close();
    await until(() => remote.relay.tunnel().streams.size === 0);
  });

  it('uploads and downloads a large file', async () => {
    const remote = await startedRemote({ mayStall: 'an upload of 8 MiB' });
    const bytes = new Uint8Array(8 * MIB).map((_, at) => (at * 7) % 251);
    const form = new FormData();
    form.set('file', new File([bytes], 'large.bin'));
    const uploaded = await browse(remote, '/api/v1/files', { method: 'POST', body: form });
    const { data } = (await uploaded.json()) as { data: { id: string } };
    const downloaded = await browse(remote, `/api/v1/files/${data.id}`);
    expect(Buffer.from(await downloaded.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('needs the bearer, and bans the address of a browser that guesses', async () => {
    const addressOf = ({ headers }: { headers: NodeJS.Dict<string | string[]> }) =>
      headers['x-browser']?.toString() ?? '192.0.2.1';
    const remote = await startedRemote({ cloud: await remoteCloudDuringTest({ addressOf }) });
    const guess = (address: string, more: Record<string, string> = {}) =>
      browse(remote, '/api/v1/meta', { headers: { authorization: 'Bearer wrong', 'x-browser': address, ...more } });
    const refused = await guess('203.0.113.1');
    expect(refused.status).toBe(401);
    expect(refused.headers.get('x-service-relay-error')).toBeNull();
    // Headers of a page do not change its address.
    for (let count = 1; count < 10; count += 1) await guess('203.0.113.1', { 'x-real-ip': `198.51.100.${count}` });
    expect((await guess('203.0.113.1')).status).toBe(429);
    const ofAnother = await browse(remote, '/api/v1/meta', { headers: { 'x-browser': '203.0.113.2' } });
    expect(ofAnother.status).toBe(200);
    expect((await remote.server.fetch('/api/v1/meta')).status).toBe(200);
  });

  it.each(['x-forwarded-for', 'x-forwarded-host', 'forwarded', 'x-real-ip', 'x-service-relay', 'x-tunnel-facts'])(
    'ignores an invented header %s also from a relay that passes it on',
    async (name) => {
      const remote = await startedRemote();
      const { stream, text } = rawStream(remote);
      stream.write(head(remote, 'GET /api/v1/terminals HTTP/1.1', `${name}: 127.0.0.1`, 'connection: close'));
      await once(stream, 'end');
      expect(text()).toMatch(/^HTTP\/1\.1 404 /);
    },
  );

  it('has no shutdown and no debug endpoints, unlike the local page', async () => {
    const remote = await startedRemote({ debugEndpoints: true });
    expect((await browse(remote, '/api/v1/debug/channels')).status).toBe(404);
    expect((await browse(remote, '/api/v1/shutdown', { method: 'POST' })).status).toBe(404);
    expect((await remote.server.fetch('/api/v1/debug/channels')).status).toBe(200);
    const healthz = await browse(remote, '/api/v1/healthz');
    expect(healthz.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await remote.server.fetch('/api/v1/healthz')).headers.get('x-content-type-options')).toBeNull();
  });

  it('refuses a foreign Host or Origin', async () => {
    const remote = await startedRemote();
    expect((await browse(remote, '/api/v1/meta', { headers: { origin: 'http://evil.test' } })).status).toBe(403);
    expect((await browse(remote, '/api/v1/meta', { headers: { origin: remote.server.url } })).status).toBe(403);
    expect((await browse(remote, '/api/v1/meta', { headers: { origin: remote.relay.url } })).status).toBe(200);
    const { stream, text } = rawStream(remote);
    stream.write(
      `GET /api/v1/meta HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${remote.server.token}\r\n\r\n`,
    );
    await once(stream, 'end');
    expect(text()).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('answers one request of a stream', async () => {
    const remote = await startedRemote();
    const { stream, text } = rawStream(remote);
    const created = head(
      remote,
      'POST /api/v1/fs:mkdir HTTP/1.1',
      'content-type: application/json',
      'content-length: 2',
    );
    stream.write(head(remote, 'GET /api/v1/meta HTTP/1.1', 'connection: keep-alive') + created + '{}');
    await once(stream, 'end');
    expect(text().match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(text()).toMatch(/connection: close/i);
  });

  it('refuses transfer-encoding together with content-length, and 1 MB of headers', async () => {
    const remote = await startedRemote();
    const smuggled = rawStream(remote);
    smuggled.stream.write(
      head(remote, 'POST /api/v1/config HTTP/1.1', 'content-length: 4', 'transfer-encoding: chunked'),
    );
    await once(smuggled.stream, 'end');
    expect(smuggled.text()).toMatch(/^HTTP\/1\.1 400 /);
    const large = rawStream(remote);
    large.stream.on('error', () => undefined);
    large.stream.write(head(remote, 'GET /api/v1/meta HTTP/1.1', `x-large: ${'x'.repeat(MIB)}`));
    await once(large.stream, 'end');
    expect(large.text()).toMatch(/^HTTP\/1\.1 431 /);
    expect((await browse(remote, '/api/v1/meta')).status).toBe(200);
  });

  it('serves others while a browser does not read', async () => {
    const remote = await startedRemote();
    const stalled = remote.relay.tunnel().streams.open(factsOf(remote));
    stalled.write(head(remote, 'GET /openapi.json HTTP/1.1'));
    stalled.pause();
    for (let count = 0; count < 5; count += 1) expect((await browse(remote, '/openapi.json')).status).toBe(200);
    stalled.destroy();
  });

  it('aborts the request of a browser that has left', async () => {
    const remote = await startedRemote();
    const url = new URL(`${remote.relay.url}${remote.relay.prefix()}/api/v1/files`);
    const headers = {
      authorization: `Bearer ${remote.server.token}`,
      'content-type': 'multipart/form-data; boundary=b',
    };
    const upload = httpRequest(url, { method: 'POST', headers });
    upload.on('error', () => undefined);
    upload.write('--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nx');
    const unfinished = async () => {
      const names = await readdir(remote.server.home, { recursive: true });
      return names.filter((name) => name.endsWith('.tmp-upload')).length;
    };
    await until(async () => (await unfinished()) === 1);
    upload.destroy();
    await until(async () => (await unfinished()) === 0);
    expect(remote.relay.tunnel().streams.size).toBe(0);
  });
});

describe('requests that end the tunnel get their replies', () => {
  it('of a stop', async () => {
    const remote = await startedRemote();
    const reply = await browse(remote, '/api/v1/remote-control', {
      method: 'POST',
      body: JSON.stringify({ enabled: false }),
      headers: { 'content-type': 'application/json' },
    });
    expect(await reply.json()).toMatchObject({ code: 0, data: { enabled: false, state: 'stopping' } });
    await until(async () => (await status(remote)) === 'off');
    expect(await remote.status()).not.toHaveProperty('error');
  });

  it.each(['deactivate', 'delete'])('of a request to %s this device', async (action) => {
    const remote = await startedRemote();
    const { deviceId } = remote.relay.tunnel();
    const path = `/api/v1/remote-control/devices/${deviceId}`;
    const reply =
      action === 'delete'
        ? await browse(remote, path, { method: 'DELETE' })
        : await browse(remote, `${path}/deactivate`, { method: 'POST' });
    expect(await reply.json()).toMatchObject({ code: 0, data: { ok: true } });
    await until(() => remote.relay.devices.get(deviceId)?.active !== true);
    await until(async () => (await status(remote)) === 'off');
  });
});

describe('a logout through the tunnel', () => {
  it('gets its reply; then the device, the session and the login have ended', async () => {
    const remote = await startedRemote();
    const { deviceId } = remote.relay.tunnel();
    const reply = await browse(remote, '/api/v1/oauth/logout', { method: 'POST' });
    expect(await reply.json()).toMatchObject({ code: 0, data: { logged_out: true } });
    await until(async () => (await status(remote)) === 'off');
    await until(() => remote.relay.devices.get(deviceId)?.active !== true);
    await until(() => remote.relay.sessionCount() === 0);
    const { data } = await remote.server.api('GET', '/auth');
    expect(data).toMatchObject({ managed_provider: null });
    expect(await remote.start()).toMatchObject({ code: 40111 });
  });
});

describe('faults of the tunnel', () => {
  const lostTunnel = async (remote: Remote) => {
    await until(() => remote.relay.tunnels.length === 2);
    await until(async () => (await status(remote)) === 'on');
    expect((await browse(remote, '/api/v1/meta')).status).toBe(200);
  };

  it('answers 502 for an upload that is cut in its middle, and serves the next one', async () => {
    const remote = await startedRemote();
    const url = new URL(`${remote.relay.url}${remote.relay.prefix()}/api/v1/files`);
    const headers = {
      authorization: `Bearer ${remote.server.token}`,
      'content-type': 'multipart/form-data; boundary=b',
    };
    const upload = httpRequest(url, { method: 'POST', headers });
    const answered = once(upload, 'response');
    upload.write('--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nsome bytes');
    await until(() => remote.relay.tunnel().streams.size === 1);
    remote.relay.tunnel().socket.terminate();
    const [response] = (await answered) as [{ statusCode: number; resume(): void }];
    expect(response.statusCode).toBe(502);
    upload.destroy();
    await lostTunnel(remote);
  });

  it('continues a turn by the cursor after a cut in its middle', async () => {
    const cloud = await remoteCloudDuringTest();
    const world = await startWorld({ env: () => ({ ...process.env, ...cloud.env }) });
    onTestFinished(world.close);
    await cloud.logIn(world.server.home);
    const start = () => world.api('POST', '/remote-control', { enabled: true });
    await until(async () => (await start()).code === 0);
    const session = await world.session();
    const throughRelay = { url: cloud.relay.url + cloud.relay.prefix(), token: world.server.token };
    const built = { server: { ...world.server, ...throughRelay }, ok: world.ok } as never;
    const follower = createFollower(session.id, built);
    await follower.connect();
    const answer = world.model.enqueue({ text: ['One ', 'two '], hold: true });
    await world.prompt(session.id, 'Count');
    await answer.sent;
    cloud.relay.tunnel().socket.terminate();
    answer.release();
    await until(() => cloud.relay.tunnels.length === 2);
    await follower.connect();
    await follower.idle();
    expect(follower.applied.some(({ type }) => type === 'prompt.completed')).toBe(true);
    await follower.close();
  });

  it.each([
    [
      'DATA beyond the credit',
      () => [encodeOpen(99, FACTS), ...Array.from({ length: 5 }, () => dataFrame(99, 65_536).fill(0x41, HEADER_BYTES))],
    ],
    ['a used id', () => [encodeOpen(99, FACTS), encodeOpen(99, FACTS)]],
    ['a text message', () => ['no frame at all']],
  ])('closes the tunnel with 4002 for %s, and connects again', async (_name, frames) => {
    const remote = await startedRemote();
    const tunnel = remote.relay.tunnel();
    for (const frame of frames()) tunnel.socket.send(frame);
    expect(await tunnel.closed).toMatchObject({ code: 4002 });
    await lostTunnel(remote);
  });

  it('cuts a message that is longer than a frame before it is read', async () => {
    const remote = await startedRemote();
    const tunnel = remote.relay.tunnel();
    tunnel.socket.send(Buffer.alloc(4 * MIB));
    await tunnel.closed;
    await lostTunnel(remote);
  });

  it('survives 10,000 streams that are opened and reset in a second', async () => {
    const remote = await startedRemote({ mayStall: '20,000 messages of a relay in one read' });
    const tunnel = remote.relay.tunnel();
    for (let id = 1; id <= 10_000; id += 1) {
      tunnel.socket.send(encodeOpen(id, FACTS));
      tunnel.socket.send(encodeReset(id, { code: 'cancel' }));
    }
    expect((await remote.server.fetch('/api/v1/meta')).status).toBe(200);
    tunnel.socket.close(1012);
    await lostTunnel(remote);
  });
});

const FACTS: OpenFacts = { remote_addr: '203.0.113.9', scheme: 'https', host: 'relay.test', prefix: '' };
