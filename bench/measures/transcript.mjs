// A page of 50 turns of a session of 5,000 turns that is not loaded: the first, for which the journal is folded, and
// those that follow while the fold is kept.
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, follow, openSession } from '../client.mjs';
import { grown } from '../journals.mjs';
import { median } from '../rounds.mjs';
import { cpuMs, makeHome, startBuilt } from '../processes.mjs';

const TURNS = 5000;
const PAGE = 50;
const READS = 40;

export async function measureTranscript({ builds, model, report }) {
  const { home, project, remove } = await makeHome(model.url);
  const first = await startBuilt(builds[0], { home });
  const writer = createClient(first);
  const session = await openSession(first, writer, project);
  const events = await follow(first, [session.id]);
  for (let turn = 0; turn < 2; turn += 1) await session.turn(events, 'READ the file.');
  events.close();
  writer.close();
  await first.stop('SIGTERM');
  const sessions = join(home, 'sessions');
  const [workspace] = await readdir(sessions);
  const journal = join(sessions, workspace, session.id, 'journal.ndjson');
  await writeFile(journal, grown(await readFile(journal, 'utf8'), TURNS));

  const server = await startBuilt(builds[0], { home });
  const client = createClient(server);
  const path = `/sessions/${session.id}/transcript?agent_id=main&page_size=${PAGE}`;
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
    report.line({
      name: `${name}: then, p50`,
      unit: 'ms',
      now: warm.map(({ ms }) => ms),
      aim: { most: 10, judged: whole },
    });
    report.note(`CPU: ${cold.cpu.toFixed(0)} ms, then ${median(warm.map(({ cpu }) => cpu)).toFixed(1)} ms`);
  } finally {
    client.close();
    await server.stop('SIGTERM');
    remove();
  }
}
