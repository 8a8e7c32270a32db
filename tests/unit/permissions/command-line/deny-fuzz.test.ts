/** Tests the random lines with denied commands, which a fuzz target uses. */
import { expect, test } from 'vitest';
import { createCommandLineReader } from '#server/permissions/command-line/command-line-reader.ts';
import { seeded } from '#support/random.ts';
import { randomLines } from '../../../fuzz/deny-lines.ts';

test('most of the lines are readable', async () => {
  const reader = createCommandLineReader();
  const random = seeded(1);
  let readable = 0;
  for (let count = 0; count < 500; count++) if (!(await reader.read(randomLines(random).denied)).unreadable) readable++;
  expect(readable).toBeGreaterThan(250);
});
