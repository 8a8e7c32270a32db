import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLogger } from '#server/logging/log.ts';
import { StreamReset } from '#server/net/streams/tunnel-stream.ts';
import { browse, startRemote, type Remote } from '#support/cloud/remote-server.ts';
import { manualClock } from '#support/manual-clock.ts';
import { eventually, until } from '#support/patience.ts';
import type { TestServerOptions } from '#support/server.ts';

/** The lease files of remote control that have an owner. */
async function leases(home: string): Promise<string[]> {
  const names = await readdir(join(home, 'remote'));
  const owned = await Promise.all(
    names
      .filter((name) => name.startsWith('lock.'))
      .map(async (name) => [name, (await stat(join(home, 'remote', name))).size] as const),
  );
  return owned.filter(([, size]) => size > 0).map(([name]) => name);
}

describe('start and stop', () => {
  it('starts, serves a browser, and stops', async () => {
    const remote = await startRemote();
    const { server, relay } = remote;
    expect(await remote.status()).toMatchObject({
      enabled: false,
      state: 'off',
      device_id: expect.any(String) as string,
    });
    const started = await remote.start();
    const deviceId = relay.tunnel().deviceId;
    const url = `${relay.url}/devices/${deviceId}/?rc=1`;
    expect(started).toMatchObject({ code: 0, data: { enabled: true, state: 'on', url, device_id: deviceId } });
    expect(await remote.start()).toMatchObject({ code: 0, data: { state: 'on' } });
    expect(relay.tunnels).toHaveLength(1);
    const meta = await browse(remote, '/api/v1/meta');
    expect(meta.status).toBe(200);
    expect(meta.headers.get('x-service-relay')).toBe('1');
    expect(await meta.json()).toMatchObject({ code: 0, data: { server_id: server.app.serverId } });
    const registration = relay.requests.find(({ method, path }) => method === 'POST' && path === '/devices');
    expect(registration?.body).toMatchObject({
      device_id: deviceId,
      platform: process.platform,
      client_version: expect.stringMatching(/^service-code-cli\/\d/) as string,
      local_base_url: server.url,
      instance_id: server.app.serverId,
    });
    expect(relay.tunnel().hello).toMatchObject({ protocol: 1, device_id: deviceId, max_streams: 128, window: 262_144 });
    expect(relay.tunnel().headers).toMatchObject({ 'x-service-device-id': deviceId });
    const [tunnel] = relay.tunnels;
    const holder: unknown = JSON.parse(await readFile(join(server.home, 'remote', 'holder.json'), 'utf8'));
    expect(holder).toMatchObject({ version: 1, purpose: 'tunnel', pid: process.pid, url, local_origin: server.url });
    expect((await stat(join(server.home, 'remote', 'holder.json'))).mode & 0o777).toBe(0o600);
    expect(await remote.stop()).toMatchObject({ code: 0, data: { enabled: false, state: 'off' } });
    expect(await tunnel?.closed).toMatchObject({ code: 4000 });
    expect(await leases(server.home)).toEqual([]);
    expect(await readdir(join(server.home, 'remote'))).not.toContain('holder.json');
    expect(await remote.stop()).toMatchObject({ code: 0, data: { state: 'off' } });
    expect(await remote.start()).toMatchObject({ data: { state: 'on' } });
  });

  it('refuses a body without a boolean', async () => {
    const { server } = await startRemote();
    for (const body of [{}, { enabled: 'true' }, { enabled: 1 }]) {
      expect(await server.api('POST', '/remote-control', body)).toMatchObject({ code: 40001 });
    }
  });

  it.each([
    ['a bind that other machines reach', { host: '0.0.0.0' }, 'Remote control requires a loopback bind.'],
    [
      'a server without authentication',
      { bypassAuth: true },
      'Remote control cannot be combined with --dangerous-bypass-auth.',
    ],
  ])('refuses the start for %s, before the login is checked', async (_name, options, msg) => {
    const remote = await startRemote({ ...options, loggedIn: false });
    const refused = await remote.start();
    expect(refused).toMatchObject({ code: 40001, msg, data: null });
    expect(refused.details).toBeUndefined();
    expect(await remote.status()).toMatchObject({ state: 'off', error: msg });
    expect(await remote.stop()).toMatchObject({ code: 0, data: { state: 'off' } });
  });

  it('needs a login, and one that is not refused', async () => {
    const remote = await startRemote({ loggedIn: false });
    const details = { provider_id: 'managed:service-code' };
    expect(await remote.start()).toMatchObject({ code: 40111, details, data: null });
    expect(await remote.server.api('GET', '/remote-control/devices')).toMatchObject({ code: 40111, details });
    const second = await startRemote();
    const token = await second.logIn(second.server.home);
    second.oauth.end(token.access_token);
    second.oauth.endGrants();
    expect(await second.server.api('GET', '/remote-control/devices')).toMatchObject({ code: 40112, details });
    expect(await second.start()).toMatchObject({ code: 40112, details });
    expect(second.relay.requests.filter(({ path }) => path === '/devices')).toEqual([]);
  });

  it('reports a refused registration with its text, and releases the lock', async () => {
    const remote = await startRemote();
    remote.relay.maxDevices = 1;
    remote.relay.devices.set('other', {
      device_id: 'other',
      alias: 'o',
      platform: 'linux',
      client_version: 'x/1',
      local_base_url: '',
      created_at: '',
      updated_at: '',
      last_remote_access_at: null,
      active: true,
    });
    expect(await remote.start()).toMatchObject({ code: 50001, msg: 'refused: device_limit' });
    expect(await remote.status()).toMatchObject({ enabled: false, state: 'off', error: 'refused: device_limit' });
    expect(await leases(remote.server.home)).toEqual([]);
    remote.relay.maxDevices = 5;
    expect(await remote.start()).toMatchObject({ data: { state: 'on' } });
    expect(await remote.status()).not.toHaveProperty('error');
  });

  it('answers `starting` after 15 s, and a stop cancels the start', async () => {
    const clock = manualClock();
    const remote = await startRemote({ clock });
    remote.relay.answerNext('POST', '/devices', 'hang', 'hang', 'hang');
    const starting = remote.start();
    await until(() => remote.relay.requests.some(({ path }) => path === '/devices'));
    clock.advance(10_000);
    await until(async () => (await remote.status()).error);
    clock.advance(5000);
    expect(await starting).toMatchObject({ code: 0, data: { enabled: true, state: 'starting' } });
    expect(await remote.start()).toMatchObject({ code: 0, data: { enabled: true, state: 'starting' } });
    expect(await remote.stop()).toMatchObject({ data: { enabled: false, state: 'off' } });
    expect(await leases(remote.server.home)).toEqual([]);
    remote.relay.answerNext('POST', '/devices', 'hang');
    const cancelled = remote.start();
    await until(async () => (await remote.status()).state === 'starting');
    expect(await remote.stop()).toMatchObject({ data: { state: 'off' } });
    expect(await cancelled).toMatchObject({ code: 0, data: { enabled: false, state: 'off' } });
  });

  it('sends nothing before the first use', async () => {
    const remote = await startRemote();
    await remote.status();
    expect([remote.relay.requests, remote.cloud.requests]).toEqual([[], []]);
    expect(await readdir(remote.server.home)).not.toContain('remote');
  });

  it('renews the cloud session and the access token a single time each after a 401', async () => {
    const remote = await startRemote();
    await remote.start();
    remote.relay.endSessions();
    expect(await remote.server.api('GET', '/remote-control/devices')).toMatchObject({ code: 0 });
    expect(remote.relay.requests.filter(({ path }) => path === '/session')).toHaveLength(2);
    expect(remote.oauth.refreshes).toHaveLength(0);
    const token = await remote.logIn(remote.server.home);
    remote.oauth.end(token.access_token);
    remote.relay.endSessions();
    expect(await remote.server.api('GET', '/remote-control/devices')).toMatchObject({ code: 0 });
    expect(remote.oauth.refreshes).toHaveLength(1);
  });
});

