// Turns of one session after another, and of twenty at once.
import { createClient, follow, openSession } from '../client.mjs';
import { cpuMs, makeHome, startBuilt } from '../processes.mjs';
import { inTurn, median, WARM_UP_MS } from '../rounds.mjs';

const SESSIONS = 20;

/** The build, running, with a client. */
export async function openTarget({ directory, model }, options = {}) {
  const { home, project, remove } = await makeHome(model.url);
  const server = await startBuilt(directory, { home, ...options });
  const client = createClient(server);
  return {
    server,
    client,
    home,
    project,
    session: () => openSession(server, client, project),
    async close() {
      client.close();
      await server.stop();
      remove();
    },
  };
}

/** One session of its own with so many turns: CPU of a turn, and the time that each took. */
async function turnsOf(target, text, turns) {
  const session = await target.session();
  const events = await follow(target.server, [session.id]);
  await session.turn(events, text);
  const times = [];
  const begun = cpuMs(target.server.pid);
  for (let n = 0; n < turns; n += 1) times.push(await session.turn(events, text));
  const cpu = (cpuMs(target.server.pid) - begun) / turns;
  events.close();
  return { cpu, p50: median(times) };
}

/** Turns a second of so many sessions that each run one after the other; they are archived afterwards. */
async function turnsPerSecond(target, text, turns) {
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => target.session()));
  const events = await follow(
    target.server,
    sessions.map(({ id }) => id),
  );
  const begun = performance.now();
  await Promise.all(
    sessions.map(async (session) => {
      for (let n = 0; n < turns; n += 1) await session.turn(events, text);
    }),
  );
  const rate = (SESSIONS * turns * 1000) / (performance.now() - begun);
  events.close();
  for (const { id } of sessions) await target.client.api('POST', `/sessions/${id}:archive`);
  return rate;
}

export async function measureTurns({ builds, model, bare, quick, report }) {
  const targets = await Promise.all(builds.map((directory) => openTarget({ directory, model })));
  try {
    for (const [name, text, turns] of [
      ['text turn', 'Tell me.', 24],
      ['Read-tool turn', 'READ the file.', 16],
    ]) {
      // Many at once: one after the other waits more than it computes, and V8 still compiles when it is counted.
      await inTurn(quick ? 1 : 50, targets, (target) => turnsPerSecond(target, text, turns), WARM_UP_MS);
      const unit = await bare.cpuOfRequest();
      const [now, before] = await inTurn(quick ? 3 : 24, targets, (target) => turnsOf(target, text, turns));
      report.line({
        name: `${name}: CPU`,
        unit: 'ms',
        now: now.map(({ cpu }) => cpu),
        before: before?.map(({ cpu }) => cpu),
        against: { name: 'bare request', values: now.map(() => unit) },
        aim: { most: 0.55, of: 'before' },
      });
      report.line({
        name: `${name}: p50`,
        unit: 'ms',
        now: now.map(({ p50 }) => p50),
        before: before?.map(({ p50 }) => p50),
      });
    }
    await inTurn(1, targets, (target) => turnsPerSecond(target, 'Tell me.', 3));
    const perSecond = (target) => turnsPerSecond(target, 'Tell me.', quick ? 4 : 6);
    const [now, before] = await inTurn(quick ? 2 : 5, targets, perSecond);
    report.line({
      name: `${SESSIONS} sessions at once`,
      unit: 'turns/s',
      now,
      before,
      aim: { least: 1.8, of: 'before' },
    });
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
}
