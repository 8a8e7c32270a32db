/** The folders of skills that apply to a directory, by priority. */
import { join, resolve } from 'node:path';
import type { MarkdownFolder } from '#server/files/markdown-files.ts';
import { isInside } from '#server/files/paths.ts';
import { AGENTS_FOLDER, PROJECT_FOLDER } from '#server/project-files/places.ts';
import type { Project } from '#server/project-files/projects.ts';
import type { Skill, SkillSource } from './skill.ts';

export interface SkillSettings {
  /** Value of `extra_skill_dirs`. */
  extraSkillDirs: readonly string[];
  /** False: of the user's folders, and of the project's, only the first that exists is searched. */
  mergeAllAvailableSkills: boolean;
  /** Whether the shipped skills are part of catalogs. */
  builtinProductSkills: boolean;
}

/** Skills of an enabled plugin. */
export interface PluginSkills {
  pluginId: string;
  /** Text that precedes the bodies of the plugin's skills. */
  instructions?: string;
  /** A folder of skills, or a single SKILL.md. */
  path: string;
  /** The plugin's root; links are followed only within it. */
  within: string;
}

export interface RootsDeps {
  /** The server's home, with the user's skills. */
  home: string;
  /** The user's home directory, for `~`. */
  homeDirectory(): string;
  project(cwd: string): Promise<Pick<Project, 'top'>>;
  settings(): SkillSettings;
  /** Read at each check. Of equal names the first wins. */
  pluginFolders(): readonly PluginSkills[];
}

export type RootKind = SkillSource | 'plugin';

/** The skill with the highest priority among those with one name is used. */
const PRIORITY: Record<RootKind, number> = { builtin: 0, plugin: 5, extra: 10, user: 20, project: 30 };

/** A folder of skills, or a single SKILL.md. */
export interface SkillRoot extends MarkdownFolder {
  kind: RootKind;
  /** The project whose authors control the content. */
  project?: string;
  plugin?: NonNullable<Skill['plugin']>;
}

export const kindOf = ({ source, plugin }: Pick<Skill, 'source' | 'plugin'>): RootKind => (plugin ? 'plugin' : source);
export const priorityOf = (skill: Pick<Skill, 'source' | 'plugin'>): number => PRIORITY[kindOf(skill)];

/** The folders, existing or not, from the highest priority to the lowest; within one priority the first wins. */
export async function skillRoots(cwd: string, deps: RootsDeps): Promise<SkillRoot[]> {
  const root = (await deps.project(cwd)).top ?? cwd;
  const ofProject = { within: root, project: root };
  const extra = deps.settings().extraSkillDirs.map((named): SkillRoot => {
    const path = resolve(root, named.replace(/^~(?=\/|$)/, deps.homeDirectory()));
    // The user has configured the folder, but the project controls its content.
    return { kind: 'extra', path, ...(isInside(path, root) && ofProject) };
  });
  const plugins = deps.pluginFolders().map(({ pluginId, instructions, path, within }): SkillRoot => {
    const plugin = { id: pluginId, ...(instructions === undefined ? {} : { instructions }) };
    return { kind: 'plugin', path, within, plugin };
  });
  return [
    { kind: 'project', path: join(root, PROJECT_FOLDER, 'skills'), ...ofProject },
    { kind: 'project', path: join(root, AGENTS_FOLDER, 'skills'), ...ofProject },
    { kind: 'user', path: join(deps.home, 'skills') },
    { kind: 'user', path: join(deps.homeDirectory(), AGENTS_FOLDER, 'skills') },
    ...extra,
    ...plugins,
  ];
}
