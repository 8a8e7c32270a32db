/** The members of a manifest that name Markdown files and their directories. */
import { LIST_MAX } from '#schema/client-array.ts';
import type { Report } from './diagnostics.ts';
import { insidePath, type PluginRoot } from './paths-inside.ts';

/** A command file, or a directory that is searched for them. */
export interface CommandPath {
  kind: 'file' | 'directory';
  path: string;
}

/** The value as a list; undefined for anything but a text and a list of texts. */
function pathList(value: unknown): string[] | undefined {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return undefined;
  return [...new Set(value)].slice(0, LIST_MAX);
}

/** Existing directories. A malformed member is an error, a missing directory is omitted. */
async function readFolders(field: string, value: unknown, root: PluginRoot, report: Report): Promise<string[]> {
  const paths = pathList(value);
  if (!paths) {
    report('error', `"${field}" must be a path or a list of paths`);
    return [];
  }
  const folders: string[] = [];
  for (const path of paths) {
    const found = await insidePath(root, path);
    if (found.kind === 'directory') folders.push(found.path);
    else if (found.kind === 'malformed')
      report('error', `"${field}": ${JSON.stringify(path)} does not start with "./"`);
    else if (found.kind === 'outside') report('error', `"${field}": ${JSON.stringify(path)} leads out of the plugin`);
    else report('warn', `"${field}": ${JSON.stringify(path)} is not a directory`);
  }
  return folders;
}

export interface Skills {
  skillFolders: string[];
  skillFile: string | undefined;
}

/** Default: the `SKILL.md` of the plugin's root, without a search of its directories. */
export async function readSkills(value: unknown, root: PluginRoot, report: Report): Promise<Skills> {
  if (value !== undefined) {
    return { skillFolders: await readFolders('skills', value, root, report), skillFile: undefined };
  }
  const only = await insidePath(root, './SKILL.md');
  return { skillFolders: [], skillFile: only.kind === 'file' ? only.path : undefined };
}

/** Default: the directory `agents`, if it exists. */
export async function readAgents(value: unknown, root: PluginRoot, report: Report): Promise<string[]> {
  if (value !== undefined) return readFolders('agents', value, root, report);
  const folder = await insidePath(root, './agents');
  return folder.kind === 'directory' ? [folder.path] : [];
}

/** Malformed and missing paths are dropped with a warning. */
export async function readCommands(value: unknown, root: PluginRoot, report: Report): Promise<CommandPath[]> {
  if (value === undefined) return [];
  const paths = pathList(value);
  if (!paths) {
    report('warn', '"commands" must be a path or a list of paths');
    return [];
  }
  const commands: CommandPath[] = [];
  for (const path of paths) {
    const found = await insidePath(root, path);
    if (found.kind === 'directory') commands.push(found);
    else if (found.kind === 'file' && path.toLowerCase().endsWith('.md')) commands.push(found);
    else report('warn', `"commands": ${JSON.stringify(path)} ${COMMAND_REASONS[found.kind]}`);
  }
  return commands;
}

const COMMAND_REASONS = {
  file: 'is not a .md file',
  missing: 'is neither a file nor a directory',
  malformed: 'does not start with "./"',
  outside: 'leads out of the plugin',
};
