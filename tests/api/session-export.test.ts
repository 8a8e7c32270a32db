/** A session as an archive: its entries for live and cold sessions, and the lifetime of the file. */
import { once } from 'node:events';
import { mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { eventually } from '#support/patience.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { startTalk, type Talk } from '#support/talk.ts';
import { unzip } from '#support/unzip.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => (world = await startWorld()));
afterAll(() => world.close());

const folder = ({ session }: Talk) => sessionFolder(world.server.home, session);
const post = (path: string, body?: unknown) =>
  world.server.fetch(`/api/v1${path}/export`, {
    method: 'POST',
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });

async function exported(talk: Talk, body?: unknown) {
  const response = await post(talk.path, body);
  expect(response.headers.get('content-type')).toBe('application/zip');
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(response.headers.get('content-length')).toBe(String(bytes.length));
  const entries = unzip(bytes);
  const manifest = z.record(z.string(), z.unknown()).parse(JSON.parse(String(entries.get('manifest.json'))));
  return { response, entries, names: [...entries.keys()], manifest };
}

/** Archives that this process has open, including unlinked ones. */
async function openArchives(): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd');
  const targets = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return targets.filter((target) => target.includes(join(world.server.home, 'cache', 'export-')));
}
const noneLeft = () =>
  eventually(async () => {
    expect(await openArchives()).toEqual([]);
    expect((await readdir(join(world.server.home, 'cache'))).filter((name) => name.startsWith('export-'))).toEqual([]);
  });

test('has a manifest, then the files of the session in order, then logs', async () => {
  const talk = await startTalk(world, { metadata: { cwd: world.project }, title: 'Mine' });
  await talk.turn('hello', [{ text: 'Hi.' }]);
  await mkdir(join(folder(talk), 'logs'), { recursive: true });
  await writeFile(join(folder(talk), 'logs', 'service-code.log'), 'line\n');
  await writeFile(join(folder(talk), 'ünï\\name'), 'x');
  await mkdir(join(world.server.home, 'logs'), { recursive: true });
  await writeFile(join(world.server.home, 'logs', 'service-code.log'), 'global\n');
  await writeFile(join(world.server.home, 'logs', 'service-code-desktop.log'), 'desktop\n');

  const { response, entries, names, manifest } = await exported(talk, { web_log: '{"web":1}\n', desktop: true });
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
  expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  const file = `service-session-${talk.session.id.slice(0, 48)}.zip`;
  expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${file}"`);
  const logs = ['logs/service-web.jsonl', 'logs/global/service-code.log', 'logs/service-desktop.log'];
  expect(names[0]).toBe('manifest.json');
  expect(names.slice(-3)).toEqual(logs);
  const own = names.slice(1, -3);
  expect(own).toEqual(own.toSorted());
  expect(own).toEqual(expect.arrayContaining(['journal.ndjson', 'logs/service-code.log', 'state.json', 'ünï_name']));
  expect(String(entries.get('journal.ndjson'))).toBe(await readFile(join(folder(talk), 'journal.ndjson'), 'utf8'));
  expect(String(entries.get('logs/service-web.jsonl'))).toBe('{"web":1}\n');
  expect(manifest).toEqual({
    sessionId: talk.session.id,
    exportedAt: expect.stringMatching(/Z$/),
    serviceCodeVersion: expect.any(String),
    wireProtocolVersion: '1.5',
    os: `${process.platform} ${process.arch}`,
    nodejsVersion: process.version,
    sessionFirstActivity: talk.session.created_at,
    sessionLastActivity: expect.stringMatching(/Z$/),
    title: 'Mine',
    workspaceDir: world.project,
    sessionLogPath: 'logs/service-code.log',
    globalLogPath: 'logs/global/service-code.log',
    webLogPath: 'logs/service-web.jsonl',
    desktopLogPath: 'logs/service-desktop.log',
  });
  await noneLeft();
});

test('has no log entries if there are no logs, even if the desktop log is requested', async () => {
  const talk = await startTalk(world);
  await rm(join(world.server.home, 'logs', 'service-code.log'), { force: true });
  const { names, manifest } = await exported(talk);
  expect(names.filter((name) => name.startsWith('logs/'))).toEqual([]);
  expect(Object.keys(manifest).filter((key) => key.endsWith('LogPath'))).toEqual([]);
});

