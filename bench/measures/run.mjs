// `service-code run` with a running server: from the spawn of the command to its exit, with a model that answers immediately.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { inTurn } from '../rounds.mjs';
import { openTarget } from './turns.mjs';

/** Runs one prompt in the target's home and returns the milliseconds to the exit. */
async function timed(directory, { home, project }) {
  const begun = performance.now();
  const child = spawn(process.execPath, [join(directory, 'bin/service-code.cjs'), 'run', 'Tell me.'], {
    cwd: project,
    env: { ...process.env, SERVICE_CODE_HOME: home, SERVICE_CODE_URL: '', SERVICE_CODE_TOKEN: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stdout.resume();
  child.stderr.on('data', (text) => (errors += text));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`run ended with ${code}: ${errors}`);
  return performance.now() - begun;
}

export async function measureRun({ builds: [directory], model, quick, report }) {
  const target = await openTarget({ directory, model });
  try {
    const run = [() => timed(directory, target)];
    await inTurn(2, run, (start) => start());
    const [now] = await inTurn(quick ? 4 : 12, run, (start) => start());
    report.line({
      name: 'run with a running server, from spawn to exit',
      unit: 'ms',
      now,
      aim: { most: 1000 },
    });
  } finally {
    await target.close();
  }
}
