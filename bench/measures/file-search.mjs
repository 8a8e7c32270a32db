// File search in a project of 100,000 files: cold compared with ripgrep's list, and warm; and the cost of watching
// 20,000 directories.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { rgPath } from '@vscode/ripgrep';
import { WebSocket } from 'ws';
import { heapMiB, within } from '../client.mjs';
import { makeFileTree } from '../file-tree.mjs';
import { watchLoop } from '../loop-blocks.mjs';
import { temporaryFolder } from '../processes.mjs';
import { median } from '../rounds.mjs';
import { openTarget } from './turns.mjs';

const FILES = 100_000;
const DIRECTORIES = 20_000;
const QUERIES = ['index', 'page-task', 'core/user', 'a', 'zzz', 'evnt.test', 'stt/ordr.md', 'node-12'];

async function timed(work) {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** The time of a client that lists the files with ripgrep itself. */
function ripgrep(cwd) {
  return timed(async () => {
    const child = spawn(rgPath, ['--files', '--hidden', '--no-ignore'], { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.resume();
    await new Promise((resolve) => child.once('close', resolve));
  });
}

async function send(socket, type, payload) {
  const acked = new Promise((resolve) => {
    socket.on('message', function look(data) {
      const frame = JSON.parse(data.toString());
      if (frame.type !== 'ack') return;
      socket.off('message', look);
      resolve(frame);
    });
  });
  socket.send(JSON.stringify({ type, id: 1, payload }));
  const { code, msg } = await within(acked, type);
  if (code !== 0) throw new Error(`${type}: ${code} ${msg}`);
}

export async function measureFileSearch({ builds: [directory], model, quick, report }) {
  const folder = await temporaryFolder();
  const target = await openTarget({ directory, model }, { inspect: true });
  const { client, server } = target;
  const { inspectorUrl } = server;
  try {
    const root = join(folder, 'files');
    mkdirSync(root);
    makeFileTree(root, { files: FILES, perDirectory: 25 });
    execFileSync('git', ['init', '--quiet', root]);
    const block = await watchLoop(inspectorUrl);
    const { id } = await client.api('POST', '/sessions', { metadata: { cwd: root } });
    const search = (query, more) => client.api('POST', `/sessions/${id}/fs:search`, { query, ...more });

    // Without ignore files every answer is cold, and no tree is built.
    const cold = [];
    const listed = [];
    await search('warm-up', { follow_gitignore: false });
    for (let round = 0; round < (quick ? 3 : 8); round += 1) {
      listed.push(await ripgrep(root));
      cold.push(await timed(() => search('page-task', { follow_gitignore: false })));
    }
    const name = `file search, cold, ${FILES.toLocaleString('en')} files`;
    const against = { name: 'rg --files', values: listed };
    report.line({ name, unit: 'ms', now: cold, against, aim: { most: 1.5, of: 'rg --files' } });
    report.line({ name: 'longest block of the loop, cold', unit: 'ms', now: [await block()], aim: { most: 50 } });

    const before = await heapMiB(inspectorUrl);
    await search('begins to watch');
    const begun = performance.now();
    // Only a tree has empty directories.
    mkdirSync(join(root, 'known-tree-mark'));
    while ((await search('known-tree-mark')).items.length === 0 && performance.now() - begun < 60_000) await delay(100);
    report.line({ name: 'until the tree is known', unit: 'ms', now: [performance.now() - begun] });
    report.line({ name: 'longest block meanwhile', unit: 'ms', now: [await block()], aim: { most: 50 } });
    const bytes = ((await heapMiB(inspectorUrl)) - before) * 2 ** 20;
    report.line({ name: 'heap of an entry', unit: 'B', now: [bytes / (FILES * 1.04)] });
    // Discards the blocked time so far: up to 73 ms are the garbage collection of the measurement.
    await block();

    const warm = [];
    for (let round = 0; round < (quick ? 3 : 12); round += 1) {
      for (const query of QUERIES) warm.push(await timed(() => search(query)));
    }
    report.line({ name: 'file search, warm', unit: 'ms', now: [median(warm)], aim: { most: 30 } });
    report.line({ name: 'longest block of the loop, warm', unit: 'ms', now: [await block()], aim: { most: 50 } });

    const wide = join(folder, 'directories');
    mkdirSync(wide);
    makeFileTree(wide, { files: DIRECTORIES, perDirectory: 1 });
    const { id: watched } = await client.api('POST', '/sessions', { metadata: { cwd: wide } });
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    await within(new Promise((resolve) => socket.once('open', resolve)), 'the socket');
    await block();
    const armed = await timed(() => send(socket, 'watch_fs_add', { session_id: watched, paths: ['.'] }));
    report.line({ name: `watch_fs_add, ${DIRECTORIES.toLocaleString('en')} directories`, unit: 'ms', now: [armed] });
    report.line({ name: 'longest block meanwhile', unit: 'ms', now: [await block()], aim: { most: 50 } });
    socket.terminate();
    await delay(500);
    report.line({ name: 'longest block when they are let go', unit: 'ms', now: [await block()], aim: { most: 50 } });
  } finally {
    await target.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
