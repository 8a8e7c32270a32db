/** Random compositions around denied commands. Other ones: FUZZ_SEED=7; more of them: FUZZ_CASES=100000. */
import { expect, test } from 'vitest';
import { createCommandLineReader } from '#server/permissions/command-line/command-line-reader.ts';
import { seeded } from '#support/random.ts';
import { denyLines, randomLines } from '../../../fuzz/deny-lines.ts';

const CASES = Number(process.env.FUZZ_CASES ?? 10_000);
const SEED = Number(process.env.FUZZ_SEED ?? 1);

test(
  'a denied command is denied or unreadable in whatever stands around it',
  { timeout: 60_000 + CASES * 30 },
  async () => {
    const random = seeded(SEED);
    for (let count = 0; count < CASES; count++) await denyLines(random);
  },
);

test('most of the lines can be read', async () => {
  const reader = createCommandLineReader();
  const random = seeded(SEED);
  let readable = 0;
  for (let count = 0; count < 500; count++) if (!(await reader.read(randomLines(random).denied)).unreadable) readable++;
  expect(readable).toBeGreaterThan(250);
});
