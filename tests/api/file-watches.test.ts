import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { filesChangedFrame } from '#schema/frames/files-changed.ts';
import type { FilesChanged } from '#schema/frames/server-frames.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect, type WsClient } from '#support/ws-client.ts';

let world: World;
let project: string;
let sessionId: string;

const quick = { SERVICE_CODE_FS_WATCH_DEBOUNCE_MS: '60', SERVICE_CODE_FS_WATCH_MAX_CHANGES_PER_WINDOW: '100' };
let variables: Record<string, string> = quick;

beforeAll(async () => {
  world = await startWorld({ env: () => ({ ...process.env, ...variables }) });
});
afterAll(() => world.close());

beforeEach(async () => {
  variables = quick;
  project = await mkdtemp(join(tmpdir(), 'service-code-watched-'));
  const { id } = await world.session({ metadata: { cwd: project } });
  sessionId = id;
  return () => rm(project, { recursive: true, force: true });
});

const put = async (path: string, text = 'x') => {
  await mkdir(join(project, path, '..'), { recursive: true });
  await writeFile(join(project, path), text);
};

interface Watching {
  client: WsClient;
  add(paths: string[], more?: object): ReturnType<WsClient['send']>;
  remove(paths: string[], more?: object): ReturnType<WsClient['send']>;
  /** All changes received so far, as `<change> <path>`. */
  told(): string[];
  frames(): FilesChanged[];
  /** Waits until the change has been received. */
  until(change: string): Promise<void>;
}

async function watching(run: (watch: Watching) => Promise<void>): Promise<void> {
  const client = await connect(world.server);
  const frame =
    (type: string) =>
    (paths: string[], more: object = {}) =>
      client.send({ type, payload: { session_id: sessionId, paths, ...more } });
  const frames = () =>
    client.frames.flatMap((each) => (each.type === 'event.fs.changed' ? [filesChangedFrame.schema.parse(each)] : []));
  const told = () => frames().flatMap(({ payload }) => payload.changes.map(({ change, path }) => `${change} ${path}`));
  try {
    await run({
      client,
      add: frame('watch_fs_add'),
      remove: frame('watch_fs_remove'),
      frames,
      told,
      until: async (change) => void (await client.waitFor(() => told().includes(change))),
    });
  } finally {
    await client.close();
  }
}

/** Resolves after all earlier changes have been received. */
const fence = async (until: Watching['until']) => {
  const name = `fence-${Math.random().toString(36).slice(2)}`;
  await put(name);
  await until(`created ${name}`);
};

describe('watch_fs_add', () => {
  test('acks the sorted, normalized paths and reports changes from then on', () =>
    watching(async ({ add, until, frames }) => {
      await put('src/old.ts');
      const ack = await add(['./src//', 'docs/', '.']);
      expect(ack).toMatchObject({ code: 0, payload: { watched_paths: ['.', 'docs', 'src'], current_count: 3 } });
      await put('src/new.ts');
      await until('created src/new.ts');
      const [first] = frames();
      expect(first).toMatchObject({
        seq: 1,
        session_id: sessionId,
        volatile: true,
        payload: { coalesced_window_ms: 60, changes: [{ path: 'src/new.ts', change: 'created', kind: 'file' }] },
      });
      expect(first).not.toHaveProperty('epoch');
      await put('src/old.ts', 'other');
      await until('modified src/old.ts');
      await rm(join(project, 'src/old.ts'));
      await until('deleted src/old.ts');
      expect(frames().map(({ seq }) => seq)).toEqual([1, 2, 3]);
    }));

  test('refuses in the order session, runtime, paths, limit, and then adds no path', () =>
    watching(async ({ client, add, remove }) => {
      const nothing = { watched_paths: [], current_count: 0 };
      const unknown = await client.send({
        type: 'watch_fs_add',
        payload: { session_id: 'session_nobody', paths: ['..'], runtime_id: 'moon' },
      });
      expect(unknown).toMatchObject({ code: 40401, msg: 'session not found', payload: nothing });
      expect(await add(['..'], { runtime_id: 'moon' })).toMatchObject({ code: 40420, payload: nothing });
      for (const path of ['', '/', '/etc', '..', 'a/../b', join(project, 'a')]) {
        expect(await add(['fine', path])).toMatchObject({ code: 41304, payload: nothing });
      }
      const many = Array.from({ length: 101 }, (_, n) => `p${n}`);
      expect(await add(many)).toMatchObject({ code: 42902, payload: nothing });
      // The larger frame has 0.6 MB; parsing one above 1 MiB may block the event loop.
      for (const count of [1001, 50_000]) {
        const paths = Array.from({ length: count }, (_, n) => `src/${n}`);
        expect(await add(paths)).toMatchObject({ code: 42902, payload: nothing });
      }
      expect(await add(Array.from({ length: 5000 }, () => 'same'))).toMatchObject({ code: 0 });
      expect(await remove(['same'])).toMatchObject({ code: 0, payload: nothing });
      expect(await add(many.slice(0, 100))).toMatchObject({ code: 0, payload: { current_count: 100 } });
      expect(await add(['p0', './p1'])).toMatchObject({ code: 0, payload: { current_count: 100 } });
      expect(await add(['one-more'])).toMatchObject({ code: 42902 });
      expect(await add([])).toMatchObject({ code: 0, payload: { current_count: 100 } });
      const wrong = await add(z.array(z.string()).parse([]), { paths: 'src' });
      expect(wrong).toMatchObject({ code: 40001, payload: { details: [{ path: 'paths' }] } });
    }));

  test('counts the paths of a connection over all its sessions', () =>
    watching(async ({ client, add, remove }) => {
      const { id: other } = await world.session({ metadata: { cwd: project } });
      await add(['a', 'b']);
      const ack = await client.send({ type: 'watch_fs_add', payload: { session_id: other, paths: ['c'] } });
      expect(ack.payload).toEqual({ watched_paths: ['c'], current_count: 3 });
      expect((await remove(['a', 'never'])).payload).toEqual({ watched_paths: ['b'], current_count: 2 });
      const gone = await client.send({ type: 'watch_fs_remove', payload: { session_id: 'nobody', paths: ['..'] } });
      expect(gone).toMatchObject({ code: 0, payload: { watched_paths: [], current_count: 2 } });
    }));
});

