import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { usePlugins, writeFiles } from '#support/plugins.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();

const skill = (name: string, more = '') => `---\nname: ${name}\ndescription: d\n${more}---\nDo it.\n`;

/** Installs a plugin; the counts of its skills and commands. */
async function counts(manifest: object, files: Record<string, unknown>): Promise<[skills: number, commands: number]> {
  const home = join(folder.path, 'home');
  await mkdir(home, { recursive: true });
  const root = await writeFiles(join(folder.path, 'source'), {
    'service.plugin.json': { name: 'tools', ...manifest },
    ...files,
  });
  const { skillCount, commandCount } = await usePlugins(home).plugins.install(root);
  return [skillCount, commandCount];
}

it('counts skills of all named folders once, nested ones too, without invalid ones', async () => {
  const files = {
    'skills/one/SKILL.md': skill('one', 'has-sub-skill: true\n'),
    'skills/one/sub/SKILL.md': skill('sub'),
    'skills/flat.md': 'A flat skill.',
    'skills/broken/SKILL.md': 'no front matter',
    'more/two/SKILL.md': skill('two'),
    'elsewhere/three/SKILL.md': skill('three'),
    'SKILL.md': skill('root'),
  };
  expect(await counts({ skills: ['./skills', './more', './skills/one'] }, files)).toEqual([4, 0]);
});

it('counts only the root SKILL.md where no folders are named', async () => {
  const files = { 'SKILL.md': skill('root', 'has-sub-skill: true\n'), 'sub/SKILL.md': skill('sub'), 'flat.md': 'x' };
  expect(await counts({}, files)).toEqual([1, 0]);
});

it('counts command files, also below folders', async () => {
  const files = { 'a.md': 'x', 'c/b.md': 'x', 'c/d/e.md': 'x', 'c/text.txt': 'x', 'c/.hidden.md': 'x' };
  expect(await counts({ commands: ['./a.md', './c', './c/b.md'] }, files)).toEqual([0, 3]);
});

it('counts no files outside of the plugin', async () => {
  const outside = join(folder.path, 'outside');
  await writeFiles(outside, { 'x/SKILL.md': skill('x'), 'y.md': 'y' });
  const home = join(folder.path, 'home');
  await mkdir(home);
  const root = await writeFiles(join(folder.path, 'source'), {
    'service.plugin.json': { name: 'tools', skills: './skills', commands: './commands' },
    'skills/own/SKILL.md': skill('own'),
    'commands/own.md': 'x',
  });
  const { plugins } = usePlugins(home);
  await plugins.install(root);
  // The copy has no such links, but its files may be edited.
  const copy = join(home, 'plugins', 'managed', 'tools');
  await symlink(join(outside, 'x'), join(copy, 'skills', 'x'));
  await symlink(outside, join(copy, 'commands', 'all'));
  await symlink(join(outside, 'y.md'), join(copy, 'commands', 'y.md'));
  await writeFile(join(copy, 'commands', 'more.md'), 'x');
  await plugins.act('tools', 'enable');
  expect(await plugins.list()).toMatchObject([{ skillCount: 1, commandCount: 2 }]);
});
