// Many concurrent sessions, each with a subagent: time of a turn with the others running, and memory retained per
// session.
import { availableParallelism } from 'node:os';
import { follow, heapMiB } from '../client.mjs';
import { openTarget } from './turns.mjs';

const SESSIONS = 50;
const TURNS = 3;
const ROUNDS = 4;
const TEXT = 'DELEGATE it.';

const p95 = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)];

/** Milliseconds of each turn, with the given number of concurrent sessions. */
async function turnsOf(target, sessions) {
  const opened = await Promise.all(Array.from({ length: sessions }, () => target.session()));
  const events = await follow(
    target.server,
    opened.map(({ id }) => id),
  );
  const times = [];
  await Promise.all(
    opened.map(async (session) => {
      for (let n = 0; n < TURNS; n += 1) times.push(await session.turn(events, TEXT));
    }),
  );
  events.close();
  return times;
}

export async function measureCrowd({ builds: [directory], model, quick, report }) {
  const target = await openTarget({ directory, model }, { inspect: true });
  try {
    for (let n = 0; n < 10; n += 1) await turnsOf(target, 1);
    await turnsOf(target, SESSIONS);
    const heap = await heapMiB(target.server.inspectorUrl);
    const alone = [];
    const crowd = [];
    const rounds = quick ? 2 : ROUNDS;
    for (let n = 0; n < rounds; n += 1) {
      const single = [];
      for (let m = 0; m < 5; m += 1) single.push(...(await turnsOf(target, 1)));
      alone.push(p95(single));
      crowd.push(p95(await turnsOf(target, SESSIONS)));
    }
    const left = (await heapMiB(target.server.inspectorUrl)) - heap;
    report.line({
      name: `turn with a subagent beside ${SESSIONS - 1}: p95`,
      unit: 'ms',
      now: crowd,
      against: { name: 'alone', values: alone },
      aim: { most: (3 * SESSIONS) / availableParallelism(), of: 'alone' },
    });
    report.line({
      name: 'heap of a session with a subagent',
      unit: 'MiB',
      now: [left / (rounds * (SESSIONS + 5))],
      aim: { most: 3 },
    });
  } finally {
    await target.close();
  }
}
