/** What the thread says of entries is what the system says. */
import { lstat, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { factsOf } from '#server/workspace-files/entry-facts.ts';
import { within } from '#server/files/open-within.ts';
import { relativePath } from '#server/files/work-directory.ts';
import { temporaryHome } from '#support/temporary-home.ts';

test('of files, directories and links themselves, in the order of the names, whatever is asked beside', async () => {
  const root = await temporaryHome();
  const odd = 'a\nb\u{1F600} "c"';
  await writeFile(join(root, 'file'), 'twelve bytes');
  await writeFile(join(root, odd), '');
  await mkdir(join(root, 'folder'));
  await symlink('/nowhere', join(root, 'link'));
  const inside = await within({ root, additionalDirs: () => [] });
  const place = await inside.open(relativePath('.'));
  const names = ['link', odd, 'gone', 'folder', 'file'];
  const expected = await Promise.all(
    names.map(async (name) => {
      if (name === 'gone') return undefined;
      const { mode, size, mtimeMs, ino } = await lstat(join(root, name));
      return { mode, size, mtimeMs, ino };
    }),
  );
  const [all, none, reversed, fault, last] = await Promise.allSettled([
    factsOf(place, names),
    factsOf(place, []),
    factsOf(place, names.toReversed()),
    factsOf(place, ['x'.repeat(300)]),
    factsOf(place, ['file']),
  ]);
  await place.close();
  expect(all).toEqual({ status: 'fulfilled', value: expected });
  expect(none).toEqual({ status: 'fulfilled', value: [] });
  expect(reversed).toEqual({ status: 'fulfilled', value: expected.toReversed() });
  expect(fault).toMatchObject({ status: 'rejected', reason: { code: 'ENAMETOOLONG' } });
  expect(last).toEqual({ status: 'fulfilled', value: expected.slice(-1) });
});
