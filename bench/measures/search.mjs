// Search in homes of many sessions: filling the index, queries, a fresh message, and what turns notice of it.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import { createClient, follow, openSession } from '../client.mjs';
import { watchLoop } from '../loop-blocks.mjs';
import { cpuMs, residentMiB, startBuilt } from '../processes.mjs';
import { inParallel, median } from '../rounds.mjs';
import { copyHome, seedFor } from '../seeds/home-copy.mjs';
import { COMMON_WORD, identifier, TENTH_WORD } from '../seeds/texts.mjs';

const ROUNDS = 60;
/** Requests after which the heap of the main thread has the size of a server that has answered some. */
const WARM_UP = 2000;
const FRESH = 40;
const TURNS = 60;
const MOST_MS = 50;
const SLOWEST_MS = 550;
const MIB = 2 ** 20;
const POLL_MS = 250;
/** Larger indexes take longer to fill than a run of measures: theirs was filled when the home was seeded. */
const MOST_FILLED = 10_000;

/** All queries of a kind differ: the results of a query are not cached, but the pages of the file are. */
const QUERIES = [
  { name: 'a word that a tenth has', most: 30, body: (n) => ({ query: TENTH_WORD, page_size: 10 + (n % 20) }) },
  { name: 'a word that most have', most: 400, body: (n) => ({ query: COMMON_WORD, page_size: 10 + (n % 20) }) },
  { name: 'both words', most: 400, body: (n) => ({ query: `${TENTH_WORD} ${COMMON_WORD}`, page_size: 10 + (n % 20) }) },
  { name: 'literal', most: 150, body: (n) => ({ query: identifier(n * 97), mode: 'literal' }) },
  { name: 'literal that most have', most: 150, body: () => ({ query: COMMON_WORD.slice(1), mode: 'literal' }) },
  { name: 'two Han characters, literal', most: 150, body: () => ({ query: '问题', mode: 'literal' }) },
];

const at = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))];

const stateOf = async (client) => (await client.api('POST', '/search', { query: 'filled', page_size: 1 })).index_state;

/** Times of turns in a new session, in ms. */
async function turns({ server, client, project }) {
  const session = await openSession(server, client, project);
  const events = await follow(server, [session.id]);
  const times = [];
  for (let n = 0; n < TURNS; n += 1) times.push(await session.turn(events, 'Tell me.'));
  events.close();
  return times;
}

/** Fills the index from nothing, while turns run. */
async function measureFill({ server, client, block, name, project, report }) {
  await turns({ server, client, project });
  await block();
  const begun = performance.now();
  const cpu = cpuMs(server.pid);
  await stateOf(client);
  const during = await turns({ server, client, project });
  const state = await stateOf(client);
  const isMeasured = state.state === 'building';
  const turnCpu = cpuMs(server.pid) - cpu;
  const { documents: before } = state;
  while ((await stateOf(client)).state !== 'ready') await delay(POLL_MS);
  const ms = performance.now() - begun;
  const spent = cpuMs(server.pid) - cpu - turnCpu;
  const { documents } = await stateOf(client);
  const blocked = await block();
  const after = await turns({ server, client, project });
  report.line({
    name: `${name}: documents per second of CPU of a fill`,
    unit: '/s',
    now: [(documents - before) / (spent / 1000)],
    aim: { least: 2000 },
  });
  report.line({ name: `${name}: first fill, at most half of a core`, unit: 's', now: [ms / 1000] });
  report.line({ name: '  longest block meanwhile', unit: 'ms', now: [blocked], aim: { most: MOST_MS } });
  report.line({
    name: `${name}: a turn during the fill`,
    unit: 'ms',
    now: [median(during)],
    against: { name: 'one without', values: [median(after)] },
    aim: { most: 1.2, of: 'one without', judged: isMeasured },
  });
}

