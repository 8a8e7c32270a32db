/**
 * Opens directories of a tree so that a link that replaces one concurrently is not followed: on Linux the descriptor's
 * real path is compared with the expected one, and the directory is accessed through the descriptor. On other systems
 * the real path is checked before.
 */
import { constants, type Dirent } from 'node:fs';
import { open, opendir, readdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';
import { byDescriptor, DESCRIPTORS } from '#server/files/descriptors.ts';
import { lstatOf } from '#server/files/open-within.ts';
import type { EntryKind } from './changes.ts';

const DIRECTORY_FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** From this size on a directory is listed incrementally: building a long list synchronously blocks the event loop. */
const LONG_DIRECTORY_BYTES = 256 * 1024;
const PIECE_ENTRIES = 512;

/** Whether the error means that the directory does not exist, or cannot be accessed. */
export const isUnreachable = (error: unknown) =>
  ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM', 'ENAMETOOLONG'].includes(errorCode(error) ?? '');

interface Typed {
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** Pipes, sockets and devices are reported as files. */
const kindOf = (entry: Typed): EntryKind =>
  entry.isSymbolicLink() ? 'symlink' : entry.isDirectory() ? 'directory' : 'file';

export interface OpenDirectory {
  /** Path to use while the directory is open. */
  readonly at: string;
  list(): Promise<Map<string, EntryKind>>;
  /** Returns the kind of an entry; undefined when it does not exist. */
  kind(name: string): Promise<EntryKind | undefined>;
  /** Returns at most `maxBytes` of a regular file; undefined when it is missing or unreadable. */
  text(name: string, maxBytes: number): Promise<string | undefined>;
}

// Opening a pipe without a writer must not block.
const FILE_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function text(path: string, maxBytes: number): Promise<string | undefined> {
  try {
    const file = await open(path, FILE_FLAGS);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return undefined;
      const buffer = Buffer.alloc(Math.min(stats.size, maxBytes));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isUnreachable(error)) return undefined;
    throw error;
  }
}

async function list(at: string, long: boolean): Promise<Map<string, EntryKind>> {
  const kinds = new Map<string, EntryKind>();
  const add = (entry: Dirent) => void kinds.set(entry.name, kindOf(entry));
  if (long) for await (const entry of await opendir(at, { bufferSize: PIECE_ENTRIES })) add(entry);
  else for (const entry of await readdir(at, { withFileTypes: true })) add(entry);
  return kinds;
}

async function kind(path: string): Promise<EntryKind | undefined> {
  try {
    return kindOf(await lstatOf(path));
  } catch (error) {
    if (isUnreachable(error)) return undefined;
    throw error;
  }
}

const opened = (at: string, size: number): OpenDirectory => ({
  at,
  list: () => list(at, size > LONG_DIRECTORY_BYTES),
  kind: (name) => kind(join(at, name)),
  text: (name, maxBytes) => text(join(at, name), maxBytes),
});

const notThere = (path: string) => Object.assign(new Error(`no such directory: ${path}`), { code: 'ENOENT' });

/** Calls `work` with the directory of that real path. Rejects with the system's error, `ENOENT` for a moved one. */
export async function inDirectory<T>(path: string, work: (directory: OpenDirectory) => Promise<T>): Promise<T> {
  if (!byDescriptor) {
    if ((await realpath(path)) !== path) throw notThere(path);
    return work(opened(path, (await lstatOf(path)).size));
  }
  const handle = await open(path, DIRECTORY_FLAGS);
  try {
    const at = `${DESCRIPTORS}/${handle.fd}`;
    if ((await readlink(at)) !== path) throw notThere(path);
    return await work(opened(at, (await handle.stat()).size));
  } finally {
    await handle.close();
  }
}