describe('reconnection', () => {
  async function connected(options: TestServerOptions = {}) {
    const clock = manualClock();
    const remote = await startRemote({ ...options, clock });
    await remote.start();
    /** Advances the clock until the next tunnel is connected. */
    const reconnected = async (count: number) => {
      await until(() => {
        clock.advance(500);
        return remote.relay.tunnels.length >= count;
      });
      await until(async () => (await remote.status()).state === 'on');
    };
    return { ...remote, clock, reconnected };
  }

  it('connects again after the relay was killed, and reports the failure until then', async () => {
    const remote = await connected();
    const { url } = await remote.status();
    await remote.relay.kill();
    const starting = await until(async () => {
      const now = await remote.status();
      return now.state === 'starting' && now.error && now;
    });
    expect(starting).toMatchObject({ enabled: true, url });
    await remote.relay.restart();
    await remote.reconnected(2);
    expect(await remote.status()).not.toHaveProperty('error');
    expect((await browse(remote, '/api/v1/healthz')).status).toBe(200);
  });

  it.each([
    [4003, /Another server connected/],
    [4006, /too many devices/],
    [4009, /login was revoked/],
  ])('does not connect again after close code %i', async (code, error) => {
    const remote = await connected();
    remote.relay.tunnel().socket.close(code);
    const off = await until(async () => {
      const now = await remote.status();
      return now.state === 'off' && now;
    });
    expect(off).toMatchObject({ enabled: false, error: expect.stringMatching(error) as string });
    expect(await leases(remote.server.home)).toEqual([]);
    remote.clock.advance(120_000);
    expect(remote.relay.tunnels).toHaveLength(1);
    expect((await remote.start()).data).toMatchObject({ state: 'on' });
  });

  it.each([4004, 4005])(
    'is off without an error after close code %i: the device was removed elsewhere',
    async (code) => {
      const remote = await connected();
      expect(await readdir(join(remote.server.home, 'remote'))).toContain('registration.json');
      remote.relay.tunnel().socket.close(code);
      const off = await until(async () => {
        const now = await remote.status();
        return now.state === 'off' && now;
      });
      expect(off).not.toHaveProperty('error');
      expect(await readdir(join(remote.server.home, 'remote'))).not.toContain('registration.json');
    },
  );

  it('is off after the owner has stopped it at the relay', async () => {
    const remote = await connected();
    remote.relay.tunnel().streams.goAway({ reason: 'user_requested' });
    remote.relay.tunnel().socket.close(4000);
    expect(await until(async () => (await remote.status()).state === 'off')).toBe(true);
    expect(await remote.status()).not.toHaveProperty('error');
  });

  it('waits as long as a GOAWAY requests', async () => {
    const remote = await connected();
    remote.relay.tunnel().streams.goAway({ reason: 'busy', retry_after_ms: 30_000 });
    remote.relay.tunnel().socket.close(4007);
    await until(async () => (await remote.status()).state === 'starting');
    remote.clock.advance(29_900);
    expect(remote.relay.requests.filter(({ method, path }) => method === 'POST' && path === '/devices')).toHaveLength(
      1,
    );
    await remote.reconnected(2);
  });

  it('waits as long as a GOAWAY requests that refuses the tunnel', async () => {
    const clock = manualClock();
    const remote = await startRemote({ clock });
    remote.relay.refuseTunnels({ goAway: { reason: 'busy', message: 'later', retry_after_ms: 12_000 }, code: 4007 });
    const starting = remote.start();
    await until(async () => (await remote.status()).error);
    expect(await remote.status()).toMatchObject({ state: 'starting', error: 'The relay is busy: later' });
    clock.advance(11_000);
    expect(remote.relay.tunnels).toEqual([]);
    clock.advance(1500);
    expect(await starting).toMatchObject({ data: { state: 'on' } });
  });

  it('connects again immediately after a relay that restarts', async () => {
    const remote = await connected();
    remote.relay.tunnel().streams.goAway({ reason: 'server_shutting_down' });
    remote.relay.tunnel().socket.close(1012);
    await until(async () => (await remote.status()).state === 'starting');
    remote.clock.advance(250);
    await until(() => remote.relay.tunnels.length === 2);
  });

  it('requests a new cloud session after a refused ticket, and is off after two in a row', async () => {
    const remote = await connected();
    const sessions = () => remote.relay.requests.filter(({ path }) => path === '/session').length;
    remote.relay.refuseTunnels({ code: 4001 });
    remote.relay.tunnel().socket.close(4008);
    await remote.reconnected(2);
    expect(sessions()).toBe(2);
    remote.relay.refuseTunnels({ code: 4001 }, { code: 4001 });
    remote.relay.tunnel().socket.close(4008);
    await until(async () => {
      remote.clock.advance(500);
      return (await remote.status()).state === 'off';
    });
    expect(await remote.status()).toMatchObject({ error: expect.stringMatching(/refused the connection/) as string });
  });

  it('reports and logs no ticket that the relay quotes in a GOAWAY, a close reason or a RESET', async () => {
    const tickets: string[] = [];
    const lines: string[] = [];
    const remote = await connected({ log: createLogger('trace', (line) => lines.push(line)) });
    const quoted = (ticket: string) => {
      tickets.push(ticket);
      return { goAway: { reason: 'busy', message: `bad ticket ${ticket}` }, code: 4321, reason: `no ${ticket}` };
    };
    const first = (remote.relay.tunnel().headers.authorization ?? '').replace('Bearer ', '');
    tickets.push(first);
    const facts = { remote_addr: '203.0.113.7', scheme: 'http', host: 'x', prefix: '' } as const;
    remote.relay
      .tunnel()
      .streams.open(facts)
      .destroy(new StreamReset({ code: 'refused', message: first }));
    remote.relay.refuseTunnels(quoted, (ticket) => ({ ...quoted(ticket), code: 4006 }));
    remote.relay.tunnel().socket.close(4321, `lost ${first}`);
    const errors: unknown[] = [];
    /** Waits for the next error, after which the next attempt waits for its time. */
    const failed = (text: string) =>
      until(async () => {
        const { error } = await remote.status();
        errors.push(error);
        return String(error).includes(text);
      });
    await failed('lost [redacted]');
    remote.clock.advance(2000);
    await failed('bad ticket [redacted]');
    remote.clock.advance(5000);
    await failed('The account has too many devices: bad ticket [redacted]');
    expect(await remote.status()).toMatchObject({ state: 'off' });
    expect(tickets).toHaveLength(3);
    const written = JSON.stringify(errors) + lines.join('');
    expect(written).toContain('[redacted]');
    for (const ticket of tickets) expect(written).not.toContain(ticket);
  });

  it('answers a start with 50001 after three protocol errors', async () => {
    const clock = manualClock();
    const remote = await startRemote({ clock });
    remote.relay.refuseTunnels({ code: 4002 }, { code: 4002 }, { code: 4002 });
    const starting = remote.start();
    let isAnswered = false;
    void starting.then(() => (isAnswered = true));
    await until(() => {
      clock.advance(100);
      return isAnswered;
    });
    expect(await starting).toMatchObject({ code: 50001 });
    expect(await remote.status()).toMatchObject({ state: 'off', error: (await starting).msg });
  });

  it('waits as long as a reply of the registry requests', async () => {
    const clock = manualClock();
    const remote = await startRemote({ clock });
    remote.relay.answerNext('POST', '/devices', { status: 503, headers: { 'retry-after': '12' } });
    const starting = remote.start();
    await until(async () => (await remote.status()).error);
    clock.advance(11_000);
    expect(remote.relay.tunnels).toEqual([]);
    clock.advance(1500);
    expect(await starting).toMatchObject({ data: { state: 'on' } });
  });
});

