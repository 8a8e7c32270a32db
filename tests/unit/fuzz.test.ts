/**
 * Runs every fuzz target with random input from a fixed seed. `npm run fuzz` runs this file for a given time with a
 * random seed (`FUZZ_SECONDS`, `FUZZ_SEED`, `FUZZ_TARGET`).
 */
import { expect, it } from 'vitest';
import { seeded } from '#support/random.ts';
import { fuzzTargets } from '../fuzz/targets.ts';

const CASES = 10_000;
const seed = Number(process.env.FUZZ_SEED ?? 1);
const seconds = process.env.FUZZ_SECONDS === undefined ? undefined : Number(process.env.FUZZ_SECONDS);
const wanted = process.env.FUZZ_TARGET ?? '';
const targets = Object.entries(fuzzTargets).filter(([name]) => wanted === '' || name === wanted);
const share = ((seconds ?? 0) * 1000) / targets.length;

it.each(targets)('fuzz %s', { timeout: 360_000 + share }, async (name, target) => {
  const random = seeded(seed);
  const end = performance.now() + share;
  let cases = 0;
  try {
    for (; seconds === undefined ? cases < CASES : performance.now() < end; cases += 1) await target(random);
  } catch (error) {
    throw new Error(`case ${cases} of ${name} with FUZZ_SEED=${seed}`, { cause: error });
  }
  if (seconds !== undefined) process.stdout.write(`${name}: ${cases} cases\n`);
  expect(cases).toBeGreaterThan(0);
});