async function measureQueries({ client, block, name, report }) {
  let slowest = 0;
  for (const { name: kind, most, body } of QUERIES) {
    await block();
    const times = [];
    const ends = new Set();
    for (let n = 0; n < ROUNDS; n += 1) {
      const begun = performance.now();
      const { incomplete } = await client.api('POST', '/search', body(n));
      times.push(performance.now() - begun);
      if (incomplete) ends.add(incomplete);
    }
    slowest = Math.max(slowest, ...times);
    report.line({ name: `${name}: search, ${kind}, p50`, unit: 'ms', now: times, aim: { most } });
    report.line({ name: '  longest block meanwhile', unit: 'ms', now: [await block()], aim: { most: MOST_MS } });
    report.note(
      `longest ${Math.max(...times).toFixed(0)} ms${ends.size > 0 ? `; incomplete: ${[...ends].join(', ')}` : ''}`,
    );
  }
  report.line({ name: `${name}: the slowest search`, unit: 'ms', now: [slowest], aim: { most: SLOWEST_MS } });
}

/** Time from the reply to a prompt until a search finds its text. */
async function measureFresh({ server, client, name, project, report }) {
  const session = await openSession(server, client, project);
  const events = await follow(server, [session.id]);
  const times = [];
  for (let n = 0; n < FRESH; n += 1) {
    const word = `fresh${n}x${Date.now()}`;
    const ended = events.next('"prompt.completed"', session.id);
    await client.api('POST', `/sessions/${session.id}/prompts`, { content: [{ type: 'text', text: `Find ${word}` }] });
    const begun = performance.now();
    for (;;) {
      const { items } = await client.api('POST', '/search', { query: word });
      if (items.length > 0) break;
    }
    times.push(performance.now() - begun);
    await ended;
  }
  events.close();
  report.line({ name: `${name}: a fresh message found, p95`, unit: 'ms', now: [at(times, 0.95)], aim: { most: 100 } });
}

function measureFile({ home, name, report }) {
  const cache = join(home, 'cache');
  const path = join(
    cache,
    readdirSync(cache).find((file) => /^search-v\d+\.db$/.test(file)),
  );
  const database = new Database(path);
  const [{ bytes }] = database.prepare('SELECT sum(length(CAST(text AS BLOB))) AS bytes FROM texts').all();
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
  const { size } = statSync(path);
  report.line({ name: `${name}: file of the index`, unit: '× text', now: [size / bytes], aim: { most: 2.6 } });
  report.note(`${(size / MIB).toFixed(0)} MiB for ${(bytes / MIB).toFixed(0)} MiB of text`);
}

/** Whether the search thread has opened the index. */
const isOpen = (home) => readdirSync(join(home, 'cache')).some((file) => /^search-v\d+\.db-shm$/.test(file));

async function onServer({ build, home }, measure) {
  const server = await startBuilt(build, { home, inspect: true });
  const client = createClient(server);
  try {
    const block = await watchLoop(server.inspectorUrl);
    const [{ metadata }] = (await client.api('GET', '/sessions?page_size=1')).items;
    await measure({ server, client, block, project: metadata.cwd });
  } finally {
    client.close();
    await server.stop('SIGTERM');
  }
}

async function measureHome({ build, model, count, report }) {
  const name = `${count.toLocaleString('en')} sessions`;
  const seed = await seedFor(count, build);
  if (!seed) return report.note(`${name}: not seeded; run node bench/seed-sessions.mjs --sessions ${count} first`);
  const isFilled = count > MOST_FILLED;
  const { home, remove } = await copyHome(seed, model, { withSearchIndex: isFilled });
  try {
    if (isFilled) {
      report.note(`${name}: filled in ${(seed.filledMs / 1000).toFixed(0)} s at seeding, ${seed.documents} documents`);
    } else await onServer({ build, home }, (running) => measureFill({ ...running, name, report }));
    await onServer({ build, home }, async (running) => {
      await inParallel(WARM_UP, 4, () => running.client.api('GET', '/config'));
      const before = residentMiB(running.server.pid);
      // The thread starts some seconds after the server.
      const judged = !isOpen(home);
      await measureQueries({ ...running, name, report });
      const grown = residentMiB(running.server.pid) - before;
      const aim = { most: 60, judged };
      report.line({ name: `${name}: memory of the search thread`, unit: 'MiB', now: [grown], aim });
      await measureFresh({ ...running, name, report });
    });
    measureFile({ home, name, report });
  } finally {
    remove();
  }
}

export async function measureSearch({ builds: [build], model, sessions, report }) {
  for (const count of sessions) await measureHome({ build, model, count, report });
}
