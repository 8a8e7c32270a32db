/** Tests the random lines with denied commands, which a fuzz target uses. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCommandLineReader } from '#server/permissions/command-line/command-line-reader.ts';
import { linePairs } from '../../../fuzz/deny-lines.ts';

test('most of the lines are readable', async () => {
  const reader = createCommandLineReader();
  let readable = 0;
  for (const { denied } of fc.sample(linePairs, { seed: 1, numRuns: 500 }))
    if (!(await reader.read(denied)).unreadable) readable++;
  expect(readable).toBeGreaterThan(250);
});
