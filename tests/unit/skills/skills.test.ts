/** Catalogs of skills: their folders, forms, priorities, links and limits. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, rm, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Projects } from '#server/project-files/projects.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import type { PluginSkills, SkillSettings } from '#server/skills/roots.ts';
import { shippedSkills } from '#server/skills/shipped.ts';
import { findSkill, type Skill } from '#server/skills/skill.ts';
import { createSkills, type Skills } from '#server/skills/skills.ts';
import { putFile } from '#support/files.ts';
import { openProjects } from '#support/projects.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();
let skills: Skills;
let settings: SkillSettings;
let plugins: PluginSkills[];
let logged: unknown[];
let reads: string[];
let lists: string[];
let admits: Projects['admits'];
let project: string;

const at = (...names: string[]) => join(folder.path, ...names);
const inProject = (...names: string[]) => join(project, ...names);
const workspace = (...names: string[]) => inProject('.service-code', 'skills', ...names);
const user = (...names: string[]) => at('home', 'skills', ...names);

/** The text of a SKILL.md. */
const skill = (name: string, more = '', body = 'Do it.') =>
  `---\nname: ${JSON.stringify(name)}\ndescription: About ${name}\n${more}\n---\n${body}\n`;
const look = () => skills.look(inProject('sub'));
const found = async (): Promise<Skill[]> =>
  [...(await look()).skills.values()].filter(({ source }) => source !== 'builtin');
const names = async () => (await found()).map(({ name }) => name).toSorted();
const messages = async () => (await look()).warnings.map(({ message }) => message);

beforeEach(async () => {
  settings = { extraSkillDirs: [], mergeAllAvailableSkills: true, builtinProductSkills: true };
  plugins = [];
  logged = [];
  reads = [];
  lists = [];
  project = at('project');
  admits = openProjects().admits;
  await mkdir(inProject('sub'), { recursive: true });
  const runtime = createLocalRuntime();
  skills = createSkills({
    files: {
      ...runtime,
      list(path) {
        lists.push(path);
        return runtime.list(path);
      },
      readFile(path, limits) {
        reads.push(path);
        return runtime.readFile(path, limits);
      },
    },
    home: at('home'),
    homeDirectory: () => at('person'),
    project: () => Promise.resolve({ top: project }),
    admits: (...args) => admits(...args),
    settings: () => settings,
    pluginFolders: () => plugins,
    log: { warn: (_message, fields) => void logged.push(fields) },
  });
});

