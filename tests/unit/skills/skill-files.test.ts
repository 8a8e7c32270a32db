/** The cache of read skill files. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { createSkillFiles, type Reading } from '#server/skills/skill-files.ts';
import { putFile } from '#support/files.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder({ inMemory: true });

it('drops what no catalog uses as soon as it has more than 1,000 results', async () => {
  await Promise.all(Array.from({ length: 1001 }, (_, number) => putFile(join(folder.path, `s${number}.md`), 'Text.')));
  const runtime = createLocalRuntime();
  let reads = 0;
  const readFile: typeof runtime.readFile = (path, limits) => {
    reads += 1;
    return runtime.readFile(path, limits);
  };

  /** Reads all files twice, with a check in between; returns how many were read the second time. */
  async function readAgain(used: (readings: Reading[]) => Reading[]): Promise<number> {
    const files = createSkillFiles({ ...runtime, readFile });
    const { readings } = await files.read({ path: folder.path });
    files.prune(() => used(readings));
    const before = reads;
    await files.read({ path: folder.path });
    return reads - before;
  }

  expect(await readAgain((readings) => readings)).toBe(0);
  expect(await readAgain((readings) => readings.slice(1))).toBe(1);
  expect(await readAgain(() => [])).toBe(1001);
});
