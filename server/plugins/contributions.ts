/** The contributions of enabled plugins, in the form in which other domains read them. */
import type { MarkdownFolder } from '#server/files/markdown-files.ts';
import type { HookEntry } from '#server/hooks/hooks.ts';
import { memoizeByObject } from '#server/memo/by-object.ts';
import type { PluginSkills } from '#server/skills/roots.ts';
import type { EnabledPlugin } from './installed-plugins.ts';
import type { Plugins } from './plugins.ts';

export interface Contributions {
  skills: readonly PluginSkills[];
  agentFolders: readonly MarkdownFolder[];
  hooks: readonly HookEntry[];
  /** Root folders, which may be read without approval. */
  roots: readonly string[];
}

/** Variables of the programs that a plugin starts. */
export const pluginVariables = (home: string, root: string): Record<string, string> => ({
  SERVICE_CODE_HOME: home,
  SERVICE_PLUGIN_ROOT: root,
});

function skillsOf({ id, root, manifest }: EnabledPlugin): PluginSkills[] {
  const { skillFolders, skillFile, skillInstructions } = manifest;
  const instructions = skillInstructions === undefined ? {} : { instructions: skillInstructions };
  const paths = skillFile === undefined ? skillFolders : [skillFile];
  return paths.map((path) => ({ pluginId: id, ...instructions, path, within: root }));
}

/** Returns a function that reads the present contributions; the same object until the plugins change. */
export function createContributions(plugins: Pick<Plugins, 'enabled'>, home: string): () => Contributions {
  const contributionsOf = memoizeByObject((enabled: readonly EnabledPlugin[]): Contributions => ({
    skills: enabled.flatMap(skillsOf),
    agentFolders: enabled.flatMap(({ root, manifest }) =>
      manifest.agentFolders.map((path) => ({ path, within: root })),
    ),
    hooks: enabled.flatMap(({ root, manifest }) =>
      manifest.hooks.map((hook) => ({ ...hook, cwd: root, env: pluginVariables(home, root) })),
    ),
    roots: enabled.map(({ root }) => root),
  }));
  return () => contributionsOf(plugins.enabled());
}
