// Memory retained after long sessions and many short ones: one of 5,000 turns and 100 MB of journal, opened and
// unloaded; a thousand of one turn, each unloaded; one that runs a thousand turns.
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, follow, heapMiB, openSession } from '../client.mjs';
import { grown } from '../journals.mjs';
import { watchLoop } from '../loop-blocks.mjs';
import { cpuMs, makeHome, startBuilt } from '../processes.mjs';
import { inParallel } from '../rounds.mjs';
import { openTarget } from './turns.mjs';

const TURNS = 5000;
const JOURNAL_MB = 100;
const WARM_UP = 60;
const SHORT = 1000;
const MIB = 2 ** 20;

async function journalOf(home, id) {
  const sessions = join(home, 'sessions');
  for (const workspace of await readdir(sessions)) {
    if ((await readdir(join(sessions, workspace))).includes(id)) return join(sessions, workspace, id, 'journal.ndjson');
  }
  throw new Error(`session ${id} has no folder`);
}

const sizeMiB = async (path) => (await stat(path)).size / MIB;

/** Creates a home with a session with a long journal, and a short one. */
async function longHome(build, model) {
  const made = await makeHome(model.url);
  // A call's output is stored in its event and in its message, and a turn has one of each.
  const line = 'one line of the file that is read, of some length, as files have them\n';
  await writeFile(join(made.project, 'a.txt'), line.repeat(215));
  const server = await startBuilt(build, { home: made.home });
  const client = createClient(server);
  const [long, short] = [
    await openSession(server, client, made.project),
    await openSession(server, client, made.project),
  ];
  for (const session of [long, short]) {
    const events = await follow(server, [session.id]);
    for (let turn = 0; turn < 2; turn += 1) await session.turn(events, 'READ the file.');
    events.close();
  }
  client.close();
  await server.stop('SIGTERM');
  const journal = await journalOf(made.home, long.id);
  await writeFile(journal, grown(await readFile(journal, 'utf8'), TURNS));
  return { ...made, long, short, journalMiB: await sizeMiB(journal) };
}

async function measureOpening({ builds, model, report }) {
  const { home, remove, long, short, journalMiB } = await longHome(builds[0], model);
  const server = await startBuilt(builds[0], { home, inspect: true });
  const client = createClient(server);
  const at = `/sessions/${long.id}`;
  const transcript = `${at}/transcript?agent_id=main`;
  async function timed(work) {
    const cpu = cpuMs(server.pid);
    const begun = performance.now();
    await work();
    return { ms: performance.now() - begun, cpu: cpuMs(server.pid) - cpu };
  }
  try {
    await client.api('POST', `/sessions/${short.id}:restore`);
    await client.api('GET', `/sessions/${short.id}/transcript?agent_id=main`);
    await client.api('POST', `/sessions/${short.id}:archive`);
    const block = await watchLoop(server.inspectorUrl);
    const before = await heapMiB(server.inspectorUrl);
    await block();
    const name = `${TURNS.toLocaleString('en')} turns, ${journalMiB.toFixed(0)} MiB`;
    const judged = journalMiB * MIB >= JOURNAL_MB * 1e6;
    const load = await timed(() => client.api('POST', `${at}:restore`));
    report.line({ name: `${name}: loaded`, unit: 'ms', now: [load.ms], aim: { most: 2000, judged } });
    const open = await timed(() => client.api('GET', transcript));
    report.line({ name: `${name}: first page then`, unit: 'ms', now: [open.ms], aim: { most: 2000, judged } });
    const blocked = async () =>
      report.line({ name: 'longest block of the loop meanwhile', unit: 'ms', now: [await block()], aim: { most: 50 } });
    await blocked();
    const live = (await heapMiB(server.inspectorUrl)) - before;
    report.line({ name: `${name}: heap`, unit: '× journal', now: [live / journalMiB], aim: { most: 2.5, judged } });
    await block();
    await client.api('POST', `${at}:archive`);
    await blocked();
    const left = (await heapMiB(server.inspectorUrl)) - before;
    report.line({ name: `${name}: heap, unloaded`, unit: 'MiB', now: [left], aim: { most: 5, judged } });
    await block();
    const cold = await timed(() => client.api('GET', transcript));
    report.line({ name: `${name}: first page, not loaded`, unit: 'ms', now: [cold.ms], aim: { most: 2000, judged } });
    await blocked();
    report.note(`CPU: ${[load, open, cold].map(({ cpu }) => cpu.toFixed(0)).join(', ')} ms`);
  } finally {
    client.close();
    await server.stop();
    remove();
  }
}

async function measureMany({ builds, model, quick, report }) {
  const target = await openTarget({ directory: builds[0], model }, { inspect: true });
  const run = (count) =>
    inParallel(count, 4, async () => {
      const session = await target.session();
      const events = await follow(target.server, [session.id]);
      await session.turn(events, 'BRIEF');
      events.close();
      await target.client.api('POST', `/sessions/${session.id}:archive`);
    });
  const count = quick ? 200 : SHORT;
  try {
    await run(WARM_UP);
    const before = await heapMiB(target.server.inspectorUrl);
    await run(count);
    const left = (await heapMiB(target.server.inspectorUrl)) - before;
    const name = `${count.toLocaleString('en')} sessions of one turn, unloaded: heap`;
    report.line({ name, unit: 'MiB', now: [left], aim: { most: 5, judged: count === SHORT } });
  } finally {
    await target.close();
  }
}

async function measureTurnByTurn({ builds, model, quick, report }) {
  const target = await openTarget({ directory: builds[0], model }, { inspect: true });
  const turns = quick ? 200 : 1000;
  try {
    const warm = await target.session();
    const first = await follow(target.server, [warm.id]);
    for (let turn = 0; turn < WARM_UP; turn += 1) await warm.turn(first, 'Tell me.');
    first.close();
    await target.client.api('POST', `/sessions/${warm.id}:archive`);
    const session = await target.session();
    const events = await follow(target.server, [session.id]);
    const before = await heapMiB(target.server.inspectorUrl);
    for (let turn = 0; turn < turns; turn += 1) await session.turn(events, 'Tell me.');
    const grownBy = (await heapMiB(target.server.inspectorUrl)) - before;
    events.close();
    const journalMiB = await sizeMiB(await journalOf(target.home, session.id));
    report.line({
      name: `${turns.toLocaleString('en')} turns of one session, ${journalMiB.toFixed(1)} MiB: heap`,
      unit: '× journal',
      now: [grownBy / journalMiB],
      aim: { most: 2.5, judged: turns === 1000 },
    });
  } finally {
    await target.close();
  }
}

export async function measureLongSession(options) {
  await measureOpening(options);
  await measureMany(options);
  await measureTurnByTurn(options);
}
