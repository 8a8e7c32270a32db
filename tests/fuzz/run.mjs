#!/usr/bin/env node
// Runs the fuzz targets with a random seed: npm run fuzz -- [--seconds 60] [--seed N] [--only <target>]
// Repeats a reported failure: npm run fuzz -- --only <target> --seed N --path <path>
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(randomInt(2 ** 30)) },
    only: { type: 'string', default: '' },
    path: { type: 'string', default: '' },
  },
});
const root = join(import.meta.dirname, '../..');
process.stdout.write(`seed ${values.seed}, ${values.seconds} s\n`);
const env = {
  ...process.env,
  FUZZ_SECONDS: values.seconds,
  FUZZ_SEED: values.seed,
  FUZZ_TARGET: values.only,
  FUZZ_PATH: values.path,
};
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const args = [vitest, 'run', '--project', 'unit', 'tests/unit/fuzz.test.ts', '--disable-console-intercept'];
process.exit(spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1);
