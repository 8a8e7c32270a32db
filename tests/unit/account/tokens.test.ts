/** Access tokens: renewal at half life, one at a time in the home, failures, logins and logouts during a renewal. */
import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, test } from 'vitest';
import { createDocuments } from '#server/storage/documents.ts';
import { acquireLease } from '#server/storage/lease.ts';
import { cloudDuringTest, type Cloud, type CloudReply } from '#support/cloud/cloud.ts';
import { openTokens, storedToken, storeToken, tokenPath, type OpenedTokens } from '#support/cloud/login.ts';
import { createCloudOAuth, type CloudOAuth } from '#support/cloud/oauth.ts';
import { putFile } from '#support/files.ts';
import { leaseHolder, suspendableHolder } from '#support/lease-holder.ts';
import { eventually, until } from '#support/patience.ts';
import { buildProgram, programFolder, startProgram } from '#support/programs.ts';
import { temporaryHome } from '#support/temporary-home.ts';

let home: string;
let oauth: CloudOAuth;
let cloud: Cloud;
let opened: OpenedTokens;
let slot: { key: string; oauthHost: string };
const lease = () => join(home, 'oauth', 'k.lock');

beforeEach(async () => {
  home = await temporaryHome();
  oauth = createCloudOAuth();
  cloud = await cloudDuringTest(oauth.part);
  opened = openTokens(home);
  slot = { key: 'oauth/k', oauthHost: cloud.url };
});

/** Stores a token of the cloud with this rest of its life of an hour. */
async function store(lifeS: number) {
  const token = oauth.issue();
  await storeToken(home, 'k', token, { lifeS, now: opened.clock.now() });
  return token;
}
const DUE = 1799;
const failed = { name: 'AccessTokenError', reason: 'failed' };
const refused = { name: 'AccessTokenError', reason: 'refused' };
const missing = { name: 'AccessTokenError', reason: 'missing' };

/** A reply that the test releases. */
function held(reply?: CloudReply) {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let arrived = false;
  oauth.answerNext(async () => {
    arrived = true;
    await released;
    return reply;
  });
  return { release: () => release(), arrived: () => until(() => arrived) };
}

