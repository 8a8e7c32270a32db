/**
 * Runs every fuzz target with a fixed seed. A failure reports the smallest input that fails, its seed and its path.
 * `npm run fuzz` runs this file for a given time with a random seed (`FUZZ_SECONDS`, `FUZZ_SEED`, `FUZZ_TARGET`), or a
 * reported path (`FUZZ_PATH`).
 */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { fuzzTargets } from '../fuzz/targets.ts';

const CASES = 10_000;
/** Number of cases after which the time is checked. */
const TIMED_CASES = 500;
/** Limits a case that hangs and the search for a smaller input, which then reports the smallest one found. */
const LIMIT_MS = 300_000;

const { FUZZ_SEED = '1', FUZZ_SECONDS, FUZZ_TARGET = '', FUZZ_PATH = '' } = process.env;
const targets = Object.entries(fuzzTargets).filter(([name]) => FUZZ_TARGET === '' || name === FUZZ_TARGET);
const share = (Number(FUZZ_SECONDS ?? 0) * 1000) / targets.length;
const isTimed = FUZZ_SECONDS !== undefined && FUZZ_PATH === '';

it.each(targets)('fuzz %s', { timeout: LIMIT_MS + 60_000 + share }, async (name, property) => {
  const end = isTimed ? performance.now() + share : -Infinity;
  const numRuns = isTimed ? TIMED_CASES : CASES;
  let cases = 0;
  for (let seed = Number(FUZZ_SEED); cases === 0 || performance.now() < end; seed += 1) {
    await fc.assert(property, {
      seed,
      path: FUZZ_PATH,
      numRuns,
      interruptAfterTimeLimit: LIMIT_MS,
      markInterruptAsFailure: true,
    });
    cases += numRuns;
  }
  if (isTimed) process.stdout.write(`${name}: ${cases} cases\n`);
  expect(cases).toBeGreaterThan(0);
});