test('has no secrets, follows no link, and files of the folder cannot replace added entries', async () => {
  const talk = await startTalk(world);
  const { home } = world.server;
  const token = await readFile(join(home, 'server.token'), 'utf8');
  await mkdir(join(folder(talk), 'media'), { recursive: true });
  await symlink(join(home, 'server.token'), join(folder(talk), 'media', 'a.png'));
  await symlink(home, join(folder(talk), 'attachments'));
  await writeFile(join(folder(talk), 'manifest.json'), 'posing');
  const { names, entries, manifest } = await exported(talk);
  expect(names.some((name) => /token|config\.toml|credentials|a\.png|attachments/.test(name))).toBe(false);
  expect(Buffer.concat([...entries.values()]).includes(token)).toBe(false);
  expect(manifest.sessionId).toBe(talk.session.id);
});

test('of a live session is complete; a cold one is not loaded', async () => {
  const talk = await startTalk(world);
  await talk.turn('remember this', [{ text: 'Yes.' }]);
  const live = await exported(talk);
  expect(String(live.entries.get('journal.ndjson'))).toContain('remember this');
  expect(JSON.parse(String(live.entries.get('state.json')))).toMatchObject({ lastPrompt: 'remember this' });
  await world.restart();
  const cold = await exported(talk);
  expect(String(cold.entries.get('journal.ndjson'))).toContain('remember this');
  expect(world.server.app.sessions.liveRow(talk.session.id)).toBeUndefined();
});

test('works while the journal is being written', async () => {
  const talk = await startTalk(world);
  world.model.enqueue({ text: Array.from({ length: 200 }, (_, n) => `word${n} `), paceMs: 2 });
  const { prompt_id } = await world.prompt(talk.session.id, 'talk');
  for (let n = 0; n < 5; n += 1) expect((await exported(talk)).names).toContain('journal.ndjson');
  await talk.settled(prompt_id);
});

test.each<[unknown, Record<string, unknown>]>([
  [{ web_log: 'a'.repeat(262_145) }, { msg: 'web_log: web_log must not exceed 262144 UTF-8 bytes' }],
  [{ web_log: 'ü'.repeat(131_073) }, { msg: 'web_log: web_log must not exceed 262144 UTF-8 bytes' }],
  [{ web_log: 1 }, { details: [{ path: 'web_log' }] }],
  [{ desktop: 'yes' }, { details: [{ path: 'desktop' }] }],
  [{ other: 1 }, { details: [{ path: '', message: 'Unrecognized key: "other"' }] }],
  [[], { details: [{ path: '' }] }],
])('a body is checked before the session is looked up (%#)', async (body, expected) => {
  expect(await world.api('POST', '/sessions/session_none/export', body)).toMatchObject({ code: 40001, ...expected });
});

test('of an unknown session is not found; a web log of maximum size is accepted', async () => {
  expect(await world.api('POST', '/sessions/session_none/export', { web_log: 'ü'.repeat(131_072) })).toMatchObject({
    status: 200,
    code: 40401,
    msg: 'Session "session_none" does not exist',
  });
});

test('is buffered on disk, not in memory, and its file is removed when the client disconnects', async () => {
  const talk = await startTalk(world);
  const size = 48 * 1024 * 1024;
  const { randomFillSync } = await import('node:crypto');
  await mkdir(join(folder(talk), 'media'), { recursive: true });
  await writeFile(join(folder(talk), 'media', 'large'), randomFillSync(Buffer.alloc(size)));
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);

  const socket = connect(Number(new URL(world.server.url).port), '127.0.0.1');
  socket.write(
    `POST /api/v1${talk.path}/export HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${world.server.token}\r\ncontent-length: 0\r\n\r\n`,
  );
  await once(socket, 'data');
  socket.pause();
  expect(await openArchives()).toHaveLength(1);
  clearInterval(watch);
  socket.destroy();
  await noneLeft();
  expect((peak - before) / 1024 / 1024).toBeLessThan(40);

  // A client that disconnects while the archive is being written.
  const early = connect(Number(new URL(world.server.url).port), '127.0.0.1');
  early.write(
    `POST /api/v1${talk.path}/export HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${world.server.token}\r\ncontent-length: 0\r\n\r\n`,
  );
  await eventually(async () => expect(await openArchives()).toHaveLength(1));
  early.destroy();
  await noneLeft();
});
