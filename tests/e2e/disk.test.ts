/**
 * The built server on a disk that fills up and on a read-only one, both real mounts that only it sees. If the system
 * forbids such mounts, the tests are skipped with a message.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { cp, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { makeBuiltHome, type BuiltHome } from '#support/built-home.ts';
import type { ModelServer } from '#support/model-server.ts';
import { mountsForbidden } from '#support/namespace.ts';
import { writeFiles } from '#support/plugins.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { connect, type ReceivedFrame } from '#support/ws-client.ts';

/** Mounts a small disk as the home and copies its files there. */
const SMALL_DISK = 'cp -R "$1" "$1.files"; mount -t tmpfs -o size=8m none "$1"; cp -R "$1.files/." "$1/"';
const FULL_DISK = `${SMALL_DISK}; dd if=/dev/zero of="$1/ballast" bs=4k 2>/dev/null || true`;
const READ_ONLY = 'mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"';
/** Longer than the free part of the disk's last block, shorter than texts that are stored as blobs. */
const LONG_PROMPT = 'A prompt that does not fit. '.repeat(500);

const forbidden = mountsForbidden();
if (forbidden !== undefined) process.stderr.write(`skipped: ${forbidden}\n`);

let base: BuiltHome;
let root: string;
let home: string;
let project: string;
let model: ModelServer;
const servers: SpawnedServer[] = [];

beforeEach(async () => {
  base = await makeBuiltHome();
  ({ root, home, project, model } = base);
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  await base.remove();
});

async function start(options: { home: string; mounts?: string }): Promise<SpawnedServer> {
  const server = await spawnServer(options);
  servers.push(server);
  return server;
}

const created = z.object({ id: z.string(), workspace_id: z.string() });
const newSession = (server: SpawnedServer) => server.api('POST', '/sessions', { metadata: { cwd: project } });
const prompt = (server: SpawnedServer, id: string, text: string) =>
  server.api('POST', `/sessions/${id}/prompts`, { content: [{ type: 'text', text }] });

async function turn(server: SpawnedServer, id: string, answer: string): Promise<void> {
  model.enqueue({ text: answer });
  expect(await prompt(server, id, 'Go on.')).toMatchObject({ code: 0 });
  await idle(server, id);
}

const idle = (server: SpawnedServer, id: string) =>
  expect.poll(async () => (await server.api('GET', `/sessions/${id}`)).data).toMatchObject({ busy: false });

/** Fills the disk; `free` releases the space. */
function fillDisk(folder: string): { free(): Promise<void> } {
  const path = join(folder, 'ballast');
  const fd = openSync(path, 'w');
  try {
    for (const size of [65_536, 4096]) {
      const piece = Buffer.alloc(size, 1);
      // Bounded by the disk: the last write of each size fails or is short.
      for (let n = 0; n < 4096; n += 1) if (!fits(fd, piece)) break;
    }
  } finally {
    closeSync(fd);
  }
  return { free: () => rm(path) };
}

function fits(fd: number, piece: Buffer): boolean {
  try {
    return writeSync(fd, piece) === piece.length;
  } catch {
    return false;
  }
}

