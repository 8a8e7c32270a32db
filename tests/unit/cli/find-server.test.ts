import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Program } from '#server/cli/commands/command.ts';
import { addressOf, findServer } from '#server/cli/find-server.ts';
import { registerInstance, type InstanceEntry } from '#server/home/instances.ts';
import { createLogger } from '#server/logging/log.ts';
import { SERVER_VERSION } from '#server/version.ts';

let home: string;
const entries: InstanceEntry[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'service-code-'));
  vi.stubEnv('SERVICE_CODE_URL', '');
  vi.stubEnv('SERVICE_CODE_TOKEN', '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const entry of entries.splice(0)) await entry.close();
  await rm(home, { recursive: true, force: true });
});

/** A program whose start of a server is an error that tests recognize. */
const program = (): Program => ({ home, open: () => Promise.reject(new Error('starts one')) });
const find = (choice: { url?: string; token?: string; demo?: boolean } = {}) =>
  findServer({ demo: false, ...choice }, program());

async function register(serverId: string, version = SERVER_VERSION): Promise<InstanceEntry> {
  const log = createLogger('silent');
  const options = { home, serverId, host: '127.0.0.1', port: 1, version, startedAt: Date.now(), log };
  const entry = await registerInstance(options);
  entries.push(entry);
  return entry;
}

describe('the server of a command', () => {
  it('is the named one, with the token that is given for it', async () => {
    expect(await find({ url: 'http://box.lan:5/code?x#token=y', token: 'T' })).toMatchObject({
      url: 'http://box.lan:5/code/',
      token: 'T',
    });
    vi.stubEnv('SERVICE_CODE_URL', 'https://box.lan');
    vi.stubEnv('SERVICE_CODE_TOKEN', 'E');
    expect(await find()).toMatchObject({ url: 'https://box.lan/', token: 'E' });
    // Programs that this process starts do not inherit it.
    expect(process.env.SERVICE_CODE_TOKEN).toBeUndefined();
  });

  it('does not receive the token of the home if it is named', async () => {
    const entry = await register('a');
    await entry.bound(4711, true);
    expect((await find({ url: 'http://127.0.0.1:4711' })).token).not.toBe((await find()).token);
  });

  it('is a running one of the home, of this version, that listens and does not end with a command', async () => {
    const other = await register('other-version', '0.0.0');
    await other.bound(4710, true);
    const entry = await register('a');
    await expect(find()).rejects.toThrow('starts one');
    await entry.bound(4711, false);
    await expect(find()).rejects.toThrow('starts one');
    await entry.bound(4711, true);
    expect(await find()).toMatchObject({ url: 'http://127.0.0.1:4711/', token: expect.stringMatching(/^.{43}$/) });
    await expect(find({ demo: true })).rejects.toThrow('starts one');
  });

  it.each([
    [{ url: 'ftp://box/#token=secret' }, /^invalid URL of the server/],
    [{ url: 'no url secret' }, /^invalid URL of the server/],
    [{ url: 'http://name:secret@box' }, /^invalid URL of the server/],
    [{ token: 'secret' }, /needs '--url'/],
    [{ demo: true, url: 'http://box' }, /excludes '--url'/],
  ])('is refused without a secret in the message: %j', async (choice, message) => {
    const error = await find(choice).catch((thrown: unknown) => String(thrown));
    expect(error).not.toContain('secret');
    await expect(find(choice)).rejects.toThrow(message);
  });
});

it.each([
  [{ host: '127.0.0.1' }, 'http://127.0.0.1:5/'],
  [{ host: '0.0.0.0' }, 'http://127.0.0.1:5/'],
  [{ host: '::' }, 'http://[::1]:5/'],
  [{ host: 'fd00::1', base_path: '/code' }, 'http://[fd00::1]:5/code/'],
  [{ host: 'localhost', certificate: '/cert.pem', base_path: '/a/b' }, 'https://localhost:5/a/b/'],
])('the address of %j is %s', (instance, address) => {
  expect(addressOf({ server_id: 'a', port: 5, started_at: 1, heartbeat_at: 1, ...instance })).toBe(address);
});
