// Requests that every check passes, next to an earlier build: `GET /meta`, a grep of a small project, and a turn with a
// Write call, which runs in the mode `yolo` without an approval.
import { follow } from '../client.mjs';
import { inTurn, median } from '../rounds.mjs';
import { openTarget } from './turns.mjs';

/** Calls of a round, of which the median counts. */
const CALLS = 40;
const WRITES = 15;

async function medianOf(count, work) {
  const times = [];
  for (let n = 0; n < count; n += 1) {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
  return median(times);
}

export async function measureRequests({ builds, model, quick, report }) {
  const targets = await Promise.all(builds.map((directory) => openTarget({ directory, model })));
  const followers = [];
  try {
    const works = await Promise.all(
      targets.map(async ({ client, server, session }) => {
        await client.api('POST', '/config', { default_permission_mode: 'yolo' });
        const own = await session();
        const events = await follow(server, [own.id]);
        followers.push(events);
        return {
          meta: () => medianOf(CALLS, () => client.api('GET', '/meta')),
          grep: () => medianOf(CALLS, () => client.api('POST', `/sessions/${own.id}/fs:grep`, { pattern: 'line' })),
          write: () => medianOf(WRITES, () => own.turn(events, 'WRITE the file.')),
        };
      }),
    );
    for (const [name, kind] of [
      ['GET /meta', 'meta'],
      ['fs:grep of a small project', 'grep'],
      ['turn with a Write call', 'write'],
    ]) {
      await inTurn(quick ? 3 : 10, works, (work) => work[kind]());
      const [now, before] = await inTurn(quick ? 5 : 20, works, (work) => work[kind]());
      report.line({ name, unit: 'ms', now, before });
    }
  } finally {
    for (const follower of followers) follower.close();
    await Promise.all(targets.map((target) => target.close()));
  }
}
