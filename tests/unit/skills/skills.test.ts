/** Catalogs of skills: their folders, forms, priorities and limits. */
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createLocalRuntime } from '#server/runtime/local.ts';
import type { PluginSkills, SkillSettings } from '#server/skills/roots.ts';
import { findSkill } from '#server/skills/skill.ts';
import { createSkills, type Skills } from '#server/skills/skills.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { openProjects } from '#support/projects.ts';

const folder = useTemporaryFolder();
let skills: Skills;
let settings: SkillSettings;
let plugins: PluginSkills[];
let logged: unknown[];
let reads: string[];

const at = (...names: string[]) => join(folder.path, ...names);
const project = (...names: string[]) => at('project', ...names);
const workspace = (...names: string[]) => project('.service-code', 'skills', ...names);

async function put(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}
const skill = (name: string, more = '', body = 'Do it.') =>
  `---\nname: ${name}\ndescription: D\n${more}\n---\n${body}\n`;
const look = () => skills.look(project('sub'));
const names = async () =>
  [...(await look()).skills.values()]
    .filter(({ source }) => source !== 'builtin')
    .map(({ name }) => name)
    .toSorted();

beforeEach(async () => {
  settings = { extraSkillDirs: [], mergeAllAvailableSkills: true, builtinProductSkills: true };
  plugins = [];
  logged = [];
  reads = [];
  await mkdir(project('sub'), { recursive: true });
  const runtime = createLocalRuntime();
  skills = createSkills({
    files: {
      ...runtime,
      readFile(path, limits) {
        reads.push(path);
        return runtime.readFile(path, limits);
      },
    },
    home: at('home'),
    homeDirectory: () => at('person'),
    project: () => Promise.resolve({ top: project() }),
    admits: openProjects().admits,
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
    await put(at('home', 'skills', 'a', 'SKILL.md'), skill('a'));
    await put(at('person', '.agents', 'skills', 'b.md'), 'Text.');
    await put(at('extra', 'group', 'c', 'SKILL.md'), skill('c'));
    await put(at('extra', 'group', 'README.md'), 'Text.');
    await put(project('more', 'd.md'), skill('d'));
    await put(at('person', 'mine', 'e', 'SKILL.md'), skill('e'));
    await put(workspace('f', 'SKILL.md'), skill('f'));
    await put(workspace('f', 'other.md'), 'Text.');
    await put(workspace('f', 'inner', 'SKILL.md'), skill('inner'));
    await put(project('.agents', 'skills', 'g', 'SKILL.md'), skill('g'));
    await put(at('plugin', 'skills', 'h', 'SKILL.md'), skill('h'));
    await put(at('single', 'SKILL.md'), skill('i'));
    await put(at('single', 'other', 'SKILL.md'), skill('other'));
    expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']);
  });
});
