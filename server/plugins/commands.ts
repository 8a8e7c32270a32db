/** The slash commands of plugins: Markdown files whose text becomes a prompt. */
import { randomUUID } from 'node:crypto';
import { basename, relative, sep } from 'node:path';
import { coalesced } from '#server/async/coalesce.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { compareNames } from '#server/files/compare-names.ts';
import {
  isUnchanged,
  readMarkdownFile,
  seenFile,
  type FolderFiles,
  type SeenFile,
} from '#server/files/markdown-files.ts';
import { findMarkdownFiles } from '#server/files/markdown-folders.ts';
import { event, type CompleteDraft } from '#server/journal/records.ts';
import { parseCommandFile, type CommandFile } from '#server/skills/command-file.ts';
import { SKILL_LIMITS, skillWarning } from '#server/skills/skill-files.ts';
import type { Origin } from '#schema/engine.ts';
import type { SessionWarning } from '#schema/rest/session.ts';
import type { SkillDescriptor } from '#schema/rest/skill.ts';
import type { EnabledPlugin } from './installed-plugins.ts';

const PLACEHOLDER = '$ARGUMENTS';

export interface PluginCommand {
  pluginId: string;
  /** Without the plugin's id. */
  name: string;
  description: string;
  path: string;
  body: string;
}

export interface CommandCatalog {
  /** Sorted by name, plugin by plugin; a name is unique within its plugin. */
  commands: readonly PluginCommand[];
  warnings: readonly SessionWarning[];
}

export interface PluginCommands {
  /** The result of a check that began after the call; concurrent calls share one. */
  look(): Promise<CommandCatalog>;
  /** The catalog of the last check. */
  seen(): CommandCatalog;
}

type Source = Pick<EnabledPlugin, 'id' | 'root' | 'manifest'>;
type Reading = SeenFile & ({ file: CommandFile } | { warning: SessionWarning });

interface FoundCommand {
  seen: SeenFile;
  /** Name unless the file sets one. */
  name: string;
}

/** The command files of a plugin with the names that their paths give. */
export async function findCommands(
  { root, manifest }: Omit<Source, 'id'>,
  files: FolderFiles,
): Promise<FoundCommand[]> {
  const found = await Promise.all(
    manifest.commands.map(async ({ kind, path }): Promise<FoundCommand[]> => {
      if (kind === 'file') {
        const seen = await seenFile(path, { within: root }, files);
        return seen ? [{ seen, name: basename(path).slice(0, -'.md'.length) }] : [];
      }
      const { files: seen } = await findMarkdownFiles({ path, within: root }, SKILL_LIMITS, files);
      return seen.map((file) => ({ seen: file, name: nameBelow(path, file.path) }));
    }),
  );
  return found.flat();
}

const nameBelow = (folder: string, path: string) => relative(folder, path).slice(0, -'.md'.length).replaceAll(sep, '/');

/** Creates the catalog; the files are read by `look`. */
export function createPluginCommands(deps: { plugins: () => readonly Source[]; files: FolderFiles }): PluginCommands {
  const { files } = deps;
  let known = new Map<string, Reading>();
  let catalog: CommandCatalog = { commands: [], warnings: [] };

  async function readOnce(seen: SeenFile, within: string): Promise<Reading> {
    const before = known.get(seen.path);
    if (before && isUnchanged(seen, before)) return before;
    try {
      const source = await readMarkdownFile(seen.path, { within, maxBytes: SKILL_LIMITS.bytesPerFile }, files);
      return { ...seen, file: await parseCommandFile(source) };
    } catch (error) {
      return { ...seen, warning: skillWarning(`The command ${seen.path} is not used: ${errorMessage(error)}.`) };
    }
  }

  const look = coalesced(async () => {
    const read = new Map<string, Reading>();
    const commands: PluginCommand[] = [];
    for (const plugin of deps.plugins()) {
      const own = new Map<string, PluginCommand>();
      for (const { seen, name } of await findCommands(plugin, files)) {
        const reading = await readOnce(seen, plugin.root);
        read.set(seen.path, reading);
        if (!('file' in reading)) continue;
        const { file } = reading;
        const command = { pluginId: plugin.id, path: seen.path, ...file, name: file.name ?? name };
        if (!own.has(command.name)) own.set(command.name, command);
      }
      commands.push(...[...own.values()].toSorted((a, b) => compareNames(a.name, b.name)));
    }
    known = read;
    catalog = { commands, warnings: [...read.values()].flatMap((one) => ('warning' in one ? one.warning : [])) };
  });

  return {
    async look() {
      await look();
      return catalog;
    },
    seen: () => catalog,
  };
}

/** The name by which people call a command. */
export const commandKey = ({ pluginId, name }: Pick<PluginCommand, 'pluginId' | 'name'>) => `${pluginId}:${name}`;

/** The command with this name; undefined if there is none. */
export const findCommand = ({ commands }: CommandCatalog, key: string): PluginCommand | undefined =>
  commands.find((command) => commandKey(command) === key);

/** The commands as listed for clients, sorted by name. */
export const commandDescriptors = ({ commands }: CommandCatalog): SkillDescriptor[] =>
  commands
    .map((command): SkillDescriptor => {
      const { description, path } = command;
      return { name: commandKey(command), description, path, source: 'extra', type: 'command' };
    })
    .toSorted((a, b) => compareNames(a.name, b.name));

export interface CommandActivation {
  /** The text of the prompt. */
  text: string;
  origin: Extract<Origin, { kind: 'plugin_command' }>;
  event(agentId: string): CompleteDraft;
}

/** Fills in the arguments as typed, in one pass; without a placeholder they follow the text. */
export function activateCommand({ pluginId, name, body }: PluginCommand, args: string | undefined): CommandActivation {
  const facts = {
    activationId: randomUUID(),
    pluginId,
    commandName: name,
    ...(args === undefined ? {} : { commandArgs: args }),
    trigger: 'user-slash' as const,
  };
  const filled = body.replaceAll(PLACEHOLDER, () => args ?? '');
  const isAppended = !body.includes(PLACEHOLDER) && args !== undefined && args.trim() !== '';
  return {
    text: isAppended ? `${body}\n\nARGUMENTS: ${args}` : filled,
    origin: { kind: 'plugin_command', ...facts },
    event: (agentId) => event(agentId, 'plugin_command.activated', facts),
  };
}
