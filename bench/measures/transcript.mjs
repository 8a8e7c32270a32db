// A page of 50 turns of a session of 5,000 turns that is not loaded: the first, for which the journal is folded, and
// those that follow while the fold is kept.
import { createClient } from '../client.mjs';
import { makeLongSession } from '../journals.mjs';
import { median } from '../rounds.mjs';
import { cpuMs, makeHome, startBuilt } from '../processes.mjs';

const TURNS = 5000;
const PAGE = 50;
const READS = 40;

export async function measureTranscript({ builds, model, report }) {
  const { home, project, remove } = await makeHome(model.url);
  const { id } = await makeLongSession({ build: builds[0], home, project }, TURNS);
  const server = await startBuilt(builds[0], { home });
  const client = createClient(server);
  const path = `/sessions/${id}/transcript?agent_id=main&page_size=${PAGE}`;
  async function read(query = '') {
    const cpu = cpuMs(server.pid);
    const begun = performance.now();
    const page = await client.api('GET', path + query);
    const ms = performance.now() - begun;
    return { ms, cpu: cpuMs(server.pid) - cpu, turns: page.items.filter(({ kind }) => kind === 'turn') };
  }
  try {
    await client.api('GET', '/sessions');
    const cold = await read();
    const [oldest] = cold.turns;
    const whole = cold.turns.length === PAGE && oldest.ordinal === TURNS - PAGE;
    const warm = [];
    for (let n = 1; n <= READS; n += 1) warm.push(await read(n % 2 ? '' : `&before_turn=t${PAGE * n}`));
    const name = `page of ${PAGE} turns of ${TURNS.toLocaleString('en')}`;
    report.line({ name: `${name}: first`, unit: 'ms', now: [cold.ms], aim: { most: 2000, judged: whole } });
    report.line({ name: `${name}: then, p50`, unit: 'ms', now: warm.map(({ ms }) => ms) });
    report.note(`CPU: ${cold.cpu.toFixed(0)} ms, then ${median(warm.map(({ cpu }) => cpu)).toFixed(1)} ms`);
  } finally {
    client.close();
    await server.stop('SIGTERM');
    remove();
  }
}