describe('devices', () => {
  it('lists devices in the order of the cloud, with all members', async () => {
    const remote = await startRemote();
    await remote.start();
    const device = remote.relay.tunnel().deviceId;
    remote.relay.answerNext('GET', '/devices', {
      status: 200,
      body: {
        devices: [{ device_id: 'b', alias: 'B', status: 'sleeping', extra: 1 }, 7, { device_id: 'a' }],
        max_devices: 3,
      },
    });
    const texts = { alias: '', platform: '', client_version: '', local_base_url: '', created_at: '', updated_at: '' };
    const rest = { ...texts, status: 'offline', last_remote_access_at: null };
    expect((await remote.server.api('GET', '/remote-control/devices')).data).toEqual({
      devices: [
        { ...rest, device_id: 'b', alias: 'B' },
        { ...rest, device_id: 'a' },
      ],
      max_devices: 3,
    });
    const { data } = await remote.server.api('GET', '/remote-control/devices');
    expect(data).toMatchObject({
      devices: [{ device_id: device, status: 'online', local_base_url: remote.server.url }],
    });
  });

  it('checks an alias before anything else, in code points', async () => {
    const { server, relay } = await startRemote({ loggedIn: false });
    for (const alias of ['', '  ', 'x'.repeat(51), '😀'.repeat(51), 7]) {
      const refused = await server.api('PATCH', '/remote-control/devices/d', { alias });
      expect(refused).toMatchObject({ code: 40001, details: [{ path: 'alias' }] });
    }
    expect(await server.api('PATCH', '/remote-control/devices/d', { alias: '😀'.repeat(50) })).toMatchObject({
      code: 40111,
    });
    expect(relay.requests).toEqual([]);
  });

  it('renames devices; errors of the cloud are of the request or of the server', async () => {
    const remote = await startRemote();
    await remote.start();
    const { relay, server } = remote;
    const id = relay.tunnel().deviceId;
    const rename = (device: string, alias: string) =>
      server.api('PATCH', `/remote-control/devices/${device}`, { alias });
    expect(await rename(id, ' desk ')).toMatchObject({ code: 0, data: { ok: true } });
    expect(relay.devices.get(id)?.alias).toBe('desk');
    const refused = await rename('unknown', 'x');
    expect(refused).toMatchObject({ code: 40001, data: null, msg: 'refused: device_not_found' });
    expect(refused.details).toBeUndefined();
    expect(await rename(id, 'invalid')).toMatchObject({ code: 40001, msg: 'refused: invalid_alias' });
    relay.answerNext('PATCH', `/devices/${id}`, { status: 500 });
    expect(await rename(id, 'y')).toMatchObject({ code: 50001 });
    expect(await rename('a/b?c', 'y')).toMatchObject({ code: 40400 });
    expect(await rename('a%2Fb%3Fc', 'y')).toMatchObject({ code: 40001 });
    expect(relay.requests.at(-1)?.path).toBe('/devices/a%2Fb%3Fc');
  });

  it('deactivates and deletes this device: the tunnel ends first', async () => {
    const remote = await startRemote();
    const { relay, server } = remote;
    await remote.start();
    const id = relay.tunnel().deviceId;
    const [tunnel] = relay.tunnels;
    expect(await server.api('POST', `/remote-control/devices/${id}/deactivate`)).toMatchObject({
      code: 0,
      data: { ok: true },
    });
    expect(await tunnel?.closed).toMatchObject({ code: 4000 });
    expect(await remote.status()).toMatchObject({ state: 'off' });
    expect(relay.devices.get(id)?.active).toBe(false);
    expect(await leases(server.home)).toEqual([]);
    expect(await readdir(join(server.home, 'remote'))).not.toContain('registration.json');
    expect(await server.api('POST', `/remote-control/devices/${id}/deactivate`)).toMatchObject({ code: 0 });
    await remote.start();
    expect(await server.api('DELETE', `/remote-control/devices/${id}`)).toMatchObject({ code: 0, data: { ok: true } });
    expect(relay.devices.has(id)).toBe(false);
    expect(await server.api('DELETE', `/remote-control/devices/unknown`)).toMatchObject({ code: 0 });
    expect(await remote.status()).toMatchObject({ state: 'off' });
  });

  it('cancels a start that is in flight when the device is deactivated', async () => {
    const remote = await startRemote();
    await remote.start();
    const id = remote.relay.tunnel().deviceId;
    await remote.stop();
    remote.relay.answerNext('POST', '/devices', 'hang');
    const starting = remote.start();
    await until(async () => (await remote.status()).state === 'starting');
    expect(await remote.server.api('POST', `/remote-control/devices/${id}/deactivate`)).toMatchObject({ code: 0 });
    expect(await starting).toMatchObject({ code: 0, data: { state: 'off' } });
  });
});

