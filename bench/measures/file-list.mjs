// Lists of a directory of 60 entries, of a tree of 1,000, of a directory of 1,000 in every order, and of one with
// 100,000.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { watchLoop } from '../loop-blocks.mjs';
import { temporaryFolder } from '../processes.mjs';
import { median } from '../rounds.mjs';
import { openTarget } from './turns.mjs';

const ENTRIES = 1000;
const MANY = 100_000;
const SORTS = ['type_first', 'name_asc', 'name_desc', 'mtime_desc', 'size_desc'];
const IGNORED = ['node_modules/', 'dist', '*.log', '*.tmp', '/build', '!keep.log', '.env.*', '**/coverage/**', 'a/*/b'];

function fill(directory, count) {
  mkdirSync(directory);
  for (let index = 0; index < count; index += 1) {
    if (index % 20 === 0) mkdirSync(join(directory, `folder-${index}`));
    else writeFileSync(join(directory, `file-${index * 7919}.ts`), 'x'.repeat(index % 50));
  }
}

/**
 * Creates a tree like a project's: `top` and `below` directories in the first two levels, and files spread over all of
 * them.
 */
function fillTree(directory, { count, top, below }) {
  const directories = [directory];
  for (let n = 0; n < top; n += 1) {
    const name = join(directory, `module-${n}`);
    directories.push(name);
    for (let m = 0; m < below; m += 1) directories.push(join(name, `part-${m}`));
  }
  for (const name of directories) mkdirSync(name, { recursive: true });
  const files = count - directories.length + 1;
  for (let n = 0; n < files; n += 1) {
    writeFileSync(join(directories[n % directories.length], `file-${n * 7919}.ts`), 'x'.repeat(n % 50));
  }
}

export async function measureFileList({ builds: [directory], model, quick, report }) {
  const root = await temporaryFolder();
  const target = await openTarget({ directory, model }, { inspect: true });
  const { client, server } = target;
  try {
    fill(join(root, 'entries'), ENTRIES);
    fill(join(root, 'project'), 60);
    fillTree(join(root, 'tree'), { count: ENTRIES, top: 10, below: 5 });
    fill(join(root, 'many'), MANY);
    writeFileSync(join(root, '.gitignore'), IGNORED.join('\n'));
    const { id } = await client.api('POST', '/sessions', { metadata: { cwd: root } });
    async function timedTree(path, depth, entries) {
      const begun = performance.now();
      const body = { path, depth, limit: ENTRIES };
      const { items, children_by_path: below = {} } = await client.api('POST', `/sessions/${id}/fs:list`, body);
      const count = Object.values(below).reduce((sum, { length }) => sum + length, items.length);
      if (count !== entries) throw new Error(`${count} entries of ${path}`);
      return performance.now() - begun;
    }
    for (const [name, path, depth, entries] of [
      ['fs:list of 60 entries', 'project', 1, 60],
      ['fs:list of 1,000 entries, depth 3', 'tree', 3, ENTRIES],
    ]) {
      for (let round = 0; round < 50; round += 1) await timedTree(path, depth, entries);
      const times = [];
      for (let round = 0; round < (quick ? 50 : 200); round += 1) times.push(await timedTree(path, depth, entries));
      report.line({ name, unit: 'ms', now: [median(times)] });
    }
    async function timed(path, sort) {
      const begun = performance.now();
      const { items } = await client.api('POST', `/sessions/${id}/fs:list`, { path, sort, limit: ENTRIES });
      if (items.length !== ENTRIES) throw new Error(`${items.length} entries of ${path}`);
      return performance.now() - begun;
    }
    for (const sort of SORTS) for (let round = 0; round < 10; round += 1) await timed('entries', sort);
    const block = await watchLoop(server.inspectorUrl);
    for (const sort of SORTS) {
      const times = [];
      for (let round = 0; round < (quick ? 10 : 50); round += 1) times.push(await timed('entries', sort));
      const name = `fs:list of ${ENTRIES.toLocaleString('en')} entries, ${sort}`;
      report.line({ name, unit: 'ms', now: [median(times)] });
    }
    report.line({ name: 'longest block of the loop', unit: 'ms', now: [await block()], aim: { most: 50 } });
    for (const sort of ['type_first', 'mtime_desc']) {
      const times = [];
      for (let round = 0; round < (quick ? 1 : 3); round += 1) times.push(await timed('many', sort));
      const name = `fs:list in ${MANY.toLocaleString('en')} entries, ${sort}`;
      report.line({ name, unit: 'ms', now: [median(times)] });
      report.line({ name: 'longest block meanwhile', unit: 'ms', now: [await block()], aim: { most: 50 } });
    }
  } finally {
    await target.close();
    rmSync(root, { recursive: true, force: true });
  }
}
