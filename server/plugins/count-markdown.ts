/** Counts the skills and the commands of a plugin, by the search that also serves them to sessions. */
import { seenFile, type FolderFiles } from '#server/files/markdown-files.ts';
import { findMarkdownFiles } from '#server/files/markdown-folders.ts';
import { createSkillFiles, SKILL_LIMITS } from '#server/skills/skill-files.ts';
import type { CommandPath } from './manifest-folders.ts';
import type { PluginManifest } from './manifest.ts';

export interface MarkdownCounts {
  skills: number;
  commands: number;
}

/** Counts the Markdown files that the manifest of the plugin at `root` names. Never rejects. */
export type CountMarkdown = (root: string, manifest: PluginManifest) => Promise<MarkdownCounts>;

/** Creates the counter; it reads a skill file again only if the file has changed. */
export function createMarkdownCounter(files: FolderFiles): CountMarkdown {
  const skillFiles = createSkillFiles(files);

  async function skillsIn(path: string, within: string): Promise<string[]> {
    const { readings } = await skillFiles.read({ path, within });
    return readings.flatMap((reading) => ('file' in reading ? reading.path : []));
  }

  async function commandsIn({ kind, path }: CommandPath, within: string): Promise<string[]> {
    if (kind === 'file') return (await seenFile(path, { within }, files)) ? [path] : [];
    const found = await findMarkdownFiles({ path, within }, SKILL_LIMITS, files);
    return found.files.map((file) => file.path);
  }

  return async (root, { skillFolders, skillFile, commands: named }) => {
    const paths = skillFile === undefined ? skillFolders : [skillFile];
    const [skills, commands] = await Promise.all([
      Promise.all(paths.map((path) => skillsIn(path, root))),
      Promise.all(named.map((command) => commandsIn(command, root))),
    ]);
    // Folders may contain each other.
    return { skills: new Set(skills.flat()).size, commands: new Set(commands.flat()).size };
  };
}