describe('several servers of a home', () => {
  it('refuses the second start with the holder, whose tunnel the other server can end', async () => {
    const first = await startRemote();
    const second = await startRemote({ home: first.server.home, cloud: first, loggedIn: false });
    const { data } = await first.start();
    const url = (data as { url: string }).url;
    const id = first.relay.tunnel().deviceId;
    const conflict = { pid: process.pid, local_origin: first.server.url, device_id: id, url };
    const refused = await second.start();
    expect(refused).toMatchObject({ code: 40928, data: null, details: conflict });
    expect(await second.status()).toMatchObject({ state: 'off', conflict, error: refused.msg });
    expect(await second.stop()).toMatchObject({ code: 0, data: { state: 'off', conflict } });
    expect(await first.status()).toMatchObject({ state: 'on' });
    expect(await first.status()).not.toHaveProperty('conflict');
    expect(await second.server.api('POST', `/remote-control/devices/${id}/deactivate`)).toMatchObject({ code: 0 });
    expect(await first.status()).toMatchObject({ state: 'off' });
    expect(first.relay.devices.get(id)?.active).toBe(false);
    const now = await second.status();
    expect([now.conflict, now.error]).toEqual([undefined, undefined]);
    expect(await second.start()).toMatchObject({ data: { state: 'on' } });
  });

  it('releases the lock when the server closes', async () => {
    const first = await startRemote();
    await first.start();
    const [tunnel] = first.relay.tunnels;
    await first.server.app.close();
    expect(await tunnel?.closed).toMatchObject({ code: 4000 });
    expect(await leases(first.server.home)).toEqual([]);
    expect(first.relay.devices.get(tunnel?.deviceId ?? '')?.active).toBe(true);
    const second = await startRemote({ home: first.server.home, cloud: first, loggedIn: false });
    expect(await second.start()).toMatchObject({ data: { state: 'on' } });
  });
});

