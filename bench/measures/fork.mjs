// A copy of a session of 2,000 turns: one that was not read (with a current and with an outdated index row), one that
// was read and is not loaded, and one that is loaded. The time of copying its files alone is subtracted.
import { cp, rm } from 'node:fs/promises';
import { createClient } from '../client.mjs';
import { makeLongSession } from '../journals.mjs';
import { median } from '../rounds.mjs';
import { cpuMs, makeHome, startBuilt } from '../processes.mjs';

const TURNS = 2000;
const ROUNDS = 5;

export async function measureFork({ builds, model, report }) {
  const { home, project, remove } = await makeHome(model.url);
  const { id, folder } = await makeLongSession({ build: builds[0], home, project }, TURNS);
  let server = await startBuilt(builds[0], { home });
  let client = createClient(server);
  const timed = async (work) => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  };
  const fork = () => timed(() => client.api('POST', `/sessions/${id}:fork`));
  const copy = async () => {
    const target = `${folder}-copied`;
    const ms = await timed(() => cp(folder, target, { recursive: true }));
    await rm(target, { recursive: true });
    return ms;
  };
  try {
    await client.api('GET', '/sessions');
    const first = await fork();
    const copying = [];
    for (let round = 0; round < ROUNDS; round += 1) copying.push(await copy());
    const alone = median(copying);
    const measure = async (name) => {
      const now = [];
      const cpu = cpuMs(server.pid);
      for (let round = 0; round < ROUNDS; round += 1) now.push(Math.max(0, (await fork()) - alone));
      report.line({ name, unit: 'ms', now, aim: { most: 200 } });
      report.note(`CPU of a fork: ${((cpuMs(server.pid) - cpu) / ROUNDS).toFixed(0)} ms`);
    };
    const name = `fork of ${TURNS.toLocaleString('en')} turns beyond the copy`;
    // The journal was extended without updating the index.
    report.line({ name: `${name}: first, unknown to the index`, unit: 'ms', now: [Math.max(0, first - alone)] });
    await measure(`${name}: not loaded, p50`);
    await client.api('POST', `/sessions/${id}:restore`);
    await measure(`${name}: loaded, p50`);
    // The index now has the same row as after a server that ran the turns.
    client.close();
    await server.stop('SIGTERM');
    const known = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      server = await startBuilt(builds[0], { home });
      client = createClient(server);
      await client.api('GET', '/sessions');
      known.push(Math.max(0, (await fork()) - alone));
      if (round === ROUNDS - 1) break;
      client.close();
      await server.stop('SIGTERM');
    }
    report.line({ name: `${name}: first`, unit: 'ms', now: known, aim: { most: 200 } });
    report.note(`copying its files alone: ${alone.toFixed(1)} ms`);
  } finally {
    client.close();
    await server.stop('SIGTERM');
    remove();
  }
}