describe('a token', () => {
  test.each<[string, Record<string, number>, boolean]>([
    ['at half of its life', { expires_in: 3600, left: 1800 }, false],
    ['after half of its life', { expires_in: 3600, left: 1799 }, true],
    ['of a short life, 5 minutes before its end', { expires_in: 400, left: 300 }, false],
    ['of a short life, less than 5 minutes before its end', { expires_in: 400, left: 299 }, true],
    ['of an unknown life as issued', { expires_in: 0, left: 301 }, false],
    ['of an unknown life as issued, near its end', { expires_in: 0, left: 299 }, true],
    ['after its end', { expires_in: 3600, left: -10 }, true],
  ])('%s is renewed or not', async (_what, { expires_in = 0, left = 0 }, renewed) => {
    const token = { ...oauth.issue(), expires_in };
    const now = Math.floor(opened.clock.now() / 1000) * 1000;
    opened.clock.setBack(opened.clock.now() - now);
    await storeToken(home, 'k', token, { lifeS: left, now });
    const access = await opened.tokens.get(slot);
    expect(access === token.access_token).toBe(!renewed);
    expect(oauth.refreshes).toHaveLength(renewed ? 1 : 0);
  });

  it('of unknown end is renewed by force only', async () => {
    const token = oauth.issue();
    await putFile(tokenPath(home, 'k'), JSON.stringify({ ...token, expires_at: 0 }));
    expect(await opened.tokens.get(slot)).toBe(token.access_token);
    expect(await opened.tokens.get(slot, { force: true })).not.toBe(token.access_token);
    expect(oauth.refreshes).toEqual([token.refresh_token]);
  });

  it('is stored in its own file, readable by its owner only', async () => {
    const token = await store(DUE);
    const access = await opened.tokens.get(slot);
    const text = await readFile(tokenPath(home, 'k'), 'utf8');
    const stored = JSON.parse(text) as Record<string, unknown>;
    expect(stored).toEqual({
      access_token: access,
      refresh_token: expect.not.stringContaining(token.refresh_token) as string,
      expires_at: Math.floor(opened.clock.now() / 1000 + 3600),
      scope: 'all',
      token_type: 'Bearer',
      expires_in: 3600,
    });
    expect(text).toBe(`${JSON.stringify(stored, null, 2)}\n`);
    expect(Object.keys(stored)).toEqual([
      'access_token',
      'refresh_token',
      'expires_at',
      'scope',
      'token_type',
      'expires_in',
    ]);
    expect((await stat(tokenPath(home, 'k'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(home, 'credentials'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(home, 'credentials'))).toEqual(['k.json']);
  });

  it('is requested as a public client with the identity headers', async () => {
    const token = await store(DUE);
    await opened.tokens.get(slot);
    expect(cloud.requests).toMatchObject([
      {
        method: 'POST',
        path: '/api/oauth/token',
        headers: {
          accept: 'application/json',
          'content-type': 'application/x-www-form-urlencoded',
          'x-service-device-id': 'device',
        },
      },
    ]);
    expect(Object.fromEntries(new URLSearchParams(cloud.requests[0]?.body))).toEqual({
      client_id: 'service-code-local',
      grant_type: 'refresh_token',
      refresh_token: token.refresh_token,
    });
  });

  test.each([
    ['no JSON', '{', 'missing'],
    ['no object', '[]', 'missing'],
    ['null', 'null', 'missing'],
    ['members of other types', '{"access_token":5,"refresh_token":true,"expires_at":"x"}', 'revoked'],
    ['nothing but an access token', '{"access_token":"t"}', 'valid'],
  ])('file with %s', async (_what, text, state) => {
    await putFile(tokenPath(home, 'k'), text);
    expect(await opened.tokens.state('oauth/k')).toMatchObject({ state });
    if (state === 'valid') expect(await opened.tokens.get(slot)).toBe('t');
    else await expect(opened.tokens.get(slot)).rejects.toMatchObject(state === 'missing' ? missing : refused);
    expect(oauth.refreshes).toEqual([]);
  });

  test.each(['oauth/mcp:x-tokens', 'a\\b', 'a\0b', '.k', '../k'])('of the key %j does not exist', async (key) => {
    await putFile(join(home, 'credentials', 'mcp', 'x-tokens.json'), '{"access_token":"t"}');
    await expect(opened.tokens.get({ ...slot, key })).rejects.toMatchObject(missing);
    expect(await opened.tokens.state(key)).toEqual({ state: 'missing' });
    expect(await opened.tokens.remove(key)).toBeUndefined();
    await expect(opened.tokens.save(key, oauth.issue())).rejects.toThrow('names no token file');
    expect(await readFile(join(home, 'credentials', 'mcp', 'x-tokens.json'), 'utf8')).toBe('{"access_token":"t"}');
  });
});

describe('a renewal', () => {
  it('is shared by ordinary callers, and by forced ones', async () => {
    await store(DUE);
    const access = await Promise.all(Array.from({ length: 20 }, () => opened.tokens.get(slot)));
    expect(new Set(access).size).toBe(1);
    expect(oauth.refreshes).toHaveLength(1);
    const again = await Promise.all(Array.from({ length: 20 }, () => opened.tokens.get(slot, { force: true })));
    expect(new Set(again).size).toBe(1);
    expect(again[0]).not.toBe(access[0]);
    expect(oauth.refreshes).toHaveLength(2);
  });

  it('by force does not ride on an ordinary one that fails', async () => {
    const token = await store(DUE);
    const first = held({ status: 400, body: { error: 'invalid_request' } });
    const ordinary = opened.tokens.get(slot);
    await first.arrived();
    const forced = opened.tokens.get(slot, { force: true });
    first.release();
    expect(await ordinary).toBe(token.access_token);
    expect(await forced).not.toBe(token.access_token);
    expect(oauth.refreshes).toHaveLength(2);
  });

  it('by force returns the token that an ordinary one got meanwhile', async () => {
    await store(DUE);
    const first = held();
    const ordinary = opened.tokens.get(slot);
    await first.arrived();
    const forced = opened.tokens.get(slot, { force: true });
    first.release();
    expect(await forced).toBe(await ordinary);
    expect(oauth.refreshes).toHaveLength(1);
  });

  it('by force is joined by ordinary callers', async () => {
    const token = await store(DUE);
    const first = held();
    const forced = opened.tokens.get(slot, { force: true });
    await first.arrived();
    const ordinary = opened.tokens.get(slot);
    first.release();
    expect(await ordinary).toBe(await forced);
    expect(await ordinary).not.toBe(token.access_token);
    expect(oauth.refreshes).toHaveLength(1);
  });

  it('runs on one of several servers', async () => {
    await store(DUE);
    const servers = ['server_1', 'server_2', 'server_3'].map((id) => openTokens(home, { holder: leaseHolder(id) }));
    const access = await Promise.all(servers.map(({ tokens }) => tokens.get(slot)));
    expect(new Set(access).size).toBe(1);
    expect(oauth.refreshes).toHaveLength(1);
    const forced = await Promise.all(servers.map(({ tokens }) => tokens.get(slot, { force: true })));
    expect(new Set(forced).size).toBe(1);
    expect(oauth.refreshes).toHaveLength(2);
  });

  it('is not sent without the lock', async () => {
    const token = await store(DUE);
    await writeFile(join(home, 'oauth'), 'no folder');
    expect(await opened.tokens.get(slot)).toBe(token.access_token);
    await expect(opened.tokens.get(slot, { force: true })).rejects.toMatchObject(failed);
    expect(oauth.refreshes).toEqual([]);
  });

  it('needs no lock if the variable disables it', async () => {
    const token = await store(DUE);
    await writeFile(join(home, 'oauth'), 'no folder');
    const { tokens } = openTokens(home, { env: () => ({ SERVICE_DISABLE_OAUTH_LOCK: '1' }) });
    expect(await tokens.get(slot)).not.toBe(token.access_token);
    expect(oauth.refreshes).toHaveLength(1);
  });

  it('waits for the lock of another server', async () => {
    await store(DUE);
    await putFile(join(home, 'oauth', 'x'), '');
    const taken = await acquireLease(lease(), leaseHolder('server_2'));
    if ('owner' in taken) throw new Error('no lease');
    const access = opened.tokens.get(slot);
    await eventually(async () =>
      expect(await readdir(join(home, 'oauth'))).toEqual(
        expect.arrayContaining([expect.stringMatching(/^\.k\.lock-/)]),
      ),
    );
    expect(oauth.refreshes).toEqual([]);
    await taken.lease.release();
    await access;
    expect(oauth.refreshes).toHaveLength(1);
  });

  it('writes nothing after another server took the lock', async () => {
    const token = await store(DUE);
    const { holder, suspend } = suspendableHolder();
    const { tokens, lines } = openTokens(home, { holder });
    const first = held();
    const forced = tokens.get(slot, { force: true });
    await first.arrived();
    await suspend(lease());
    first.release();
    // The reply is valid all the same.
    expect(await forced).toBe(oauth.issued.at(-1)?.access_token);
    expect(await storedToken(home, 'k')).toMatchObject({ access_token: token.access_token });
    expect(lines.join('')).toContain('went to another server');
  });

  describe('that cannot be written, for example to a full disk', () => {
    /** The service with writes that fail while `full`. */
    function openFull() {
      const documents = createDocuments({ home });
      const disk = { full: true, writes: 0 };
      const full = openTokens(home, {
        documents: {
          ...documents,
          async set(key, schema, value) {
            disk.writes += 1;
            if (disk.full) throw new Error('ENOSPC: no space left on device');
            await documents.set(key, schema, value);
          },
        },
      });
      return { ...full, disk };
    }

    it('is used from memory, and written at a later use', async () => {
      const token = await store(DUE);
      const { tokens, disk, lines } = openFull();
      const renewed = await tokens.get(slot);
      expect(renewed).not.toBe(token.access_token);
      expect(await storedToken(home, 'k')).toMatchObject({ refresh_token: token.refresh_token });
      expect(await tokens.get(slot)).toBe(renewed);
      await until(() => disk.writes === 2);
      disk.full = false;
      await eventually(async () => {
        expect(await tokens.get(slot)).toBe(renewed);
        expect(await storedToken(home, 'k')).toMatchObject({ access_token: renewed });
      });
      expect(oauth.refreshes).toEqual([token.refresh_token]);
      expect(lines.join('')).toContain('no space left');
      expect(lines.join('')).not.toContain(renewed);
      // Another server renews with the new refresh token.
      await openTokens(home).tokens.get(slot, { force: true });
      expect(oauth.refreshes).toHaveLength(2);
      expect(new Set(oauth.refreshes).size).toBe(2);
    });

    it('is written when the server stops', async () => {
      await store(DUE);
      const { tokens, disk } = openFull();
      const renewed = await tokens.get(slot);
      disk.full = false;
      await tokens.close();
      expect(await storedToken(home, 'k')).toMatchObject({ access_token: renewed });
    });

    it('is renewed with its refresh token when it is due, before it was written', async () => {
      const token = await store(DUE);
      const { tokens, disk } = openFull();
      await tokens.get(slot);
      const second = await tokens.get(slot, { force: true });
      expect(oauth.refreshes).toEqual([token.refresh_token, oauth.issued.at(-2)?.refresh_token]);
      disk.full = false;
      await eventually(async () => {
        expect(await tokens.get(slot)).toBe(second);
        expect(await storedToken(home, 'k')).toMatchObject({ access_token: second });
      });
    });

    it('is forgotten after a login and after a removal, which returns it for its revocation', async () => {
      await store(DUE);
      const { tokens, disk } = openFull();
      await tokens.get(slot);
      const other = oauth.issue();
      await storeToken(home, 'k', other, { now: opened.clock.now() });
      disk.full = false;
      expect(await tokens.get(slot)).toBe(other.access_token);
      expect(await storedToken(home, 'k')).toMatchObject({ access_token: other.access_token });
      disk.full = true;
      const renewed = await tokens.get(slot, { force: true });
      disk.full = false;
      expect(await tokens.remove('oauth/k')).toMatchObject({ access_token: renewed });
      await expect(tokens.get(slot)).rejects.toMatchObject(missing);
      await tokens.close();
      expect(await storedToken(home, 'k')).toBeUndefined();
    });
  });

  test.each<[string, CloudReply]>([
    ['invalid_grant', { status: 400, body: { error: 'invalid_grant', error_description: 'gone' } }],
    ['invalid_grant with a status of success', { status: 200, body: { error: 'invalid_grant' } }],
    ['invalid_grant with a status of a failure', { status: 500, body: { error: 'invalid_grant' } }],
    ['401', { status: 401, body: 'no' }],
    ['403', { status: 403, body: {} }],
  ])('that is refused by %s leaves a tombstone', async (_what, reply) => {
    const token = await store(1000);
    oauth.answerNext(reply);
    await expect(opened.tokens.get(slot)).rejects.toMatchObject(refused);
    expect(await storedToken(home, 'k')).toEqual({
      access_token: '',
      refresh_token: '',
      expires_at: 0,
      scope: 'all',
      token_type: 'Bearer',
      expires_in: 0,
    });
    expect(await opened.tokens.state('oauth/k')).toEqual({ state: 'revoked' });
    await expect(opened.tokens.get(slot)).rejects.toMatchObject(refused);
    await expect(openTokens(home).tokens.get(slot, { force: true })).rejects.toMatchObject(refused);
    expect(oauth.refreshes).toEqual([token.refresh_token]);
    expect(await opened.tokens.readiness(slot)).toBe('refused');
  });

  it('that is refused returns the token that another program has stored meanwhile', async () => {
    await store(DUE);
    const other = oauth.issue();
    oauth.answerNext(async () => {
      await storeToken(home, 'k', other);
      return { status: 400, body: { error: 'invalid_grant' } };
    });
    expect(await opened.tokens.get(slot)).toBe(other.access_token);
    expect(await storedToken(home, 'k')).toMatchObject({ access_token: other.access_token });
  });

  it('without a refresh token needs a new login', async () => {
    await storeToken(home, 'k', { ...oauth.issue(), refresh_token: '' }, { lifeS: 10 });
    await expect(opened.tokens.get(slot)).rejects.toMatchObject(refused);
    expect(oauth.refreshes).toEqual([]);
  });
});

it('is renewed by one of several processes', { timeout: 120_000 }, async () => {
  await store(DUE);
  const folder = await programFolder();
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const program = await buildProgram('token-renewer', folder);
  const processes = ['server_1', 'server_2', 'server_3'].map((name) => startProgram(program, [home, name, cloud.url]));
  onTestFinished(() => {
    for (const child of processes) child.kill();
  });
  const messages = processes.map((child) => {
    const received: unknown[] = [];
    child.on('message', (message) => received.push(message));
    return received;
  });
  await until(() => messages.every(([ready]) => ready === 'ready'));
  for (const [index, force] of [false, true].entries()) {
    for (const child of processes) child.send(force);
    await until(() => messages.every((received) => received.length === index + 2));
    const access = messages.map((received) => received[index + 1]);
    expect(new Set(access).size).toBe(1);
    expect(access[0]).toMatch(/^access-/);
    expect(oauth.refreshes).toHaveLength(index + 1);
  }
});

describe('a renewal that fails', () => {
  const unavailable: CloudReply = { status: 503, body: { error: { message: 'busy' } } };

  /** Answers three attempts; the pauses between them pass. */
  async function attempts(work: Promise<unknown>, replies: CloudReply[]) {
    const before = oauth.refreshes.length;
    oauth.answerNext(...replies);
    void work.catch(() => undefined);
    for (const [index, pause] of [1000, 2000].entries()) {
      await until(() => oauth.refreshes.length === before + index + 1 && opened.clock.waits().includes(pause));
      opened.clock.advance(pause);
    }
    return work;
  }

  it('returns the present token until its end, and pauses for 30 s', async () => {
    const token = await store(1000);
    expect(await attempts(opened.tokens.get(slot), [unavailable, unavailable, unavailable])).toBe(token.access_token);
    expect(oauth.refreshes).toHaveLength(3);
    expect(await storedToken(home, 'k')).toMatchObject({ refresh_token: token.refresh_token });
    opened.clock.advance(29_999);
    expect(await opened.tokens.get(slot)).toBe(token.access_token);
    expect(oauth.refreshes).toHaveLength(3);
    opened.clock.advance(1);
    expect(await opened.tokens.get(slot)).not.toBe(token.access_token);
    expect(oauth.refreshes).toHaveLength(4);
  });

  it('is logged a single time for all its callers', async () => {
    const token = await store(1000);
    oauth.answerNext({ status: 400, body: { error: 'invalid_request' } });
    const access = await Promise.all(Array.from({ length: 5 }, () => opened.tokens.get(slot)));
    expect(new Set(access)).toEqual(new Set([token.access_token]));
    expect(oauth.refreshes).toHaveLength(1);
    expect(opened.lines).toHaveLength(1);
  });

  it('is an error after the end of the token', async () => {
    const token = await store(20);
    expect(await attempts(opened.tokens.get(slot), [unavailable, unavailable, unavailable])).toBe(token.access_token);
    opened.clock.advance(20_000);
    await expect(opened.tokens.get(slot)).rejects.toMatchObject({ ...failed, transient: true });
    await expect(opened.tokens.get(slot)).rejects.toThrow('busy');
    expect(oauth.refreshes).toHaveLength(3);
  });

  test.each([429, 500, 502, 503, 504])('with status %d is attempted again', async (status) => {
    const token = await store(1000);
    const access = await attempts(opened.tokens.get(slot), [{ status }, { status }]);
    expect(access).not.toBe(token.access_token);
    expect(oauth.refreshes).toHaveLength(3);
  });

  test.each<[string, CloudReply]>([
    ['invalid_request', { status: 400, body: { error: 'invalid_request' } }],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }],
    ['no JSON', { status: 200, body: '<html>' }],
    ['no access token', { status: 200, body: { access_token: '', refresh_token: 'r', expires_in: 1 } }],
    ['no refresh token', { status: 200, body: { access_token: 'a', expires_in: 1 } }],
    ['no end', { status: 200, body: { access_token: 'a', refresh_token: 'r' } }],
    ['an end in the past', { status: 200, body: { access_token: 'a', refresh_token: 'r', expires_in: 0 } }],
  ])('by %s is attempted a single time and leaves the file unchanged', async (_what, reply) => {
    const token = await store(1000);
    const before = await readFile(tokenPath(home, 'k'), 'utf8');
    oauth.answerNext(reply, reply);
    expect(await opened.tokens.get(slot)).toBe(token.access_token);
    await expect(opened.tokens.get(slot, { force: true })).rejects.toMatchObject({ ...failed, transient: false });
    expect(oauth.refreshes).toHaveLength(2);
    expect(await readFile(tokenPath(home, 'k'), 'utf8')).toBe(before);
  });

  it('accepts a life that is a decimal string', async () => {
    await store(1000);
    oauth.answerNext({ body: { access_token: 'a', refresh_token: 'r', expires_in: '60' } });
    expect(await opened.tokens.get(slot)).toBe('a');
    expect(await storedToken(home, 'k')).toMatchObject({ expires_in: 60 });
  });

  it('by force is always an error', async () => {
    await store(1000);
    const work = opened.tokens.get(slot, { force: true });
    await expect(attempts(work, [unavailable, unavailable, unavailable])).rejects.toMatchObject(failed);
    // It is no pause for ordinary callers.
    await opened.tokens.get(slot);
    expect(oauth.refreshes).toHaveLength(4);
  });

  it('ends after 45 s when the host hangs', async () => {
    const token = await store(1000);
    oauth.answerNext('hang', 'hang', 'hang');
    const ordinary = opened.tokens.get(slot);
    const forced = opened.tokens.get(slot);
    await until(() => oauth.refreshes.length === 1);
    opened.clock.advance(45_000);
    expect(await ordinary).toBe(token.access_token);
    expect(await forced).toBe(token.access_token);
    expect(oauth.refreshes).toHaveLength(1);
    expect(await readdir(join(home, 'oauth'))).toEqual(['k.lock.1']);
    expect(await readFile(`${lease()}.1`, 'utf8')).toBe('');
  });

  it('because of an unreachable host returns the present token', async () => {
    const token = await store(1000);
    const work = opened.tokens.get({ ...slot, oauthHost: 'http://127.0.0.1:1' });
    for (const pause of [1000, 2000]) {
      await until(() => opened.clock.waits().includes(pause));
      opened.clock.advance(pause);
    }
    expect(await work).toBe(token.access_token);
  });

  it('continues after its caller has stopped waiting', async () => {
    const token = await store(1000);
    const first = held();
    const caller = new AbortController();
    const access = opened.tokens.get(slot, { signal: caller.signal });
    await first.arrived();
    caller.abort(new Error('enough'));
    await expect(access).rejects.toThrow('enough');
    first.release();
    await eventually(async () =>
      expect(await storedToken(home, 'k')).not.toMatchObject({ access_token: token.access_token }),
    );
  });

  it('has no token in the log', async () => {
    const token = await store(1000);
    const text = `${token.refresh_token} is not valid`;
    const echo = { status: 400, body: { error: 'invalid_request', error_description: text } };
    oauth.answerNext(echo, echo);
    await opened.tokens.get(slot);
    await expect(opened.tokens.get(slot, { force: true })).rejects.toThrow(
      'could not be renewed: [redacted] is not valid',
    );
    oauth.answerNext({ status: 401 });
    await expect(opened.tokens.get(slot, { force: true })).rejects.toMatchObject(refused);
    expect(opened.lines.join('')).toContain('could not be renewed');
    expect(opened.lines.join('')).not.toContain(token.refresh_token);
    expect(opened.lines.join('')).not.toContain(token.access_token);
  });
});

describe('a stop', () => {
  it('waits for a reply that is on its way, since the old refresh token is spent', async () => {
    const token = await store(1000);
    const first = held();
    const access = opened.tokens.get(slot);
    await first.arrived();
    const closed = opened.tokens.close();
    first.release();
    await closed;
    expect(await storedToken(home, 'k')).toMatchObject({ access_token: await access });
    expect(await access).not.toBe(token.access_token);
  });

  it('does not wait for a host that hangs, and attempts nothing any more', async () => {
    const token = await store(1000);
    oauth.answerNext('hang');
    const access = opened.tokens.get(slot);
    await until(() => oauth.refreshes.length === 1);
    await opened.tokens.close();
    expect(await access).toBe(token.access_token);
    await expect(opened.tokens.get(slot, { force: true })).rejects.toMatchObject(failed);
    expect(oauth.refreshes).toHaveLength(1);
  });

  it('ends the pause before another attempt', async () => {
    const token = await store(1000);
    oauth.answerNext({ status: 503 });
    const access = opened.tokens.get(slot);
    await until(() => opened.clock.waits().includes(1000));
    await opened.tokens.close();
    expect(await access).toBe(token.access_token);
    expect(oauth.refreshes).toHaveLength(1);
  });
});

describe('a logout', () => {
  it('during a renewal leaves no file', async () => {
    const token = await store(1000);
    const first = held();
    const access = opened.tokens.get(slot).catch((error: unknown) => error);
    await first.arrived();
    expect(await opened.tokens.remove('oauth/k')).toMatchObject({ refresh_token: token.refresh_token });
    expect(await access).toMatchObject(missing);
    first.release();
    expect(await storedToken(home, 'k')).toBeUndefined();
    await expect(opened.tokens.get(slot)).rejects.toMatchObject(missing);
  });

  it('during the renewal of another server leaves no file', async () => {
    await store(1000);
    const first = held();
    const other = openTokens(home, { holder: leaseHolder('server_2') });
    const access = other.tokens.get(slot);
    await first.arrived();
    const removed = opened.tokens.remove('oauth/k');
    await until(async () => (await storedToken(home, 'k')) === undefined);
    first.release();
    await expect(access).rejects.toMatchObject(missing);
    await removed;
    expect(await storedToken(home, 'k')).toBeUndefined();
  });

  it('during the write of another server leaves no file', async () => {
    await store(1000);
    const documents = createDocuments({ home });
    let writing = false;
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const slow: typeof documents = {
      ...documents,
      async set(...written) {
        writing = true;
        await released;
        await documents.set(...written);
      },
    };
    const other = openTokens(home, { holder: leaseHolder('server_2'), documents: slow });
    const access = other.tokens.get(slot);
    await until(() => writing);
    const removed = opened.tokens.remove('oauth/k');
    await until(async () => (await storedToken(home, 'k')) === undefined);
    release();
    await access;
    await removed;
    expect(await storedToken(home, 'k')).toBeUndefined();
  });

  it('does not wait for the reply that another server waits for', async () => {
    await store(1000);
    const first = held();
    const other = openTokens(home, { holder: leaseHolder('server_2') });
    const access = other.tokens.get(slot);
    await first.arrived();
    // The time limit of the lock is one of the machine's clock.
    await opened.tokens.remove('oauth/k');
    expect(await storedToken(home, 'k')).toBeUndefined();
    first.release();
    await expect(access).rejects.toMatchObject(missing);
    expect(await storedToken(home, 'k')).toBeUndefined();
  });

  it('needs no token', async () => {
    expect(await opened.tokens.remove('oauth/k')).toBeUndefined();
    await putFile(tokenPath(home, 'k'), '{"access_token":""}');
    expect(await opened.tokens.remove('oauth/k')).toBeUndefined();
    expect(await storedToken(home, 'k')).toBeUndefined();
  });

  it('is reported if the file cannot be removed', async () => {
    await putFile(join(tokenPath(home, 'k'), 'x'), 'the name of a folder');
    await putFile(join(home, 'oauth'), 'no folder');
    const documents = createDocuments({ home });
    const broken = { ...documents, remove: () => Promise.reject(new Error('read-only')) };
    await expect(openTokens(home, { documents: broken }).tokens.remove('oauth/k')).rejects.toThrow('read-only');
  });
});

describe('a login', () => {
  it('during a renewal wins', async () => {
    await store(1000);
    const first = held();
    const access = opened.tokens.get(slot).catch((error: unknown) => error);
    await first.arrived();
    const fresh = oauth.issue();
    const saved = opened.tokens.save('oauth/k', fresh);
    expect(await access).toMatchObject(missing);
    first.release();
    await saved;
    expect(await storedToken(home, 'k')).toMatchObject({ access_token: fresh.access_token });
  });

  it('replaces a tombstone', async () => {
    await putFile(tokenPath(home, 'k'), '{"access_token":""}');
    const fresh = oauth.issue();
    await opened.tokens.save('oauth/k', fresh);
    expect(await opened.tokens.get(slot)).toBe(fresh.access_token);
  });
});

describe('a request', () => {
  /** A resource that accepts the tokens of the cloud. */
  const resource = () => {
    const used: string[] = [];
    const send = async (token: string) => {
      used.push(token);
      return { status: oauth.accepts({ authorization: `Bearer ${token}` }) ? 200 : 401 };
    };
    return { used, send };
  };

  it('is sent again once after a 401', async () => {
    const token = await store(3600);
    oauth.end(token.access_token);
    const { used, send } = resource();
    const discarded: unknown[] = [];
    const reply = await opened.tokens.withAccessToken(slot, send, { discard: (refusal) => discarded.push(refusal) });
    expect(reply).toEqual({ status: 200 });
    expect(used).toHaveLength(2);
    expect(discarded).toEqual([{ status: 401 }]);
    expect(oauth.refreshes).toHaveLength(1);
  });

  it('returns the second 401', async () => {
    await store(3600);
    let sent = 0;
    const reply = await opened.tokens.withAccessToken(slot, async () => ({ status: 401, number: ++sent }));
    expect(reply).toEqual({ status: 401, number: 2 });
    expect(oauth.refreshes).toHaveLength(1);
  });

  test.each([400, 402, 403, 429, 500])('with another failure, %d, is not sent again', async (status) => {
    await store(3600);
    let sent = 0;
    expect(await opened.tokens.withAccessToken(slot, async () => ({ status, number: ++sent }))).toEqual({
      status,
      number: 1,
    });
    expect(oauth.refreshes).toEqual([]);
  });

  it('shares one renewal with another one that was refused', async () => {
    const token = await store(3600);
    oauth.end(token.access_token);
    const both = [resource(), resource()];
    await Promise.all(both.map(({ send }) => opened.tokens.withAccessToken(slot, send)));
    expect(oauth.refreshes).toHaveLength(1);
    expect(both.map(({ used }) => used.length)).toEqual([2, 2]);
  });

  it('whose refusal arrives after the renewal of another one uses its token', async () => {
    const token = await store(3600);
    oauth.end(token.access_token);
    let answer = () => {};
    const late = new Promise<void>((resolve) => (answer = resolve));
    const { used, send } = resource();
    const slow = opened.tokens.withAccessToken(slot, async (access) => {
      if (used.length === 0) {
        used.push(access);
        await late;
        return { status: 401 };
      }
      return send(access);
    });
    await until(() => used.length === 1);
    await opened.tokens.withAccessToken(slot, resource().send);
    answer();
    expect(await slow).toEqual({ status: 200 });
    expect(oauth.refreshes).toHaveLength(1);
  });

  it('fails when the renewal is refused', async () => {
    const token = await store(3600);
    oauth.end(token.access_token);
    oauth.endGrants();
    await expect(opened.tokens.withAccessToken(slot, resource().send)).rejects.toMatchObject(refused);
  });
});

describe('readiness', () => {
  it('waits at most 10 s for the host, and the renewal continues', async () => {
    const token = await store(-10);
    const first = held();
    const ready = opened.tokens.readiness(slot);
    await first.arrived();
    expect(opened.clock.waits()[0]).toBe(10_000);
    opened.clock.advance(10_000);
    expect(await ready).toBe('ready');
    first.release();
    await eventually(async () =>
      expect(await storedToken(home, 'k')).not.toMatchObject({ access_token: token.access_token }),
    );
  });

  it('is reported for a failing host, a missing login and a valid token', async () => {
    expect(await opened.tokens.readiness(slot)).toBe('missing');
    await store(3600);
    expect(await opened.tokens.readiness(slot)).toBe('ready');
    await store(-10);
    oauth.answerNext({ status: 400, body: { error: 'invalid_request' } });
    expect(await opened.tokens.readiness(slot)).toBe('ready');
  });
});
