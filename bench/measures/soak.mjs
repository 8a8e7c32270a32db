// What ten minutes of work leave in memory: turns of fifty sessions whose transcripts are read, then left alone for as long
// as transcripts stay. Not part of a run of all measures: it takes a quarter of an hour.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { follow, heapMiB } from '../client.mjs';
import { openTarget } from './turns.mjs';

const SESSIONS = 50;
const SOAK_MS = 10 * 60_000;
const QUICK_MS = 90_000;
/** Longer than the server retains transcripts that no client reads. */
const REST_MS = 4.5 * 60_000;
const KIB = 1024;

async function journalBytes(home) {
  const names = await readdir(join(home, 'sessions'), { recursive: true });
  const journals = names.filter((name) => name.endsWith('journal.ndjson'));
  const sizes = await Promise.all(journals.map(async (name) => (await stat(join(home, 'sessions', name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

export async function measureSoak({ builds: [directory], model, quick, report }) {
  const target = await openTarget({ directory, model }, { inspect: true });
  const { client, server, home } = target;
  async function work(session, turn) {
    const events = await follow(server, [session.id]);
    await session.turn(events, turn % 2 === 0 ? 'Tell me.' : 'READ the file.');
    await client.api('GET', `/sessions/${session.id}/transcript?agent_id=main`);
    events.close();
  }
  const state = async () => ({
    heap: (await heapMiB(server.inspectorUrl)) * KIB,
    journal: (await journalBytes(home)) / KIB,
  });
  try {
    const sessions = [];
    for (let n = 0; n < SESSIONS; n += 1) sessions.push(await target.session());
    for (const round of [0, 1]) for (const session of sessions) await work(session, round);
    const before = await state();
    const begun = performance.now();
    let turns = 0;
    while (performance.now() - begun < (quick ? QUICK_MS : SOAK_MS)) {
      await work(sessions[turns % SESSIONS], Math.floor(turns / SESSIONS));
      turns += 1;
    }
    await delay(REST_MS);
    const after = await state();
    const grown = (after.heap - before.heap) / turns;
    const journal = (after.journal - before.journal) / turns;
    report.line({ name: 'heap of a turn beyond its journal', unit: 'KiB', now: [grown - journal], aim: { most: 15 } });
    report.note(`${turns} turns: ${grown.toFixed(1)} KiB of heap each, ${journal.toFixed(1)} KiB of journal`);
  } finally {
    await target.close();
  }
}
