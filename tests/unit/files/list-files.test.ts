import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listFiles } from '#server/files/list-files.ts';
import { temporaryHome } from '#support/temporary-home.ts';

it('lists regular files at every depth in code-unit order, without links, pipes and folders', async () => {
  const home = await temporaryHome();
  await mkdir(join(home, 'b/deep/empty'), { recursive: true });
  for (const path of ['b/deep/x', 'b/a', 'c', 'Z', 'é', 'b.txt']) await writeFile(join(home, path), '');
  await symlink('c', join(home, 'link'));
  await symlink('b', join(home, 'folder-link'));
  execFileSync('mkfifo', [join(home, 'pipe')]);
  expect(await listFiles(home)).toEqual(['Z', 'b.txt', 'b/a', 'b/deep/x', 'c', 'é']);
});

it('a missing directory has no files; one that cannot be listed is an error', async () => {
  const home = await temporaryHome();
  await writeFile(join(home, 'file'), '');
  expect(await listFiles(join(home, 'none'))).toEqual([]);
  await expect(listFiles(join(home, 'file'))).rejects.toThrow('ENOTDIR');
});
