/** The server does not run programs of a project, even from the folder that npx and npm put first in PATH. */
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startFilesSession, type FilesSession } from '#support/files-session.ts';
import { createRepository } from '#support/git-repository.ts';

let session: FilesSession;
const variables: NodeJS.ProcessEnv = { ...process.env };
beforeAll(async () => {
  session = await startFilesSession({ env: () => variables });
});
afterAll(() => session.close());
beforeEach(async () => {
  await rm(session.root, { recursive: true, force: true });
  const repository = await createRepository(session.root);
  await repository.write({ a: 'needle\n' });
  await repository.commit();
  await repository.write({ a: 'needle 2\n' });
});

const mark = () => join(session.outside, 'mark');

/** Writes programs of these names that leave a mark and then exec the system's program. */
async function writePrograms(folder: string, names: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of names) {
    const text = `#!/bin/sh\necho ${name} >> '${mark()}'\nPATH='${process.env.PATH}' exec ${name} "$@"\n`;
    await writeFile(join(folder, name), text, { mode: 0o755 });
  }
}

async function useAll(): Promise<void> {
  expect(await session.ok('git_status')).toMatchObject({ branch: 'main', entries: { a: 'modified' } });
  expect(await session.ok('diff', { path: 'a' })).toMatchObject({ diff: expect.stringContaining('+needle 2') });
  expect(await session.ok('list', { include_git_status: true })).toMatchObject({
    items: expect.arrayContaining([expect.objectContaining({ path: 'a', git_status: 'modified' })]),
  });
  expect(await session.ok('grep', { pattern: 'needle' })).toMatchObject({ files: [{ path: 'a' }] });
  expect(await session.ok('search', { query: 'a' })).toMatchObject({ items: [{ path: 'a' }] });
}

const traces = () =>
  access(mark()).then(
    () => 'run',
    () => 'not run',
  );

it.each(['node_modules/.bin', '.'])('git, gh and rg in %s of the project are not run', async (folder) => {
  const place = join(session.root, folder);
  await writePrograms(place, ['git', 'gh', 'rg']);
  await rm(mark(), { force: true });
  variables.PATH = [place, folder, process.env.PATH].join(delimiter);
  await useAll();
  expect(await traces()).toBe('not run');
});

it('git of another folder that is first in PATH is run', async () => {
  const place = join(session.outside, 'bin');
  await writePrograms(place, ['git']);
  await rm(mark(), { force: true });
  variables.PATH = [place, process.env.PATH].join(delimiter);
  await useAll();
  expect(await traces()).toBe('run');
});
