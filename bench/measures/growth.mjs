// Turn 1,000 of a session against turn 100 of another on the same server, both less what serializing and sending the
// same bodies costs a bare script.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, follow } from '../client.mjs';
import { cpuMs, runProgram, temporaryFolder } from '../processes.mjs';
import { inTurn, median } from '../rounds.mjs';
import { openTarget } from './turns.mjs';

const TURNS = 8;
/** A machine that is too slow for all the turns shows a shorter session, which meets no aim. */
const FILL_MS = 100_000;

export async function measureGrowth({ builds, model, quick, report }) {
  const rounds = quick ? 4 : 10;
  const early = 100;
  const late = quick ? 400 : 1000;
  const targets = await Promise.all(builds.map((directory) => openTarget({ directory, model })));
  const folder = await temporaryFolder();
  const modelClient = createClient(model);

  /** A session that reaches turn `turn` in the middle of its rounds. */
  async function grown(target, turn) {
    const session = await target.session();
    const events = await follow(target.server, [session.id]);
    const begun = performance.now();
    const wanted = turn - (rounds * TURNS) / 2;
    let reached = 0;
    for (; reached < wanted && performance.now() - begun < FILL_MS; reached += 1) await session.turn(events, 'BRIEF');
    return { target, session, events, turn, whole: reached === wanted, file: undefined };
  }

  async function cpuOfTurn(each, round) {
    const begun = cpuMs(each.target.server.pid);
    for (let n = 0; n < TURNS; n += 1) await each.session.turn(each.events, 'Tell me.');
    const cpu = (cpuMs(each.target.server.pid) - begun) / TURNS;
    // By then every session has come to its place.
    if (round === 2) {
      each.file = join(folder, `${targets.indexOf(each.target)}-${each.turn}.json`);
      await writeFile(each.file, (await modelClient.send('GET', '/last')).text);
    }
    return cpu;
  }

  try {
    const pairs = await Promise.all(
      targets.map(async (target) => [await grown(target, early), await grown(target, late)]),
    );
    const samples = await inTurn(rounds, pairs.flat(), cpuOfTurn);
    const figures = [];
    for (const [place, [first, second]] of pairs.entries()) {
      const url = `${model.url}/v1/chat/completions`;
      const [bareEarly, bareLate] = await runProgram('resend', [url, first.file, second.file]);
      const [cpuEarly, cpuLate] = [samples[2 * place], samples[2 * place + 1]].map(median);
      figures.push({ bareEarly, bareLate, cpuEarly, cpuLate, own: [cpuEarly - bareEarly, cpuLate - bareLate] });
    }
    const [now, before] = figures;
    const ratioOf = ({ own }) => own[1] / own[0];
    const shown = ({ own }) => own.map((ms) => `${ms.toFixed(1)} ms`).join(' and ');
    const whole = pairs.flat().every((each) => each.whole);
    report.line({
      name: whole ? `turn ${late.toLocaleString('en')} against turn ${early}` : 'a late turn against an early one',
      unit: '×',
      now: [ratioOf(now)],
      before: before && [ratioOf(before)],
      aim: { most: 1.6, judged: whole && late === 1000 },
    });
    report.note(
      `turns ${early} and ${late} less the bare script's part: ${shown(now)}${before ? `; before ${shown(before)}` : ''}`,
    );
  } finally {
    modelClient.close();
    await Promise.all(targets.map((target) => target.close()));
  }
}