describe('a logout', () => {
  const prepared = async ({ server }: Remote) => (await server.app.remote()).beginLogout();

  it('needs no relay if remote control was never used, and prevents a start until its end', async () => {
    const remote = await startRemote();
    const other = await startRemote({ home: remote.server.home, cloud: remote, loggedIn: false });
    await remote.relay.kill();
    const logout = await prepared(remote);
    expect(await other.start()).toMatchObject({ code: 40928, details: { pid: process.pid, url: '' } });
    // A server that only ends its login is not shown as the host of a tunnel.
    expect(await other.status()).not.toHaveProperty('conflict');
    logout.forgetSession();
    await logout.beforeReply();
    await logout.afterReply();
    expect(await leases(remote.server.home)).toEqual([]);
    expect(remote.relay.requests).toEqual([]);
  });

  it('deactivates the device, and fails if that is impossible', async () => {
    const remote = await startRemote();
    await remote.start();
    const { deviceId } = remote.relay.tunnel();
    await remote.stop();
    remote.relay.answerNext('POST', `/devices/${deviceId}/deactivate`, { status: 500 });
    await expect(prepared(remote)).rejects.toMatchObject({
      name: 'internal.error',
      message: expect.stringContaining('500') as string,
    });
    expect(await leases(remote.server.home)).toEqual([]);
    const logout = await prepared(remote);
    expect(remote.relay.devices.get(deviceId)?.active).toBe(false);
    logout.forgetSession();
    await logout.beforeReply();
    await logout.afterReply();
    expect(remote.relay.sessionCount()).toBe(0);
    remote.relay.devices.clear();
    await remote.start();
    await remote.stop();
    remote.relay.devices.clear();
    await (await prepared(remote)).abandon();
  });

  it('ends the tunnel of this server after its reply, with the session that it had', async () => {
    const remote = await startRemote();
    await remote.start();
    const [tunnel] = remote.relay.tunnels;
    const logout = await prepared(remote);
    logout.forgetSession();
    await logout.beforeReply();
    expect(await remote.status()).toMatchObject({ state: 'on' });
    await logout.afterReply();
    expect((await tunnel?.closed)?.code).toSatisfy((code: number) => code === 4000 || code === 4004);
    expect(await remote.status()).toMatchObject({ state: 'off' });
    expect(remote.relay.devices.get(tunnel?.deviceId ?? '')?.active).toBe(false);
    expect(remote.relay.sessionCount()).toBe(0);
    expect(await leases(remote.server.home)).toEqual([]);
  });
});

it('creates the folder of the lock with mode 0700', async () => {
  const remote = await startRemote();
  await mkdir(remote.server.home, { recursive: true });
  await remote.start();
  expect((await stat(join(remote.server.home, 'remote'))).mode & 0o777).toBe(0o700);
  await eventually(async () =>
    expect((await stat(join(remote.server.home, 'remote', 'registration.json'))).mode & 0o777).toBe(0o600),
  );
});
