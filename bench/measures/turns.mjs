// Sequential turns of one session, and concurrent turns of twenty.
import { createClient, follow, openSession } from '../client.mjs';
import { cpuMs, makeHome, startBuilt } from '../processes.mjs';
import { inTurn, mean, median } from '../rounds.mjs';

const SESSIONS = 20;
const PROCESSES = 2;
/** Warm-up of all processes together: V8 optimizes for thousands of turns, and a server runs for days. */
const WARM_UP_MS = 180_000;

/** Starts a build, with a client. */
export async function openTarget({ directory, model }, options = {}) {
  // Removed after all measurements: after a removal, ext4 checks each of thousands of deleted inodes before it creates
  // a folder.
  const { home, project } = await makeHome(model.url);
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
    },
  };
}

/** Runs `turns` turns in a new session: CPU per turn, and the time of each. */
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

/** Turns per second of concurrent sessions, each with sequential turns; they are archived afterwards. */
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

/**
 * Starts several processes of each build: two processes of one build differ by up to 15 % permanently, depending on
 * V8's optimizations. `byBuild` reads the samples of `inTurn`.
 */
export async function openProcesses({ builds, model, quick }) {
  const count = quick ? 1 : PROCESSES;
  const targets = await Promise.all(
    builds.flatMap((directory) => Array.from({ length: count }, () => openTarget({ directory, model }))),
  );
  return {
    targets,
    /** Returns one figure of the samples as a series per build: the mean of its processes in each round. */
    byBuild: (samples, figure) =>
      builds.map((_, place) => {
        const own = samples.slice(place * count, (place + 1) * count);
        return own[0].map((_first, round) => mean(own.map((rounds) => figure(rounds[round]))));
      }),
    close: () => Promise.all(targets.map((target) => target.close())),
  };
}

const KINDS = [
  { name: 'text turn', text: 'Tell me.', turns: 24 },
  { name: 'Read-tool turn', text: 'READ the file.', turns: 16 },
];

export async function measureTurns({ builds, model, bare, quick, report }) {
  const { targets, byBuild, close } = await openProcesses({ builds, model, quick });
  try {
    // Concurrent turns: sequential ones wait more than they compute, so V8 would still compile during the measurement.
    const warmUp = async (target) => {
      for (const { text, turns } of KINDS) await turnsPerSecond(target, text, turns);
    };
    await inTurn(quick ? 1 : 50, targets, warmUp, WARM_UP_MS);
    for (const { name, text, turns } of KINDS) {
      const unit = await bare.cpuOfRequest();
      const samples = await inTurn(quick ? 3 : 16, targets, (target) => turnsOf(target, text, turns));
      const [now, before] = byBuild(samples, ({ cpu }) => cpu);
      report.line({
        name: `${name}: CPU`,
        unit: 'ms',
        now,
        before,
        against: { name: 'bare request', values: now.map(() => unit) },
        aim: { most: 1.05, of: 'before' },
      });
      const [p50, p50Before] = byBuild(samples, ({ p50 }) => p50);
      report.line({ name: `${name}: p50`, unit: 'ms', now: p50, before: p50Before });
    }
    const rates = await inTurn(quick ? 2 : 5, targets, (target) => turnsPerSecond(target, 'Tell me.', quick ? 4 : 6));
    const [now, before] = byBuild(rates, (rate) => rate);
    report.line({
      name: `${SESSIONS} sessions at once`,
      unit: 'turns/s',
      now,
      before,
      aim: { least: 0.95, of: 'before' },
    });
  } finally {
    await close();
  }
}
