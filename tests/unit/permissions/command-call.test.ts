/** Questions of rules about a command line: whether it runs git, which files git would write, where the line runs. */
import { mkdir, rm, symlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCommandCall } from '#server/permissions/command-call.ts';
import { createCommandLineReader } from '#server/permissions/command-line/command-line-reader.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { createProject } from './decide.ts';
import type { Project } from './decide.ts';

let space: Project;
beforeAll(async () => {
  space = await createProject();
  await mkdir(space.path('sub'));
});
afterAll(() => space.remove());

const reader = createCommandLineReader();
const called = (line: string, { env, directory }: { env?: NodeJS.ProcessEnv; directory?: string } = {}) =>
  createCommandCall(line, directory === undefined ? {} : { directory }, {
    places: { ...space.environment, ...(env ? { runtime: createLocalRuntime({ env: () => env }) } : {}) },
    reader,
  });

describe('git', () => {
  test.each([
    'git',
    'git status',
    'git\tstatus',
    '/usr/bin/git status',
    'timeout 5 git log',
    'g"i"t status',
    'g\\it status',
    'ls && git status',
    'echo $(git status)',
    "sh -c 'git status'",
  ])('%j runs it', async (line) => expect(await called(line).runsGit()).toBe(true));

  test.each(['ls', 'gitk', 'git-lfs x', 'echo git', 'ls ./legit', 'echo "a git log"', 'make digit'])(
    '%j does not',
    async (line) => expect(await called(line).runsGit()).toBe(false),
  );

  test('a line without its name is not parsed for it', async () => {
    let reads = 0;
    const counting = {
      read(line: string) {
        reads += 1;
        return reader.read(line);
      },
    };
    const call = createCommandCall('ls -l', {}, { places: space.environment, reader: counting });
    expect(await call.runsGit()).toBe(false);
    expect(reads).toBe(0);
  });

  test.each([
    'git log --output=x',
    'git log --output x',
    'git log --out x',
    'git format-patch -o x',
    'ls && git diff --output=x',
    'git log; git diff --output=x',
    'timeout 5 git log --output=x',
  ])('%j writes a file that the line names', async (line) => {
    expect(await called(line).gitWritesOutput()).toBe(true);
  });

  test.each(['git log', 'ls --output=x', 'git log && make --output x', 'make --output x && git log', 'git log -o x'])(
    '%j writes none',
    async (line) => expect(await called(line).gitWritesOutput()).toBe(false),
  );
});

test('a line that the shell decodes in another way is opaque, but deny rules have its texts', async () => {
  const env = { LC_ALL: 'zh_CN.GBK' };
  const reading = await called('cd sub && echo 中', { env }).reading();
  expect(reading).toMatchObject({ plain: false, commands: [], cd: undefined });
  expect(reading.guarded).toContain('echo 中');
  expect(await called('echo a', { env }).reading()).toMatchObject({ plain: true, commands: ['echo a'] });
});

describe('the directory', () => {
  const located = async (line: string, more?: Parameters<typeof called>[1]) => {
    const { path, inWorkspace, lost } = await called(line, more).directory();
    return [path, inWorkspace, lost];
  };

  test('is that of the call, or that of a `cd` in the workspace', async () => {
    const { cwd } = space.environment;
    const sub = space.path('sub');
    expect(await located('make')).toEqual([cwd, true, false]);
    expect(await located('make', { directory: sub })).toEqual([sub, true, false]);
    expect(await located('make', { directory: space.path('link') })).toEqual([space.outside, false, false]);
    expect(await located('cd sub && make')).toEqual([sub, true, false]);
    expect(await located('cd .. && make', { directory: sub })).toEqual([cwd, true, false]);
    expect(await located(`cd ${sub} && make`, { directory: space.outside })).toEqual([sub, true, false]);
    expect(await located('echo cd')).toEqual([cwd, true, false]);
  });

  test('is not certain after a `cd` to another place, or to a name that the shell may replace', async () => {
    const { cwd } = space.environment;
    for (const line of ['cd .. && make', 'cd link && make', "cd '~' && make", 'cd / && make']) {
      expect([line, await located(line)]).toEqual([line, [cwd, true, true]]);
    }
  });

  test('is not certain for a plain name while CDPATH is set', async () => {
    const { cwd } = space.environment;
    const env = { CDPATH: '/tmp' };
    for (const name of ['sub', 'sub./x', 'sub../x', '.sub', '...']) {
      expect([name, await located(`cd ${name} && make`, { env })]).toEqual([name, [cwd, true, true]]);
    }
    expect(await located('cd ./sub && make', { env })).toEqual([space.path('sub'), true, false]);
    expect(await located('cd . && make', { env })).toEqual([cwd, true, false]);
    expect(await located('cd .. && make', { env, directory: space.path('sub') })).toEqual([cwd, true, false]);
    expect(await located(`cd ${space.path('sub')} && make`, { env })).toEqual([space.path('sub'), true, false]);
  });

  test('has moved when a link was changed since it was first determined', async () => {
    const link = space.path('moving');
    await symlink(space.path('sub'), link);
    const call = called('cd moving && make');
    expect(await call.moved()).toBe(false);
    expect(await call.directory()).toEqual({ path: space.path('sub'), inWorkspace: true, lost: false });
    expect(await call.moved()).toBe(false);
    await rm(link);
    await symlink(space.path('src'), link);
    expect(await call.moved()).toBe(true);
    await rm(link);
    await symlink(space.outside, link);
    expect(await call.moved()).toBe(true);
    // A line that left the workspace from the start has not moved.
    const lost = called('cd moving && make');
    await lost.directory();
    expect(await lost.moved()).toBe(false);
  });
});
