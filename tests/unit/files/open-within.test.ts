/** A path to a missing entry is refused outside the work directory, like one to an existing entry. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { within, type Within } from '#server/files/open-within.ts';
import type { RelativePath } from '#server/files/work-directory.ts';
import { temporaryHome } from '#support/temporary-home.ts';

let paths: Within;
beforeEach(async () => {
  const base = await temporaryHome();
  const [root, outside] = [join(base, 'work'), join(base, 'outside')];
  await mkdir(join(root, 'inside'), { recursive: true });
  await mkdir(outside);
  await writeFile(join(outside, 'secret'), '');
  await writeFile(join(root, 'file'), '');
  await symlink(outside, join(root, 'out'));
  await symlink('inside', join(root, 'in'));
  await symlink('loop', join(root, 'loop'));
  paths = await within({ root, additionalDirs: () => [] });
});

const open = async (path: string) => (await paths.open(path as RelativePath)).close();
const check = (path: string) => paths.check(path as RelativePath);
const escapes = { name: 'fs.path_escapes_session' };

describe('a path through a link that leads outside', () => {
  it.each([
    ['an entry', 'out/secret'],
    ['a missing entry', 'out/none'],
    ['a missing entry of a missing directory', 'out/none/deep/er'],
    ['an entry of a file', 'out/secret/none'],
    ['a name that is too long', `out/${'x'.repeat(300)}`],
    ['a path that is too long', `out/${'x/'.repeat(3000)}x`],
  ])('is refused for %s', async (_, path) => {
    await expect(open(path)).rejects.toMatchObject(escapes);
    await expect(check(path)).rejects.toMatchObject(escapes);
  });
});

describe('a path inside', () => {
  it.each([
    ['a missing entry', 'none/deep', 'ENOENT'],
    ['a missing entry of a link that leads inside', 'in/none', 'ENOENT'],
    ['an entry of a file', 'file/none', 'ENOTDIR'],
    ['an entry of a loop of links', 'loop/none', 'ELOOP'],
  ])('to %s opens nothing and may be used', async (_, path, code) => {
    await expect(open(path)).rejects.toMatchObject({ code });
    await check(path);
  });

  it('that is too long has a specific error', async () => {
    for (const path of ['x'.repeat(300), `inside/${'x/'.repeat(3000)}x`]) {
      await expect(open(path)).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
      await expect(check(path)).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    }
  });
});
