import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createLogger } from '#server/logging/log.ts';
import { reportedView } from '#server/watches/reported-view.ts';
import { createSystemWatcher, type SystemWatcher } from '#server/watches/system-watch.ts';
import { createTreeWatcher, type ChangeBatch, type TreeWatcherDeps } from '#server/watches/tree-watcher.ts';
import type { Directory } from '#server/watches/tree.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(await realpath(tmpdir()), 'service-code-tree-'));
  return () => rm(root, { recursive: true, force: true });
});

const put = async (...paths: string[]) => {
  for (const path of paths) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), 'x');
  }
};

/** Counts the system's watches; `before` runs before each and may throw. */
function counted(before: () => void = () => undefined, lossAt?: number) {
  const system = createSystemWatcher(lossAt);
  const open = new Set<object>();
  const watcher: SystemWatcher = {
    ...system,
    watch(path, told, subtree) {
      before();
      const watch = system.watch(path, told, subtree);
      open.add(watch);
      return {
        close() {
          open.delete(watch);
          watch.close();
        },
      };
    },
  };
  return { watcher, open };
}

async function start(more: Partial<TreeWatcherDeps> = {}) {
  const batches: ChangeBatch[] = [];
  const watcher = createTreeWatcher({
    root,
    windowMs: () => 20,
    system: createSystemWatcher(),
    log: createLogger('silent'),
    ...more,
  });
  onTestFinished(() => watcher.close());
  watcher.onChanges((batch) => batches.push(batch));
  await watcher.show('reported', reportedView);
  const told = () => batches.flatMap(({ changes }) => changes.map(({ change, path }) => `${change} ${path}`));
  const until = (...changes: string[]) => expect.poll(told).toEqual(expect.arrayContaining(changes));
  return { watcher, batches, told, until };
}

function pathsOf(directory: Directory): string[] {
  return [...directory.entries.keys()].flatMap((name) => {
    const below = directory.directories?.get(name);
    const path = directory.path === '' ? name : `${directory.path}/${name}`;
    return below ? [path, ...pathsOf(below)] : [path];
  });
}

test('ignored directories are not watched', async () => {
  await put('.gitignore', 'src/a');
  await writeFile(join(root, '.gitignore'), 'node_modules\n');
  for (let n = 0; n < 50; n += 1) await put(`node_modules/m${n}/lib/x`);
  const { watcher: system, open } = counted();
  const { watcher } = await start({ system });
  // The parent of the root, the root, src.
  expect(open.size).toBe(3);
  await watcher.close();
  expect(open.size).toBe(0);
});

test('events that the system may have lost are found by a full scan', async () => {
  await put('a/old', 'b/c/old', 'gone/x');
  const { watcher, until } = await start({ system: counted(undefined, 1).watcher });
  await Promise.all([put('a/new', 'b/c/new', 'd/e/new'), rm(join(root, 'gone'), { recursive: true })]);
  await until('created a/new', 'created b/c/new', 'created d/e/new', 'deleted gone', 'deleted gone/x');
  await put('d/e/later');
  await until('created d/e/later');
  expect(pathsOf(watcher.tree.root)).not.toContain('gone/x');
});

test('the contents of a directory that is removed during its scan are reported as deleted', async () => {
  await put('gone/x', 'gone/y/z');
  const { watcher, until } = await start({ system: counted(undefined, 1).watcher });
  let going = false;
  await watcher.show('searched', {
    ...reportedView,
    // The root has been listed, its subdirectories have not.
    enter(directory, inherited) {
      if (going && directory.path === '') rmSync(join(root, 'gone'), { recursive: true, force: true });
      return reportedView.enter(directory, inherited);
    },
  });
  going = true;
  await put('new');
  await until('created new', 'deleted gone', 'deleted gone/x', 'deleted gone/y', 'deleted gone/y/z');
});

test('files beyond the limit are reported, though not stored', async () => {
  for (let n = 0; n < 20; n += 1) await put(`d/f${n}`);
  const { watcher, until } = await start({ maxEntries: 10 });
  expect(watcher.tree.size()).toBe(10);
  expect(watcher.knows('reported')).toBe(false);
  for (let n = 0; n < 20; n += 1) await writeFile(join(root, `d/f${n}`), 'other');
  await until(...Array.from({ length: 20 }, (_, n) => `modified d/f${n}`));
  await put('d/new');
  await until('created d/new');
  for (let n = 0; n < 20; n += 1) await unlink(join(root, `d/f${n}`));
  await until(...Array.from({ length: 20 }, (_, n) => `deleted d/f${n}`));
});

const noSpace = () => Object.assign(new Error('ENOSPC: no more watches'), { code: 'ENOSPC' });

test('an error of the system is thrown, and no watch remains', async () => {
  for (let n = 0; n < 20; n += 1) await put(`d${n}/x`);
  let left = 10;
  const { watcher: system, open } = counted(() => {
    if ((left -= 1) < 0) throw noSpace();
  });
  await expect(start({ system })).rejects.toThrow('ENOSPC');
  // The watch that detects the root's return remains.
  await expect.poll(() => open.size).toBe(1);
});

test('a directory that the system refuses to watch later makes the batch incomplete', async () => {
  let full = false;
  const { watcher: system } = counted(() => {
    if (full) throw noSpace();
  });
  const { batches, until } = await start({ system });
  full = true;
  await put('new/x');
  await until('created new');
  expect(batches.some(({ incomplete }) => incomplete)).toBe(true);
});

test('a link that replaces a directory is not followed', async () => {
  const outside = await mkdtemp(join(tmpdir(), 'service-code-outside-'));
  onTestFinished(() => rm(outside, { recursive: true }));
  await writeFile(join(outside, 'secret'), '');
  await put('early/mine', 'late/mine');
  let watches = 0;
  const { watcher: system } = counted(() => {
    // The first two are the root's parent and the root; at the third, one of the directories is opened but not listed.
    if ((watches += 1) !== 3) return;
    renameSync(join(root, 'early'), join(root, 'moved'));
    symlinkSync(outside, join(root, 'early'));
    mkdirSync(join(root, 'done'));
  });
  const { watcher, told, until } = await start({ system });
  await until('created done');
  await rename(join(root, 'late'), join(root, 'moved-too'));
  await symlink(outside, join(root, 'late'));
  await until('created moved-too/mine');
  await writeFile(join(outside, 'another-secret'), '');
  await put('last');
  await until('created last');
  expect([...pathsOf(watcher.tree.root), ...told()].filter((path) => path.includes('secret'))).toEqual([]);
});

test('one watch on the root suffices where the system watches whole trees', async () => {
  await put('a/b/old');
  const { watcher: system, open } = counted();
  const { until } = await start({ system, subtree: true });
  expect(open.size).toBe(2);
  await put('a/b/new');
  await until('created a/b/new');
  await put('c/d/e');
  await until('created c', 'created c/d', 'created c/d/e');
  await unlink(join(root, 'a/b/old'));
  await until('deleted a/b/old');
});