describe.skipIf(forbidden !== undefined)('a disk that fills up', () => {
  async function filled() {
    const server = await start({ home, mounts: SMALL_DISK });
    const { id, workspace_id } = created.parse((await newSession(server)).data);
    const folder = sessionFolder(server.home, { workspace_id, id });
    await turn(server, id, 'There was room for this.');
    const journal = () => readFile(join(folder, 'journal.ndjson'), 'utf8');
    const before = await journal();
    return { server, id, folder, journal, before, disk: fillDisk(server.home) };
  }

  it('refuses a prompt with persistence.failure and leaves the journal unchanged', async () => {
    const { server, id, journal, before } = await filled();
    expect(await prompt(server, id, LONG_PROMPT)).toMatchObject({ code: 50003 });
    expect(await journal()).toBe(before);
    expect(before.endsWith('\n')).toBe(true);
    expect((await server.api('GET', `/sessions/${id}`)).data).toMatchObject({ busy: false });
    expect(model.requests).toHaveLength(1);
  });

  it('accepts prompts again as soon as there is space; subscriptions continue', async () => {
    const { server, id, journal, before, disk } = await filled();
    const client = await connect(server);
    await client.send({ type: 'subscribe', payload: { session_ids: [id] } });
    for (let n = 0; n < 3; n += 1) {
      expect(await prompt(server, id, LONG_PROMPT)).toMatchObject({ code: 50003 });
      expect(await journal()).toBe(before);
      const messages = await server.api('GET', `/sessions/${id}/messages`);
      expect(messages).toMatchObject({ code: 0 });
      expect(JSON.stringify(messages.data)).toContain('There was room for this.');
    }
    await disk.free();
    await turn(server, id, 'There is room again.');
    const told = ({ type, payload }: ReceivedFrame) => type === 'turn.ended' && payload.reason === 'completed';
    await client.waitFor(told);
    await client.close();
    for (const line of (await journal()).trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
    const other = created.parse((await newSession(server)).data);
    await turn(server, other.id, 'There, too.');
  });

  it('refuses a plugin that does not fit, and keeps the installed one whole', async () => {
    const server = await start({ home, mounts: SMALL_DISK });
    const source = await writeFiles(join(root, 'plugin'), { 'service.plugin.json': { name: 'tools', version: '1' } });
    const install = () => server.api('POST', '/plugins', { source });
    const installed = async () => (await server.api('GET', '/plugins')).data;
    const first = { plugins: [{ id: 'tools', version: '1', state: 'ok', enabled: true }] };
    expect(await install()).toMatchObject({ code: 0 });
    await writeFiles(source, {
      'service.plugin.json': { name: 'tools', version: '2' },
      large: Buffer.alloc(16 * 1024 * 1024),
    });
    expect(await install()).toMatchObject({ code: 50001, msg: expect.stringMatching(/^ENOSPC/) });
    expect(await installed()).toMatchObject(first);
    expect(await readdir(join(server.home, 'plugins', 'managed'))).toEqual(['tools']);

    const disk = fillDisk(server.home);
    expect(await server.api('POST', '/plugins/tools:disable')).toMatchObject({ code: 50003 });
    expect(await installed()).toMatchObject(first);
    await disk.free();
    await rm(join(source, 'large'));
    expect(await install()).toMatchObject({ code: 0, data: { version: '2' } });
  });

  it('creates no session, and leaves no files of it', async () => {
    const { server, folder, disk } = await filled();
    const sessions = join(folder, '..');
    const before = await readdir(sessions);
    expect(await newSession(server)).toMatchObject({ code: 50003 });
    expect(await readdir(sessions)).toEqual(before);
    await disk.free();
    expect(await newSession(server)).toMatchObject({ code: 0 });
  });

  it('ends a turn that runs out of space; the session continues after its last complete line, also in another server', async () => {
    const { server, id, journal, before, disk } = await filled();
    await disk.free();
    const held = model.enqueue({ text: LONG_PROMPT, hold: true });
    expect(await prompt(server, id, 'A long answer, please.')).toMatchObject({ code: 0 });
    await held.sent;
    const full = fillDisk(server.home);
    held.release();
    await idle(server, id);
    await full.free();
    const after = await journal();
    expect(after.startsWith(before)).toBe(true);
    expect(after.endsWith('\n')).toBe(true);
    for (const line of after.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();

    await turn(server, id, 'On the same disk.');
    const copy = join(root, 'copy');
    await cp(server.home, copy, { recursive: true });
    await server.stop();
    const next = await start({ home: copy });
    await turn(next, id, 'On another disk.');
    expect((await server.stop()) ?? 0).toBe(0);
  });
});

/** The lines that a refused start prints. */
async function refusedStart(mounts: string): Promise<string[]> {
  const refusal = await spawnServer({ home, mounts }).then(
    (server) => server.close().then(() => 'it started'),
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  expect(refusal).toContain('the server ended with 1');
  return refusal.split('\n').filter((line) => line.startsWith('service-code: ') || line.includes(' at '));
}

describe.skipIf(forbidden !== undefined)('a read-only home', () => {
  it('refuses the start with one line that names it, and changes nothing', async () => {
    const before = await readdir(home);
    const printed = await refusedStart(READ_ONLY);
    expect(printed).toEqual([expect.stringContaining(`cannot use the home directory ${home}: EROFS`)]);
    expect(await readdir(home)).toEqual(before);
  });

  it('refuses the start on a full disk with one line', async () => {
    const printed = await refusedStart(FULL_DISK);
    expect(printed).toEqual([expect.stringMatching(/^service-code: cannot start: ENOSPC: no space left on device/)]);
  });
});
