// `POST /sessions`, of a server that has just started and where there are many: rate and CPU of each.
import { cpuMs } from '../processes.mjs';
import { inParallel, inTurn } from '../rounds.mjs';
import { openProcesses } from './turns.mjs';

const WIDTH = 8;
const MANY = 2000;

export async function measureSessions({ builds, model, bare, quick, report }) {
  const { targets, byBuild, close } = await openProcesses({ builds, model, quick });
  const each = quick ? 60 : 100;
  const rounds = quick ? 3 : 6;
  const many = quick ? MANY / 4 : MANY;
  const create = (target, count) =>
    inParallel(count, WIDTH, () => target.client.api('POST', '/sessions', { metadata: { cwd: target.project } }));

  async function measure(target) {
    const cpu = cpuMs(target.server.pid);
    const begun = performance.now();
    await create(target, each);
    const ms = performance.now() - begun;
    return { rate: (1000 * each) / ms, cpu: (cpuMs(target.server.pid) - cpu) / each };
  }

  let made = 0;
  try {
    // V8 compiles for the first thousand and more, of either build: their rate is shown and not judged.
    for (const [existing, judged] of [
      [0, false],
      [many, true],
      [2 * many, true],
    ]) {
      await Promise.all(targets.map((target) => create(target, existing - made)));
      const unit = await bare.cpuOfRequest();
      const samples = await inTurn(rounds, targets, measure);
      made = existing + samples[0].length * each;
      const [rate, rateBefore] = byBuild(samples, (sample) => sample.rate);
      const [cpu, cpuBefore] = byBuild(samples, (sample) => sample.cpu);
      const name = `POST /sessions at ${existing.toLocaleString('en')} sessions`;
      report.line({
        name: `${name}: rate`,
        unit: '/s',
        now: rate,
        before: rateBefore,
        aim: { least: 0.6, of: 'before', judged },
      });
      report.line({
        name: `${name}: CPU`,
        unit: 'ms',
        now: cpu,
        before: cpuBefore,
        against: { name: 'bare request', values: cpu.map(() => unit) },
      });
    }
  } finally {
    await close();
  }
}