describe('files', () => {
  it('are found in all folders: a folder with SKILL.md at any depth, flat files in the root', async () => {
    settings.extraSkillDirs = [at('extra'), 'more', '~/mine'];
    plugins = [
      { pluginId: 'p', path: at('plugin', 'skills'), within: at('plugin') },
      { pluginId: 'q', path: at('single', 'SKILL.md'), within: at('single') },
    ];
    await putFile(user('a', 'SKILL.md'), skill('a'));
    await putFile(at('person', '.agents', 'skills', 'b.md'), 'Text.');
    await putFile(at('extra', 'group', 'c', 'SKILL.md'), skill('c'));
    await putFile(at('extra', 'group', 'README.md'), 'Text.');
    await putFile(inProject('more', 'd.md'), skill('d'));
    await putFile(at('person', 'mine', 'e', 'SKILL.md'), skill('e'));
    await putFile(workspace('f', 'SKILL.md'), skill('f'));
    await putFile(workspace('f', 'other.md'), 'Text.');
    await putFile(workspace('f', 'inner', 'SKILL.md'), skill('inner'));
    await putFile(inProject('.agents', 'skills', 'g', 'SKILL.md'), skill('g'));
    await putFile(at('plugin', 'skills', 'h', 'SKILL.md'), skill('h'));
    await putFile(at('single', 'SKILL.md'), skill('i', 'has-sub-skill: true'));
    await putFile(at('single', 'other', 'SKILL.md'), skill('other'));
    expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']);
    expect(await skills.folders(inProject('sub'))).toEqual([
      workspace(),
      inProject('.agents', 'skills'),
      user(),
      at('person', '.agents', 'skills'),
      at('extra'),
      inProject('more'),
      at('person', 'mine'),
      at('plugin', 'skills'),
      at('single', 'SKILL.md'),
    ]);
  });

  it('become skills with their path, folder and source', async () => {
    plugins = [{ pluginId: 'p', instructions: 'Mind.', path: at('plugin', 'skills'), within: at('plugin') }];
    await putFile(workspace('A', 'SKILL.md'), skill('Alpha', 'type: flow\narguments: x'));
    await putFile(user('flat.md'), 'First line.\nSecond.');
    await putFile(at('plugin', 'skills', 'h', 'SKILL.md'), skill('h'));
    const catalog = await look();
    expect(findSkill(catalog, 'ALPHA')).toEqual({
      name: 'Alpha',
      description: 'About Alpha',
      type: 'flow',
      kind: 'flow',
      arguments: ['x'],
      nested: false,
      path: workspace('A', 'SKILL.md'),
      dir: workspace('A'),
      source: 'project',
      body: 'Do it.',
    });
    expect(findSkill(catalog, 'flat')).toMatchObject({ dir: user(), path: user('flat.md'), source: 'user' });
    expect(findSkill(catalog, 'h')).toMatchObject({ source: 'extra', plugin: { id: 'p', instructions: 'Mind.' } });
    expect(findSkill(catalog, 'flat')).not.toHaveProperty('plugin');
    expect(catalog.sources).toEqual([
      { source: 'project', count: 1 },
      { source: 'user', count: 1 },
      { source: 'plugin', count: 1 },
      { source: 'builtin', count: shippedSkills.length },
    ]);
    expect(catalog.roots).toEqual([workspace(), user(), at('plugin', 'skills')]);
    expect(catalog).toMatchObject({ warnings: [], skipped: 0 });
  });

  it('inside a skill are nested skills if the skill says so, named after all skills around them', async () => {
    await putFile(workspace('outer', 'SKILL.md'), skill('outer', 'has-sub-skill: true'));
    await putFile(workspace('outer', 'B', 'SKILL.md'), skill('b', 'has-sub-skill: true'));
    await putFile(workspace('outer', 'B', '1', 'x', 'SKILL.md'), skill('c'));
    await putFile(workspace('outer', 'group', 'd', 'SKILL.md'), skill('d'));
    await putFile(workspace('outer', 'note.md'), 'Text.');
    await putFile(workspace('plain', 'SKILL.md'), skill('plain'));
    await putFile(workspace('plain', 'e', 'SKILL.md'), skill('e'));
    await putFile(workspace('broken', 'SKILL.md'), 'has-sub-skill: true');
    await putFile(workspace('broken', 'f', 'SKILL.md'), skill('f'));
    expect(await names()).toEqual(['outer', 'outer.b', 'outer.b.c', 'outer.d', 'plain']);
    const nested = (await found()).filter((one) => one.nested).map(({ name }) => name);
    expect(nested.toSorted()).toEqual(['outer.b', 'outer.b.c', 'outer.d']);
    // The next look finds the change of the parent, which stays the same file.
    await putFile(workspace('plain', 'SKILL.md'), skill('plain', 'has-sub-skill: true'));
    expect(await names()).toContain('plain.e');
  });

  it('that are hidden, in node_modules, of another kind or too deep are skipped', async () => {
    const deep = Array.from({ length: 7 }, (_, level) => `d${level}`);
    await putFile(workspace(...deep, 'SKILL.md'), skill('eight'));
    await putFile(workspace('e', ...deep, 'SKILL.md'), skill('nine'));
    for (const name of ['.x', 'node_modules']) await putFile(workspace(name, 'a', 'SKILL.md'), skill('a'));
    await putFile(workspace('.b.md'), 'Text.');
    await putFile(workspace('c.txt'), 'Text.');
    await putFile(workspace('d', 'skill.md'), skill('lower'));
    expect(await names()).toEqual(['eight']);
    expect(await messages()).toEqual([]);
  });

  it('that are broken yield a warning each with their path, and the others are used', async () => {
    const broken = [
      await putFile(workspace('a', 'SKILL.md'), 'No front matter.'),
      await putFile(workspace('b', 'SKILL.md'), skill('b', 'type: tool')),
      await putFile(workspace('c', 'SKILL.md'), skill('c', 'arguments: [1]')),
      await putFile(user('d.md'), ''),
      await putFile(workspace('e', 'SKILL.md'), skill('e', '', 'x'.repeat(256 * 1024))),
      await putFile(workspace('f', 'SKILL.md'), `---js\n${skill('f')}`),
    ];
    await putFile(workspace('good', 'SKILL.md'), skill('good'));
    const catalog = await look();
    expect(await names()).toEqual(['good']);
    expect(catalog.warnings).toEqual(
      [...broken.slice(0, 3), broken[4], broken[5], broken[3]].map((path) => ({
        code: 'skill-invalid',
        message: expect.stringContaining(`${path} is not used`),
        severity: 'warning',
      })),
    );
    expect(catalog.skipped).toBe(6);
    expect(logged).toHaveLength(5);
  });

  it('that cannot be read or are no files are skipped, the first with a warning', async () => {
    await putFile(workspace('good', 'SKILL.md'), skill('good'));
    for (const name of ['pipe', 'device', 'dangling', 'loop', 'folder']) await mkdir(workspace(name));
    execFileSync('mkfifo', [workspace('pipe', 'SKILL.md')]);
    await symlink('/dev/zero', workspace('device', 'SKILL.md'));
    await symlink(workspace('missing'), workspace('dangling', 'SKILL.md'));
    await symlink(workspace('loop', 'SKILL.md'), workspace('loop', 'SKILL.md'));
    await mkdir(workspace('folder', 'SKILL.md'));
    expect(await names()).toEqual(['good']);
    expect(await messages()).toEqual([]);
    const secret = await putFile(workspace('secret', 'SKILL.md'), skill('secret'));
    await chmod(secret, 0);
    if (process.geteuid?.() === 0) return;
    expect(await names()).toEqual(['good']);
    expect(await messages()).toEqual([expect.stringContaining(secret)]);
  });

  it.each(['x/y', 'x:y', '<x>', 'UPPER', '../up', '__proto__'])('may be named %s', async (name) => {
    await putFile(workspace('a', 'SKILL.md'), skill(name));
    expect(await names()).toEqual([name]);
    expect(findSkill(await look(), name.toLowerCase())?.name).toBe(name);
  });
});

