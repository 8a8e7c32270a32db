/** Finds and reads agent files; their folders may contain files of any author. */
import { join } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import type { Runtime } from '#server/runtime/runtime.ts';

const MAX_DEPTH = 8;
/** Limits for one folder with its subfolders. */
const MAX_FILES = 200;
const MAX_DIRECTORIES = 200;
/** A larger file is not read. */
export const AGENT_FILE_BYTES = 256 * 1024;

export type FolderFiles = Pick<Runtime, 'list' | 'stat' | 'realpath' | 'readFile'>;

/** A folder of agent files. */
export interface AgentFolder {
  path: string;
  /** Links are followed only within this directory; undefined for the user's folders, whose links may lead anywhere. */
  within?: string;
}

/** A file with its stats at the last check. */
export interface SeenFile {
  path: string;
  mtimeMs: number;
  size: number;
}

/** The `.md` files of a folder and its subfolders, ordered by path; empty if the folder does not exist. */
export async function findAgentFiles(folder: AgentFolder, files: FolderFiles): Promise<SeenFile[]> {
  const found: SeenFile[] = [];
  let directories = 0;

  async function look(directory: string, depth: number): Promise<void> {
    directories += 1;
    if (directories > MAX_DIRECTORIES) return;
    const entries = await files.list(directory).catch(() => []);
    const shown = entries.filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules');
    for (const entry of shown.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (found.length >= MAX_FILES) return;
      const path = join(directory, entry.name);
      // False for a symbolic link to a directory, so such links are not followed.
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH) await look(path, depth + 1);
      } else if (entry.name.endsWith('.md')) {
        const seen = await seenFile(path, folder, files);
        if (seen) found.push(seen);
      }
    }
  }

  if (await isThere(folder, files)) await look(folder.path, 1);
  return found;
}

async function isThere({ path, within }: AgentFolder, files: FolderFiles): Promise<boolean> {
  const stats = await files.stat(path).catch(() => undefined);
  return stats?.isDirectory() === true && (await staysWithin(path, within, files));
}

/** Stats of the file; undefined if it may not be read. */
export async function seenFile(path: string, { within }: Omit<AgentFolder, 'path'>, files: FolderFiles) {
  const stats = await files.stat(path).catch(() => undefined);
  if (!stats?.isFile() || !(await staysWithin(path, within, files))) return undefined;
  const { mtimeMs, size } = stats;
  return { path, mtimeMs, size };
}

async function staysWithin(path: string, within: string | undefined, files: FolderFiles): Promise<boolean> {
  if (within === undefined) return true;
  try {
    const [real, root] = await Promise.all([files.realpath(path), files.realpath(within)]);
    return isInside(real, root);
  } catch {
    return false;
  }
}

/** Reads the file's text. Throws if it is no file any more, too large, outside of `within`, or unreadable. */
export async function readAgentFile(
  path: string,
  { within }: Omit<AgentFolder, 'path'>,
  { readFile, realpath }: Pick<FolderFiles, 'readFile' | 'realpath'>,
): Promise<string> {
  const root = within === undefined ? undefined : await realpath(within);
  const bytes = await readFile(path, {
    maxBytes: AGENT_FILE_BYTES,
    admit(real) {
      if (root !== undefined && !isInside(real, root)) throw new Error('it leads out of the project');
    },
  });
  return Buffer.from(bytes).toString('utf8');
}
