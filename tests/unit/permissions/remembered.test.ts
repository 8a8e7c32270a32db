/** The scope of an approval for the session, and calls that it must not approve. */
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Decision } from '#server/permissions/decision.ts';
import { createProject, kind, rule } from './decide.ts';
import type { Project, Setup } from './decide.ts';

let space: Project;
beforeAll(async () => (space = await createProject()));
afterAll(() => space.remove());

/** Approves a call for the session; returns the setup that remembers it. */
async function approved(decision: Promise<Decision>): Promise<Setup> {
  const { kind: asked, rule: remembered } = await decision;
  expect(asked).toBe('ask');
  return { remembered: remembered ? [remembered] : [] };
}

describe('command lines', () => {
  test.each(['a && b', 'echo "$(date)"', 'a > f', '! grep -r "x*" .', 'cat <<E\nx\nE', 'rm *'])(
    '%j approves only itself',
    async (line) => {
      const setup = await approved(space.bash(line));
      expect(await kind(space.bash(line, setup))).toBe('approve');
      expect(await kind(space.bash(`${line} x`, setup))).toBe('ask');
    },
  );

  test('are valid only for their directory', async () => {
    const setup = await approved(space.bash('rm -rf build'));
    expect(setup.remembered).toEqual([{ rule: 'Bash(rm -rf build)', dir: space.environment.cwd }]);
    const elsewhere = [space.outside, space.path('src'), join(space.root, 'missing'), '/'];
    for (const directory of elsewhere)
      expect(await kind(space.bash('rm -rf build', { ...setup, directory }))).toBe('ask');
    const there = await approved(space.bash('rm -rf build', { directory: space.outside }));
    expect(await kind(space.bash('rm -rf build', { ...there, directory: space.outside }))).toBe('approve');
    expect(await kind(space.bash('rm -rf build', { ...there, directory: space.path('link') }))).toBe('approve');
    expect(await kind(space.bash('rm -rf build', there))).toBe('ask');
  });

  test('a directory whose link was changed is another directory', async () => {
    const link = space.path('moving');
    await symlink(space.path('src'), link);
    const setup = await approved(space.bash('make', { directory: link }));
    expect(await kind(space.bash('make', { ...setup, directory: link }))).toBe('approve');
    await rm(link);
    await symlink(space.outside, link);
    expect(await kind(space.bash('make', { ...setup, directory: link }))).toBe('ask');
  });

  test('without a directory they are valid for that of the session', async () => {
    const remembered = [{ rule: 'Bash(make)' }];
    expect(await kind(space.bash('make', { remembered }))).toBe('approve');
    expect(await kind(space.bash('make', { remembered, directory: space.path('src') }))).toBe('ask');
  });

  test('one command of a line is covered only where it was remembered', async () => {
    const remembered = [{ rule: 'Bash(npm test)', dir: space.environment.cwd }];
    const setup = { remembered, rules: [rule('allow', 'Bash(git *)')] };
    expect(await kind(space.bash('npm test && git log', setup))).toBe('approve');
    expect(await kind(space.bash('npm test && git log', { ...setup, directory: space.path('src') }))).toBe('ask');
  });
});

describe('paths', () => {
  test('are remembered with links resolved', async () => {
    const link = space.path('innocuous');
    const first = join(space.outside, 'first');
    await symlink(first, link);
    const setup = await approved(space.file('Write', link));
    expect(setup.remembered).toEqual([{ rule: `Write(${first})` }]);
    expect(await kind(space.file('Write', link, setup))).toBe('approve');
    expect(await kind(space.file('Write', first, setup))).toBe('approve');
    await rm(link);
    await symlink(join(space.outside, 'second'), link);
    expect(await kind(space.file('Write', link, setup))).toBe('ask');
  });

  test('with any characters', async () => {
    const path = join(space.outside, '(a)/[b]/{c,d}/*e.txt');
    const setup = await approved(space.file('Write', path));
    expect(await kind(space.file('Write', path, setup))).toBe('approve');
    expect(await kind(space.file('Write', join(space.outside, '(a)/[b]/{c,d}/xe.txt'), setup))).toBe('ask');
    expect(await kind(space.file('Read', path, setup))).toBe('ask');
  });
});

describe.each(['Grep', 'Glob'])('%s', (tool) => {
  test('outside the workspace the path is remembered, not the pattern', async () => {
    const setup = await approved(space.search(tool, 'x', space.outside));
    expect(setup.remembered).toEqual([{ rule: `${tool}(${space.outside})` }]);
    expect(await kind(space.search(tool, 'anything', space.outside, setup))).toBe('approve');
    expect(await kind(space.search(tool, 'x', join(space.root, 'other'), setup))).toBe('ask');
    expect(await kind(space.search(tool, 'x', '/', setup))).toBe('ask');
  });

  test('a pattern remembered inside does not match a path outside', async () => {
    const target = join(space.root, 'private');
    await mkdir(target, { recursive: true });
    const setup = await approved(space.search(tool, target, '.git'));
    expect(await kind(space.search(tool, target, '.git', setup))).toBe('approve');
    expect(await kind(space.search(tool, 'x', target, setup))).toBe('ask');
    expect(await kind(space.search(tool, target, '.', { ...setup, rules: [rule('ask', tool)] }))).toBe('ask');
  });
});

test('a rule remembered for one tool approves no other', async () => {
  const setup = await approved(space.bare('TaskStop'));
  expect(await kind(space.bare('TaskStop', setup))).toBe('approve');
  expect(await kind(space.bare('CronDelete', setup))).toBe('ask');
});
