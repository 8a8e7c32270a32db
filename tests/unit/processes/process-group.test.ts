import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { signalGroup } from '#server/processes/process-group.ts';
import { buildProgram, programFolder, startProgram } from '#support/programs.ts';

test('a command does not outlive the server, even one that ignores SIGTERM', async () => {
  const folder = await programFolder();
  const program = startProgram(await buildProgram('exit-during-bash', folder));
  const [groupId] = z
    .tuple([z.number().int().positive()])
    .rest(z.unknown())
    .parse(await once(program, 'message'));
  await once(program, 'exit');
  await expect.poll(() => signalGroup(groupId, 0)).toBe(false);
  await rm(folder, { recursive: true });
});