describe('event.fs.changed', () => {
  test('is sent only to clients that watch a matching path', () =>
    watching((one) =>
      watching((two) =>
        watching(async (nobody) => {
          await nobody.client.send({ type: 'subscribe', payload: { session_ids: [sessionId] } });
          await put('src/deep/x.ts');
          await one.add(['src'], { recursive: false });
          await two.add(['.']);
          await put('src/deep/y.ts');
          await put('src/z.ts');
          await two.until('created src/z.ts');
          await one.until('created src/z.ts');
          await fence(two.until);
          expect(one.told()).toEqual(['created src/z.ts']);
          expect(two.told()).toEqual(expect.arrayContaining(['created src/deep/y.ts', 'created src/z.ts']));
          expect(nobody.frames()).toEqual([]);
          await one.remove(['src']);
          await put('src/after.ts');
          await two.until('created src/after.ts');
          expect(one.told()).toEqual(['created src/z.ts']);
        }),
      ),
    ));

  test('merges the changes of a path within a window', () =>
    watching(async ({ add, told, until }) => {
      await put('kept');
      await put('replaced');
      await add(['.']);
      // Synchronous, so that both fall into one window.
      for (const text of ['x', 'again']) writeFileSync(join(project, 'new'), text);
      writeFileSync(join(project, 'short-lived'), '');
      rmSync(join(project, 'short-lived'));
      rmSync(join(project, 'replaced'));
      writeFileSync(join(project, 'replaced'), 'anew');
      await fence(until);
      expect(told().filter((change) => !change.includes('fence'))).toEqual(['created new', 'modified replaced']);
    }));

  test('reports a new directory and its whole content, including entries created before it was watched', () =>
    watching(async ({ add, told, until }) => {
      await add(['.']);
      execFileSync('sh', ['-c', 'for i in 1 2 3 4 5; do mkdir -p d$i/e/f && echo x > d$i/e/f/g; done'], {
        cwd: project,
      });
      const expected = [1, 2, 3, 4, 5].flatMap((n) => [`d${n}`, `d${n}/e`, `d${n}/e/f`, `d${n}/e/f/g`]);
      for (const path of expected) await until(`created ${path}`);
      await put('d3/e/f/later');
      await until('created d3/e/f/later');
      expect(told()).toHaveLength(expected.length + 1);
    }));

  test('reports renames, within, into and out of the tree, with their contents', () =>
    watching(async ({ add, told, until }) => {
      const outside = await mkdtemp(join(tmpdir(), 'service-code-outside-'));
      await mkdir(join(outside, 'x/y'), { recursive: true });
      await writeFile(join(outside, 'x/y/z'), '');
      await put('from/a/b');
      await add(['.']);
      await rename(join(outside, 'x'), join(project, 'x'));
      await until('created x/y/z');
      await rename(join(project, 'from'), join(project, 'to'));
      await until('created to/a/b');
      await until('deleted from/a/b');
      await put('to/a/c');
      await until('created to/a/c');
      await rename(join(project, 'to'), join(outside, 'to'));
      await until('deleted to/a/c');
      await writeFile(join(outside, 'to/a/d'), '');
      await fence(until);
      expect(told()).not.toContain('created to/a/d');
      await rm(outside, { recursive: true });
    }));

  test('reports links as links and does not follow them', () =>
    watching(async ({ add, frames, until }) => {
      await put('real/a');
      await add(['.']);
      await symlink('real', join(project, 'link'));
      await until('created link');
      await put('link/b');
      await until('created real/b');
      await rm(join(project, 'link'));
      await until('deleted link');
      const changes = frames().flatMap(({ payload }) => payload.changes);
      expect(changes.filter(({ path }) => path === 'link').map(({ kind }) => kind)).toEqual(['symlink', 'symlink']);
      expect(changes.some(({ path }) => path.startsWith('link/'))).toBe(false);
    }));

  test('omits .git and matches of the work directory’s .gitignore, but not hidden files', () =>
    watching(async ({ add, told, until }) => {
      await put('.gitignore', 'out/\n*.log\n');
      await put('out/a');
      await put('sub/.gitignore', '*.txt\n');
      execFileSync('git', ['init', '--quiet', project]);
      await add(['.', 'out', '.git']);
      await put('out/b');
      await put('x.log');
      await put('sub/y.txt');
      await put('.hidden');
      await put('node_modules/m');
      execFileSync('git', ['-C', project, 'add', '-A']);
      await fence(until);
      const seen = told().filter((change) => !change.includes('fence'));
      expect(seen.toSorted()).toEqual([
        'created .hidden',
        'created node_modules',
        'created node_modules/m',
        'created sub/y.txt',
      ]);
      await put('.gitignore', '*.txt\n');
      await until('modified .gitignore');
      await put('out/c');
      await until('created out/c');
      await put('sub/z.txt');
      await fence(until);
      expect(told()).not.toContain('created sub/z.txt');
    }));

  test('reports a missing path when it appears, and a work directory that is removed and recreated', () =>
    watching(async ({ add, until }) => {
      await add(['later/deep', '.']);
      await put('later/deep/a');
      await until('created later/deep/a');
      await rm(project, { recursive: true });
      await until('deleted later/deep/a');
      await until('deleted .');
      await put('again/b');
      await until('created again/b');
      await put('again/c');
      await until('created again/c');
    }));

  test('coalesces 200 ms and lists 500 changes by default', () =>
    watching(async ({ add, client, frames }) => {
      variables = {};
      await add(['.']);
      execFileSync('sh', ['-c', 'for i in $(seq 300); do : > $i; done'], { cwd: project });
      await client.waitFor(() => frames().reduce((sum, { payload }) => sum + payload.changes.length, 0) === 300);
      expect(frames()[0]?.payload.coalesced_window_ms).toBe(200);
    }));

  test('is truncated if there are too many changes, and is then sent to every watcher of the session', () =>
    watching((one) =>
      watching(async (two) => {
        await one.add(['.']);
        await two.add(['elsewhere']);
        execFileSync('sh', ['-c', 'mkdir many; for i in $(seq 600); do : > many/$i; done'], { cwd: project });
        const isTruncated = ({ payload }: FilesChanged) => payload.truncated === true;
        await one.client.waitFor(() => one.frames().some(isTruncated));
        await two.client.waitFor(() => two.frames().some(isTruncated));
        const [frame] = two.frames().filter(isTruncated);
        expect(frame?.payload.changes).toEqual([]);
        expect(frame?.payload.count).toBeGreaterThan(100);
        await put('elsewhere');
        await two.until('created elsewhere');
      }),
    ));
});

