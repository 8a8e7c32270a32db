/** Reads single Markdown files from folders that may contain files of any author. */
import { isInside } from './paths.ts';
import type { ReadLimits } from './read-regular.ts';

interface FileStats {
  isFile(): boolean;
  isDirectory(): boolean;
  size: number;
  mtimeMs: number;
}

/** An entry of a directory; for a link both are false. */
export interface FolderEntry {
  name: string;
  isFile(): boolean;
  isDirectory(): boolean;
}

/** The calls to the file system that searches and reads use. */
export interface FolderFiles {
  list(path: string): Promise<readonly FolderEntry[]>;
  /** Follows links. */
  stat(path: string): Promise<FileStats>;
  realpath(path: string): Promise<string>;
  readFile(path: string, limits: ReadLimits): Promise<Uint8Array>;
}

export interface MarkdownFolder {
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

/** Whether a file has the size and the modification time of an earlier check, so that it need not be read again. */
export const isUnchanged = (now: SeenFile, before: SeenFile): boolean =>
  now.mtimeMs === before.mtimeMs && now.size === before.size;

/** Stats of the file; undefined if it is no regular file, or outside of `within`. */
export async function seenFile(
  path: string,
  { within }: Omit<MarkdownFolder, 'path'>,
  files: Pick<FolderFiles, 'stat' | 'realpath'>,
): Promise<SeenFile | undefined> {
  const stats = await files.stat(path).catch(() => undefined);
  if (!stats?.isFile() || !(await staysWithin(path, within, files))) return undefined;
  const { mtimeMs, size } = stats;
  return { path, mtimeMs, size };
}

async function staysWithin(path: string, within: string | undefined, files: Pick<FolderFiles, 'realpath'>) {
  if (within === undefined) return true;
  try {
    const [real, root] = await Promise.all([files.realpath(path), files.realpath(within)]);
    return isInside(real, root);
  } catch {
    return false;
  }
}

/** Reads the file's text. Throws if it is no file any more, too large, outside of `within`, or unreadable. */
export async function readMarkdownFile(
  path: string,
  { within, maxBytes }: Omit<MarkdownFolder, 'path'> & { maxBytes: number },
  { readFile, realpath }: Pick<FolderFiles, 'readFile' | 'realpath'>,
): Promise<string> {
  const root = within === undefined ? undefined : await realpath(within);
  const bytes = await readFile(path, {
    maxBytes,
    admit(real) {
      if (root !== undefined && !isInside(real, root)) throw new Error('it leads out of its folder');
    },
  });
  return Buffer.from(bytes).toString('utf8');
}
