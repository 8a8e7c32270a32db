import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listDirectory } from '#server/agent/prompt/directory-listing.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

async function tree(...paths: string[]): Promise<string> {
  const root = await temporaryDirectory();
  for (const path of paths) {
    if (path.endsWith('/')) await mkdir(join(root, path), { recursive: true });
    else await writeFile(join(root, path), '');
  }
  return root;
}

const numbered = (n: number, name: (i: string) => string) =>
  Array.from({ length: n }, (_, i) => name(String(i).padStart(2, '0')));

it('lists two levels, directories first, hidden directories not expanded', async () => {
  const root = await tree(
    'src/',
    'src/deep/',
    'src/deep/below',
    'src/b.ts',
    'src/a.ts',
    '.git/',
    '.git/HEAD',
    'README.md',
    '.env',
  );
  expect(await listDirectory(root, createLocalRuntime())).toBe(
    '.git/ ...\nsrc/\n  deep/\n  a.ts\n  b.ts\n.env\nREADME.md',
  );
});

it('counts omitted entries: more than 30, or 10 of a child', async () => {
  const root = await tree('dir/', ...numbered(12, (i) => `dir/${i}`), ...numbered(31, (i) => `file-${i}`));
  const lines = (await listDirectory(root, createLocalRuntime())).split('\n');
  expect(lines[0]).toBe('dir/');
  expect(lines.filter((line) => /^ {2}\d/.test(line))).toHaveLength(10);
  expect(lines[11]).toBe('  ... 2 more');
  expect(lines.filter((line) => line.startsWith('file-'))).toHaveLength(29);
  expect(lines.at(-1)).toBe('... 2 more');
});

it('omits what it cannot read', async () => {
  const root = await tree('empty/');
  await symlink(join(root, 'nowhere'), join(root, 'dangling'));
  expect(await listDirectory(root, createLocalRuntime())).toBe('empty/\ndangling');
  expect(await listDirectory(join(root, 'missing'), createLocalRuntime())).toBe('');
});
