import { execFileSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createInstructionFiles, INSTRUCTIONS_MAX_AGE_MS } from '#server/agent/prompt/instructions.ts';
import { putFile } from '#support/files.ts';
import { createPrefixedRuntime, type PrefixedRuntime } from '#support/prefixed-runtime.ts';
import { openProjects } from '#support/projects.ts';
import { temporaryHome } from '#support/temporary-home.ts';

let root: string;
let runtime: PrefixedRuntime;
let now: number;
beforeEach(async () => {
  root = await temporaryHome();
  runtime = createPrefixedRuntime(root);
  now = 0;
});

const open = () =>
  createInstructionFiles({
    runtime,
    projects: openProjects({ runtime }),
    home: '/server',
    isSecret: async () => false,
    clock: { now: () => now },
  });

const put = (path: string, text: string) => putFile(join(root, path), text);

function looks(): Record<string, number> {
  const counted = Object.fromEntries(runtime.calls);
  runtime.calls.clear();
  return counted;
}

test('a directory is checked once a second for all callers; a file is read again when it has changed', async () => {
  await put('/work/.git/HEAD', '');
  await put('/work/AGENTS.md', 'one');
  const files = open();
  const [first, second] = await Promise.all([files.read('/work'), files.read('/work')]);
  expect(first.text).toBe('<!-- From: /work/AGENTS.md -->\none');
  expect(second).toEqual(first);
  expect(looks()).toEqual({ lstat: 1, stat: 5, realpath: 1, readFile: 1 });

  await put('/work/AGENTS.md', 'changed');
  now = INSTRUCTIONS_MAX_AGE_MS - 1;
  expect((await files.read('/work')).text).toContain('one');
  expect(await files.pathsIn('/work', '/work')).toEqual(['/work/AGENTS.md']);
  expect(looks()).toEqual({});

  now = INSTRUCTIONS_MAX_AGE_MS;
  expect((await files.read('/work')).text).toContain('changed');
  expect(looks()).toEqual({ lstat: 1, stat: 5, realpath: 1, readFile: 1 });
  now *= 2;
  await files.read('/work');
  expect(looks()).toEqual({ lstat: 1, stat: 5 });
  now *= 2;
  await rm(join(root, 'work/AGENTS.md'));
  expect(await files.read('/work')).toEqual({ text: '', paths: [], warnings: [] });
});

test('a file that cannot be read is listed in a warning and tried again', async () => {
  await put('/work/AGENTS.md', 'text');
  const files = open();
  const { readFile } = runtime;
  runtime.readFile = () => Promise.reject(new Error('EACCES'));
  expect((await files.read('/work')).warnings[0]?.message).toContain('/work/AGENTS.md could not be read: EACCES');
  runtime.readFile = readFile;
  expect(await files.read('/work')).toMatchObject({ paths: ['/work/AGENTS.md'], warnings: [] });
});

test('a pipe is listed in a warning, never opened, and a nested one is not reported to the model', async () => {
  await put('/work/.git/HEAD', '');
  await put('/work/agents.md', 'small');
  await mkdir(join(root, 'work/sub'));
  for (const name of ['work/AGENTS.md', 'work/sub/AGENTS.md']) execFileSync('mkfifo', [join(root, name)]);
  const files = open();
  const { paths, warnings } = await files.read('/work');
  expect(paths).toEqual(['/work/agents.md']);
  expect(warnings).toMatchObject([{ message: expect.stringContaining('/work/AGENTS.md is not a regular file') }]);
  expect(looks().readFile).toBe(1);
  expect(await files.pathsIn('/work/sub', '/work')).toEqual([]);
});
