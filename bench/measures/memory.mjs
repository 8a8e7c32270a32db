// Heap of a live session with three turns, by what a collection leaves before and after a hundred more of them.
import { follow, heapMiB } from '../client.mjs';
import { residentMiB } from '../processes.mjs';
import { inParallel, inTurn } from '../rounds.mjs';
import { openTarget } from './turns.mjs';

const WARM_UP = 40;
const SESSIONS = 100;

async function liveSessions(target, count) {
  await inParallel(count, 4, async () => {
    const session = await target.session();
    const events = await follow(target.server, [session.id]);
    for (const text of ['Tell me.', 'READ the file.', 'Tell me more.']) await session.turn(events, text);
    events.close();
  });
}

export async function measureMemory({ builds, model, report }) {
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
