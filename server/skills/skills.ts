/** The skills that apply to a directory: those shipped with the server and those in folders of plugins, user and project. */
import type { FolderFiles } from '#server/files/markdown-files.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Project, Projects } from '#server/project-files/projects.ts';
import type { SkillCatalog } from './skill.ts';

export interface SkillSettings {
  /** Value of `extra_skill_dirs`. */
  extraSkillDirs: readonly string[];
  /** False: of the user's folders, and of the project's, only the first that exists. */
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

export interface SkillsDeps {
  files: FolderFiles;
  /** The server's home, with the user's skills. */
  home: string;
  /** The user's home directory, for `~`. */
  homeDirectory(): string;
  project(cwd: string): Promise<Pick<Project, 'top'>>;
  admits: Projects['admits'];
  settings(): SkillSettings;
  /** Read at each check. Of equal names the first wins. */
  pluginFolders(): readonly PluginSkills[];
  log: Pick<Logger, 'warn'>;
}

export interface Skills {
  /** The result of a check that began after the call; concurrent calls share one. Never rejects. */
  look(cwd: string): Promise<SkillCatalog>;
  /** The catalog of the last check; before the first one the shipped skills. */
  seen(cwd: string): SkillCatalog;
}