describe('a watch', () => {
  test('that is slow to arm delays no other client and no other request of its connection', () =>
    watching((other) =>
      watching(async ({ client, add, until }) => {
        const script = 'for i in $(seq 40); do mkdir d$i; for j in $(seq 50); do mkdir d$i/e$j; done; done';
        execFileSync('sh', ['-c', script], { cwd: project });
        let armed = false;
        const adding = add(['.']).then((ack) => {
          armed = true;
          return ack;
        });
        client.sendRaw(JSON.stringify({ type: 'ping', payload: { nonce: 'meanwhile' } }));
        await client.waitFor(({ type }) => type === 'pong');
        await other.client.send({ type: 'subscribe', payload: { session_ids: [sessionId] } });
        expect(armed).toBe(false);
        expect(await adding).toMatchObject({ code: 0 });
        await put('d40/e50/x');
        await until('created d40/e50/x');
      }),
    ));

  test('ends with its connection and its session, and loads a cold session', async () => {
    const { sessions } = world.server.app;
    await watching(async ({ add }) => {
      await add(['.']);
    });
    await watching(async ({ add, remove, until, told }) => {
      await add(['.']);
      await world.ok('POST', `/sessions/${sessionId}:archive`);
      expect((await remove([])).payload).toEqual({ watched_paths: [], current_count: 0 });
      await put('unseen');
      expect(sessions.liveRow(sessionId)).toBeUndefined();
      expect(await add(['.'])).toMatchObject({ code: 0, payload: { current_count: 1 } });
      expect(sessions.liveRow(sessionId)).toBeDefined();
      await fence(until);
      expect(told()).not.toContain('created unseen');
    });
  });
});
