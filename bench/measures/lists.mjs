// Lists and batches in homes of many sessions: start, pages, the whole list, batches, and the work of an idle server.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../client.mjs';
import { watchLoop } from '../loop-blocks.mjs';
import { cpuMs, makeHome, startBuilt } from '../processes.mjs';
import { inTurn } from '../rounds.mjs';
import { copyHome, seedFor } from '../seeds/home-copy.mjs';

const WARM_UP = 20;
const ROUNDS = 60;
const STARTS = 5;
const BATCH = 5000;
/** Both indexes are compared with their sources after the start and once a minute. */
const PASS_EVERY_MS = 60_000;
const FIRST_PASSES_MS = 20_000;
const MOST_MS = 50;
const WAIT_MS = 120_000;

const PAGES = [
  { name: 'first page of the v1 list', path: '/api/v1/sessions?page_size=50', most: 10 },
  { name: 'first page of the v2 list', path: '/api/v2/sessions', most: 10 },
  { name: 'by_workspace', path: '/api/v2/sessions?view=by_workspace', most: 40 },
  { name: 'projection of 10,000', path: '/api/v2/sessions?fields=id,archived&page_size=10000', most: 100 },
  { name: 'whole v1 list', path: '/api/v1/sessions' },
];

async function timed(client, method, path, body) {
  const begun = performance.now();
  const { status, text } = await client.send(method, path, body);
  const ms = performance.now() - begun;
  if (status !== 200 || !text.includes('"code":0,')) throw new Error(`${method} ${path}: ${text.slice(0, 200)}`);
  return { ms, text };
}

/** Time from the spawn to the first healthy reply, and from there to the first list, in ms. */
async function started(build, home) {
  const begun = performance.now();
  const server = await startBuilt(build, { home });
  const client = createClient(server);
  await client.send('GET', '/api/v1/healthz');
  const healthy = performance.now() - begun;
  const list = await timed(client, 'GET', '/api/v1/sessions?page_size=50');
  client.close();
  await server.stop('SIGTERM');
  return { healthy, list: list.ms };
}

async function measureStarts({ build, model, home, name, report }) {
  const empty = await makeHome(model.url);
  const [without, many] = await inTurn(STARTS, [empty.home, home], (path) => started(build, path));
  empty.remove();
  const values = (samples, key) => samples.map((sample) => sample[key]);
  report.line({
    name: `${name}: start to the first healthy reply`,
    unit: 'ms',
    now: values(many, 'healthy'),
    against: { name: 'an empty home', values: values(without, 'healthy') },
    aim: { most: 1.1, of: 'an empty home' },
  });
  report.line({ name: `${name}: first list`, unit: 'ms', now: values(many, 'list'), aim: { most: 1000 } });
}

async function measurePages({ client, block, name, report }) {
  for (const { name: page, path, most } of PAGES) {
    const [warmUp, rounds] = most === undefined ? [0, 3] : [WARM_UP, ROUNDS];
    for (let n = 0; n < warmUp; n += 1) await timed(client, 'GET', path);
    await block();
    const times = [];
    for (let n = 0; n < rounds; n += 1) times.push((await timed(client, 'GET', path)).ms);
    report.line({ name: `${name}: ${page}`, unit: 'ms', now: times, ...(most && { aim: { most } }) });
    report.line({ name: '  longest block meanwhile', unit: 'ms', now: [await block()], aim: { most: MOST_MS } });
  }
}

async function measureBatches({ client, block, name, report }) {
  const { text } = await timed(client, 'GET', `/api/v2/sessions?fields=id,archived&page_size=${BATCH}`);
  const ids = JSON.parse(text).data.items.map(({ id }) => id);
  for (const action of ['archive', 'restore']) {
    await block();
    const { ms } = await timed(client, 'POST', `/api/v2/sessions:${action}`, { ids });
    report.line({ name: `${name}: ${action} of ${ids.length}`, unit: 'ms', now: [ms] });
    report.line({ name: '  longest block meanwhile', unit: 'ms', now: [await block()], aim: { most: MOST_MS } });
  }
}

/** Without a watch of the loop, which takes as much time as an idle server. */
async function measureIdle({ build, home, name, report }) {
  const server = await startBuilt(build, { home });
  const client = createClient(server);
  await timed(client, 'GET', '/api/v1/sessions?page_size=1');
  client.close();
  await delay(FIRST_PASSES_MS);
  const cpu = cpuMs(server.pid);
  await delay(PASS_EVERY_MS);
  const share = ((cpuMs(server.pid) - cpu) / PASS_EVERY_MS) * 100;
  report.line({ name: `${name}: CPU of an idle server`, unit: '% of a core', now: [share], aim: { most: 1 } });
  await server.stop('SIGTERM');
}

async function measurePasses({ block, name, report, passes, ms }) {
  await block();
  await delay(ms);
  const longest = await block();
  report.line({ name: `${name}: longest block of ${passes}`, unit: 'ms', now: [longest], aim: { most: MOST_MS } });
}

async function measureHome({ build, model, count, report }) {
  const name = `${count.toLocaleString('en')} sessions`;
  const seed = await seedFor(count, build);
  if (!seed) return report.note(`${name}: not seeded; run node bench/seed-sessions.mjs --sessions ${count} first`);
  const { home, remove } = await copyHome(seed, model);
  try {
    await measureStarts({ build, model, home, name, report });
    await measureIdle({ build, home, name, report });
    const server = await startBuilt(build, { home, inspect: true });
    const block = await watchLoop(server.inspectorUrl);
    const client = createClient(server, { waitMs: WAIT_MS });
    try {
      await timed(client, 'GET', '/api/v1/sessions?page_size=1');
      const measured = { client, block, name, report };
      await measurePasses({ ...measured, passes: 'the first passes', ms: FIRST_PASSES_MS });
      await measurePages(measured);
      await measureBatches(measured);
      await measurePasses({ ...measured, passes: 'a pass a minute', ms: PASS_EVERY_MS });
    } finally {
      client.close();
      await server.stop('SIGTERM');
    }
  } finally {
    remove();
  }
}

export async function measureLists({ builds: [build], model, sessions, report }) {
  for (const count of sessions) await measureHome({ build, model, count, report });
}
