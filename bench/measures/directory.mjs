// The model directory with 5,000 models: time and memory of its list, and what a faulty directory costs.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, heapMiB } from '../client.mjs';
import { watchLoop } from '../loop-blocks.mjs';
import { makeHome, residentMiB, startBuilt, startProgram } from '../processes.mjs';
import { inParallel, inTurn, median } from '../rounds.mjs';

const WARM_UP = 2000;
const LISTS = 20;
const FAULTS = ['large', 'bomb', 'page', 'redirect', 'drip'];
const REFUSED = 'http://127.0.0.1:9/';
const PATH = '/catalog/providers';

async function withServer(directory, model, address, work) {
  const { home, remove } = await makeHome(model.url);
  appendFileSync(join(home, 'config.toml'), `\n[cloud]\nmodel_directory_url = "${address}"\n`);
  const server = await startBuilt(directory, { home, inspect: true });
  const client = createClient(server);
  try {
    // The modules of outgoing requests are loaded, and the heap has the size of a server that has answered some.
    await client.send('POST', '/api/v1/providers:import_registry', { url: REFUSED });
    await inParallel(WARM_UP, 4, () => client.api('GET', '/config'));
    return await work(server, client);
  } finally {
    client.close();
    await server.stop();
    remove();
  }
}

/** Counts the models of the list. */
const modelsOf = ({ items }) => items.reduce((sum, { models }) => sum + models.length, 0);

const round = (directory, model, address) =>
  withServer(directory, model, address, async (server, client) => {
    const before = await heapMiB(server.inspectorUrl);
    const longestBlock = await watchLoop(server.inspectorUrl);
    const started = performance.now();
    const models = modelsOf(await client.api('GET', PATH));
    const first = performance.now() - started;
    const block = await longestBlock();
    if (models !== 5000) throw new Error(`${models} models`);
    const heap = (await heapMiB(server.inspectorUrl)) - before;
    const times = [];
    for (let n = 0; n < LISTS; n += 1) {
      const asked = performance.now();
      await client.send('GET', `/api/v1${PATH}`);
      times.push(performance.now() - asked);
    }
    return { first, block, heap, warm: median(times), warmBlock: await longestBlock() };
  });

/** Highest resident memory since the last reset, in MiB. */
const peakMiB = (pid) => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

const faultRound = (directory, model, address) =>
  withServer(directory, model, address, async (server, client) => {
    const before = residentMiB(server.pid);
    // Resets the highest resident memory.
    writeFileSync(`/proc/${server.pid}/clear_refs`, '5');
    const started = performance.now();
    const models = modelsOf(await client.api('GET', PATH));
    if (models === 0) throw new Error('no snapshot');
    return { ms: performance.now() - started, more: peakMiB(server.pid) - before };
  });

export async function measureDirectory({ builds: [directory], model, quick, report }) {
  const served = await startProgram('model-directory');
  try {
    const [samples] = await inTurn(quick ? 1 : 5, [`${served.url}/api.json`], (url) => round(directory, model, url));
    const line = (name, member, unit, most) =>
      report.line({
        name: `5,000 models: ${name}`,
        unit,
        now: samples.map((sample) => sample[member]),
        ...(most && { aim: { most } }),
      });
    line('first list', 'first', 'ms');
    line('first list, longest block', 'block', 'ms', 50);
    line('later lists, p50', 'warm', 'ms', 50);
    line('later lists, longest block', 'warmBlock', 'ms', 50);
    line('heap while cached', 'heap', 'MiB', 15);
    // A directory that refuses connections costs what the snapshot costs.
    const addresses = [REFUSED, ...FAULTS.map((fault) => `${served.url}/${fault}`)];
    const [refused, ...faults] = await inTurn(quick ? 1 : 3, addresses, (url) => faultRound(directory, model, url));
    for (const [place, fault] of FAULTS.entries()) {
      const now = faults[place];
      // The time-out of the directory, and the snapshot.
      report.line({ name: `${fault}: snapshot`, unit: 'ms', now: now.map(({ ms }) => ms), aim: { most: 10_500 } });
      report.line({
        name: `${fault}: peak, more than a refused connection`,
        unit: 'MiB',
        now: now.map(({ more }, at) => more - refused[at].more),
        aim: { most: 40 },
      });
    }
  } finally {
    await served.stop();
  }
}