describe('of several with one name in any case', () => {
  it("the project's wins, then the user's, then extra folders, then plugins, then shipped ones", async () => {
    settings.extraSkillDirs = [at('extra'), at('second')];
    plugins = ['one', 'two'].map((id) => ({ pluginId: id, path: at(id), within: at(id) }));
    const path = async () => {
      const catalog = await look();
      expect([...catalog.skills.values()].filter(({ name }) => /^write-goal$/i.test(name))).toHaveLength(1);
      return findSkill(catalog, 'Write-Goal')?.path;
    };
    expect(await path()).toBe('builtin://write-goal');
    const places = [
      at('two', 'a', 'SKILL.md'),
      at('one', 'z', 'SKILL.md'),
      at('second', 'a', 'SKILL.md'),
      at('extra', 'z', 'SKILL.md'),
      at('person', '.agents', 'skills', 'a', 'SKILL.md'),
      user('z', 'SKILL.md'),
      inProject('.agents', 'skills', 'a', 'SKILL.md'),
      workspace('z', 'SKILL.md'),
      // Within one root the first path wins.
      workspace('y', 'z', 'SKILL.md'),
      workspace('y', 'SKILL-.md', 'SKILL.md'),
    ];
    for (const [index, place] of places.entries()) {
      await putFile(place, skill(index % 2 === 0 ? 'WRITE-GOAL' : 'write-goal'));
      expect(await path()).toBe(place);
    }
  });

  it('only the first existing folder of the user and of the project is used unless all are merged', async () => {
    await putFile(inProject('.agents', 'skills', 'a.md'), 'Text.');
    await putFile(at('person', '.agents', 'skills', 'b.md'), 'Text.');
    settings.extraSkillDirs = [at('extra'), at('second')];
    await putFile(at('extra', 'c.md'), 'Text.');
    await putFile(at('second', 'd.md'), 'Text.');
    settings = { ...settings, mergeAllAvailableSkills: false };
    expect(await names()).toEqual(['a', 'b', 'c', 'd']);
    await mkdir(workspace(), { recursive: true });
    await putFile(user('e.md'), 'Text.');
    expect(await names()).toEqual(['c', 'd', 'e']);
    settings = { ...settings, mergeAllAvailableSkills: true };
    expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('shipped ones can be switched off', async () => {
    expect(skills.seen(inProject('sub')).skills.size).toBe(shippedSkills.length);
    expect((await look()).skills.size).toBe(shippedSkills.length);
    settings = { ...settings, builtinProductSkills: false };
    expect(skills.seen('/elsewhere').skills.size).toBe(0);
    expect((await look()).skills.size).toBe(0);
  });
});

describe('a look', () => {
  it('reads a file again only when it has changed, and gives the same catalog while nothing has', async () => {
    const path = await putFile(workspace('a', 'SKILL.md'), skill('one'));
    await putFile(workspace('b', 'SKILL.md'), 'broken');
    const first = await look();
    expect(await look()).toBe(first);
    expect(reads).toEqual([path, workspace('b', 'SKILL.md')]);
    await putFile(path, skill('another'));
    expect(skills.seen(inProject('sub'))).toBe(first);
    const second = await look();
    expect(findSkill(second, 'another')).toBeDefined();
    expect(second.warnings[0]).toBe(first.warnings[0]);
    await utimes(path, 1, 1);
    await look();
    expect(reads.filter((read) => read === path)).toHaveLength(3);
    // The text of a file is shared by all directories.
    await skills.look(inProject());
    expect(reads.filter((read) => read === path)).toHaveLength(3);
    await rm(path);
    expect(await names()).toEqual([]);
  });

  it('gives a new warning for a changed file that is broken in the same way', async () => {
    const path = await putFile(workspace('a', 'SKILL.md'), 'broken');
    const [first] = (await look()).warnings;
    await putFile(path, 'broken too');
    const [second] = (await look()).warnings;
    expect(second).toEqual(first);
    expect(second).not.toBe(first);
    expect(logged).toHaveLength(2);
  });

  it('begins after the call, and concurrent ones share it', async () => {
    await putFile(workspace('a', 'SKILL.md'), skill('a'));
    const first = look();
    await putFile(workspace('b', 'SKILL.md'), skill('b'));
    const [, second, third] = await Promise.all([first, look(), look()]);
    expect(second.skills.has('b')).toBe(true);
    expect(third).toBe(second);
    expect(lists.filter((path) => path === workspace())).toHaveLength(2);
  });

  it('notices settings and plugins that have changed', async () => {
    await putFile(at('extra', 'a.md'), 'Text.');
    await putFile(at('plugin', 'b.md'), 'Text.');
    expect(await names()).toEqual([]);
    settings = { ...settings, extraSkillDirs: [at('extra')] };
    plugins = [{ pluginId: 'p', path: at('plugin'), within: at('plugin') }];
    expect(await names()).toEqual(['a', 'b']);
    plugins = [{ pluginId: 'p', instructions: 'Mind.', path: at('plugin'), within: at('plugin') }];
    expect(findSkill(await look(), 'b')?.plugin).toEqual({ id: 'p', instructions: 'Mind.' });
    plugins = [];
    expect(await names()).toEqual(['a']);
  });

  it('that fails gives the catalog before it, and is logged', async () => {
    await putFile(workspace('a', 'SKILL.md'), skill('a'));
    const before = await look();
    admits = () => Promise.reject(new Error('no owner'));
    expect(await look()).toBe(before);
    expect(logged).toEqual([{ err: expect.any(Error) }]);
    admits = openProjects().admits;
    await rm(workspace('a', 'SKILL.md'));
    expect(await names()).toEqual([]);
  });
});

describe('a hostile project', () => {
  it('cannot link to files and folders outside of it', async () => {
    await putFile(at('secrets', 'key', 'SKILL.md'), skill('stolen'));
    await putFile(at('secrets', 'plain.md'), 'the key');
    await mkdir(workspace('own'), { recursive: true });
    await symlink(at('secrets', 'key', 'SKILL.md'), workspace('own', 'SKILL.md'));
    await symlink(at('secrets', 'plain.md'), workspace('plain.md'));
    await symlink(at('secrets'), workspace('all'));
    await symlink(at('secrets'), inProject('.agents'));
    await symlink(at('secrets'), inProject('linked'));
    settings.extraSkillDirs = ['linked', project];
    expect(await names()).toEqual([]);
    await rm(inProject('.service-code'), { recursive: true });
    await mkdir(inProject('.service-code'));
    await symlink(at('secrets'), workspace());
    expect(await names()).toEqual([]);
    expect(reads).toEqual([]);
  });

  it('may link to its own files, each folder once, and in circles', async () => {
    await putFile(inProject('docs', 'a', 'SKILL.md'), skill('a'));
    await mkdir(workspace(), { recursive: true });
    await symlink(inProject('docs'), workspace('one'));
    await symlink(inProject('docs'), workspace('two'));
    await symlink(workspace(), workspace('self'));
    expect((await found()).map(({ path }) => path)).toEqual([workspace('one', 'a', 'SKILL.md')]);
  });

  it('has no effect with files of another owner, each with a warning', async () => {
    const foreign = await putFile(workspace('a', 'SKILL.md'), skill('a'));
    await putFile(workspace('b', 'SKILL.md'), skill('b'));
    await putFile(user('c', 'SKILL.md'), skill('c'));
    settings.extraSkillDirs = ['more'];
    await putFile(inProject('more', 'd.md'), 'Text.');
    admits = async (directory, name, cwd) => {
      expect([directory, cwd]).toEqual([project, inProject('sub')]);
      return !name.includes('/a/');
    };
    const first = await look();
    expect(await names()).toEqual(['b', 'c', 'd']);
    expect(first.warnings).toEqual([
      {
        code: 'project-config-ignored',
        message: `${foreign} has no effect: it belongs to another user.`,
        severity: 'warning',
        directory: project,
      },
    ]);
    expect(first.skipped).toBe(1);
    expect(await look()).toBe(first);
    await putFile(workspace('b', 'SKILL.md'), skill('other'));
    expect((await look()).warnings[0]).toBe(first.warnings[0]);
    admits = async () => true;
    expect(await names()).toEqual(['a', 'c', 'd', 'other']);
    expect(await messages()).toEqual([]);
  });

  it('cannot have more than 2,000 files a root, which is one warning', async () => {
    await Promise.all(
      Array.from({ length: 2001 }, (_, number) =>
        putFile(workspace(`s${String(number).padStart(4, '0')}`, 'SKILL.md'), skill(`s${number}`)),
      ),
    );
    await putFile(inProject('.agents', 'skills', 'other.md'), 'Text.');
    const catalog = await look();
    expect((await found()).length).toBe(2001);
    expect(findSkill(catalog, 's2000')).toBeUndefined();
    expect(catalog.warnings).toEqual([
      { code: 'skill-invalid', message: expect.stringContaining(workspace()), severity: 'warning' },
    ]);
    expect(await look()).toBe(catalog);
    await putFile(inProject('.agents', 'skills', 'other.md'), 'Text, changed.');
    expect((await look()).warnings[0]).toBe(catalog.warnings[0]);
  });
});

describe('links of the user and of plugins', () => {
  it('of the user may lead anywhere', async () => {
    await putFile(at('dotfiles', 'a', 'SKILL.md'), skill('a'));
    await putFile(at('dotfiles', 'b.md'), 'Text.');
    await mkdir(user(), { recursive: true });
    await symlink(at('dotfiles', 'a'), user('a'));
    await symlink(at('dotfiles', 'b.md'), user('b.md'));
    await mkdir(at('person', '.agents'), { recursive: true });
    await putFile(at('other', 'c.md'), 'Text.');
    await symlink(at('other'), at('person', '.agents', 'skills'));
    expect(await names()).toEqual(['a', 'b', 'c']);
  });

  it('of a plugin stay within it', async () => {
    await putFile(at('secrets', 'a', 'SKILL.md'), skill('stolen'));
    await mkdir(at('plugin', 'skills', 'own'), { recursive: true });
    await symlink(at('secrets', 'a'), at('plugin', 'skills', 'a'));
    await symlink(at('secrets', 'a', 'SKILL.md'), at('plugin', 'SKILL.md'));
    await putFile(at('plugin', 'shared', 'SKILL.md'), skill('shared'));
    await symlink(at('plugin', 'shared'), at('plugin', 'skills', 'shared'));
    plugins = [
      { pluginId: 'p', path: at('plugin', 'skills'), within: at('plugin') },
      { pluginId: 'q', path: at('plugin', 'SKILL.md'), within: at('plugin') },
    ];
    expect(await names()).toEqual(['shared']);
  });
});

describe('readable without approval', () => {
  it('are folders of SKILL.md files and flat files, never a root', async () => {
    settings.extraSkillDirs = ['~'];
    await putFile(at('person', 'SKILL.md'), skill('root'));
    expect((await look()).readable).toEqual([at('person', 'SKILL.md')]);
    await rm(at('person', 'SKILL.md'));
    await putFile(at('person', 'flat.md'), 'Text.');
    await putFile(at('person', 'group', 'a', 'SKILL.md'), skill('a', 'has-sub-skill: true'));
    await putFile(at('person', 'group', 'a', 'b', 'SKILL.md'), skill('b'));
    await putFile(user('a', 'SKILL.md'), 'broken');
    await putFile(user('flat', 'SKILL.md'), skill('flat'));
    expect((await look()).readable.toSorted()).toEqual(
      // The flat file is hidden by the skill of the user's folder.
      [user('flat'), at('person', 'group', 'a'), at('person', 'group', 'a', 'b')].toSorted(),
    );
  });
});
