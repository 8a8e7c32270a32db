// What two hundred skills, and plugins with hooks that match nothing, cost a conversation.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, follow, openSession } from '../client.mjs';
import { converse } from '../conversation.mjs';
import { makeHome, startBuilt, temporaryFolder } from '../processes.mjs';
import { inTurn, mean, median } from '../rounds.mjs';

const SKILLS = 200;
const PLUGINS = 10;
const HOOKS = 20;
const LISTS = 20;
const PROCESSES = 4;
const ENOUGH_MS = 90_000;

async function homeWithSkills(model, count) {
  const made = await makeHome(model.url);
  for (let n = 0; n < count; n += 1) {
    const folder = join(made.home, 'skills', `skill-${n}`);
    await mkdir(folder, { recursive: true });
    const head = `---\nname: skill-${n}\ndescription: Does the work number ${n} of many, when somebody asks for it\n---\n`;
    await writeFile(join(folder, 'SKILL.md'), head + 'One line of instructions.\n'.repeat(40));
  }
  return made;
}

/** Lists the skills of the session repeatedly; returns the median time in ms. */
async function listSkills(client, session) {
  const times = [];
  for (let n = 0; n < LISTS; n += 1) {
    const asked = performance.now();
    await client.api('GET', `/sessions/${session.id}/skills`);
    times.push(performance.now() - asked);
  }
  return median(times);
}

async function round(directory, home) {
  let list;
  const figures = await converse(
    directory,
    home,
    async (client, session) => (list = await listSkills(client, session)),
  );
  return { ...figures, list };
}

async function measureHome({ builds: [directory], model, quick, report }) {
  const homes = await Promise.all([homeWithSkills(model, SKILLS), homeWithSkills(model, 0)]);
  try {
    const [many, none] = await inTurn(quick ? 2 : 7, homes, (home) => round(directory, home));
    const line = (name, member, aim) =>
      report.line({
        name: `${SKILLS} skills: ${name}`,
        unit: 'ms',
        now: many.map((one) => one[member]),
        against: { name: 'none', values: none.map((one) => one[member]) },
        ...(aim && { aim: { most: aim, of: 'none' } }),
      });
    const more = (name, member, unit, most) =>
      report.line({
        name: `${SKILLS} skills: ${name}`,
        unit,
        now: many.map((one, place) => one[member] - none[place][member]),
        aim: { most },
      });
    line('start', 'start', 1.02);
    more('first prompt, more than without', 'first', 'ms', 800);
    line('later prompts, p50', 'later', 1.05);
    more('heap, more than without', 'heap', 'MiB', 2);
    report.line({
      name: `${SKILLS} skills: unchanged list, p50`,
      unit: 'ms',
      now: many.map(({ list }) => list),
      aim: { most: 30 },
    });
  } finally {
    for (const { remove } of homes) remove();
  }
}

/** A server with as many plugins, each with hooks of calls that no call matches. */
async function openWithPlugins({ directory, model, count }) {
  const { home, project, remove } = await makeHome(model.url);
  const server = await startBuilt(directory, { home });
  const client = createClient(server);
  const hooks = Array.from({ length: HOOKS }, (_, n) => ({
    event: n % 2 === 0 ? 'PreToolUse' : 'PostToolUse',
    matcher: `^Nothing${n}$`,
    command: 'true',
  }));
  for (let n = 0; n < count; n += 1) {
    const source = await temporaryFolder();
    await writeFile(join(source, 'service.plugin.json'), JSON.stringify({ name: `plugin-${n}`, hooks }));
    await client.api('POST', '/plugins', { source });
  }
  const session = await openSession(server, client, project);
  const events = await follow(server, [session.id]);
  return {
    turn: () => session.turn(events, 'TENFOLD reading.'),
    async close() {
      events.close();
      client.close();
      await server.stop();
      remove();
    },
  };
}

async function measureHooks({ builds: [directory], model, quick, report }) {
  // Processes of one build differ permanently, so that one of each kind would not be comparable.
  const counts = Array.from({ length: quick ? 2 : 2 * PROCESSES }, (_, n) => (n % 2 === 0 ? PLUGINS : 0));
  const targets = await Promise.all(counts.map((count) => openWithPlugins({ directory, model, count })));
  try {
    const turns = async (target, many) => {
      const times = [];
      for (let n = 0; n < many; n += 1) times.push(await target.turn());
      return median(times);
    };
    await inTurn(1, targets, (target) => turns(target, quick ? 5 : 60));
    const samples = await inTurn(quick ? 3 : 8, targets, (target) => turns(target, 15), ENOUGH_MS);
    const ofKind = (place) =>
      samples[0].map((_, at) => mean(samples.filter((_own, n) => n % 2 === place).map((own) => own[at])));
    const [hooked, plain] = [ofKind(0), ofKind(1)];
    report.line({
      name: `${PLUGINS} plugins with ${HOOKS} hooks: turn of ten calls`,
      unit: 'ms',
      now: hooked,
      against: { name: 'none', values: plain },
      aim: { most: 1.05, of: 'none' },
    });
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
}

export async function measureSkills(context) {
  await measureHome(context);
  await measureHooks(context);
}
