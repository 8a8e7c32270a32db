// Memory of an idle server; heap of a live session with three turns, by what a collection leaves before and after a hundred
// more of them.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, follow, heapMiB } from '../client.mjs';
import { makeHome, residentMiB, startBuilt } from '../processes.mjs';
import { inParallel, inTurn } from '../rounds.mjs';
import { openTarget } from './turns.mjs';

const WARM_UP = 40;
const SESSIONS = 100;
/** The server loads code ahead of its use after its first reply. */
const PRELOAD_MS = 4000;
const IDLE_ROUNDS = 3;

async function liveSessions(target, count) {
  await inParallel(count, 4, async () => {
    const session = await target.session();
    const events = await follow(target.server, [session.id]);
    for (const text of ['Tell me.', 'READ the file.', 'Tell me more.']) await session.turn(events, text);
    events.close();
  });
}

/** Resident MiB of a server that has answered one request. */
async function idleMiB(directory, { home }) {
  const server = await startBuilt(directory, { home });
  const client = createClient(server);
  await client.send('GET', '/api/v1/healthz');
  await delay(PRELOAD_MS);
  const resident = residentMiB(server.pid);
  client.close();
  await server.stop('SIGTERM');
  return resident;
}

async function measureIdle({ builds, model, report }) {
  const targets = await Promise.all(builds.map(async (directory) => ({ directory, made: await makeHome(model.url) })));
  try {
    const [now, before] = await inTurn(IDLE_ROUNDS, targets, ({ directory, made }) => idleMiB(directory, made));
    report.line({ name: 'memory of an idle server', unit: 'MiB', now, before, aim: { most: 1.1, of: 'before' } });
  } finally {
    for (const { made } of targets) made.remove();
  }
}

export async function measureMemory({ builds, model, report }) {
  await measureIdle({ builds, model, report });
  const [now, before] = await inTurn(1, builds, async (directory) => {
    const target = await openTarget({ directory, model }, { inspect: true });
    try {
      await liveSessions(target, WARM_UP);
      const heap = await heapMiB(target.server.inspectorUrl);
      const resident = residentMiB(target.server.pid);
      await liveSessions(target, SESSIONS);
      return {
        heap: ((await heapMiB(target.server.inspectorUrl)) - heap) / SESSIONS,
        resident: (residentMiB(target.server.pid) - resident) / SESSIONS,
      };
    } finally {
      await target.close();
    }
  });
  report.line({
    name: 'heap of a live session',
    unit: 'MiB',
    now: now.map(({ heap }) => heap),
    before: before?.map(({ heap }) => heap),
    aim: { most: 0.2 },
  });
  // What the collector has not given back counts here, so this is shown only.
  report.line({
    name: 'resident memory of a live session',
    unit: 'MiB',
    now: now.map(({ resident }) => resident),
    before: before?.map(({ resident }) => resident),
  });
}
