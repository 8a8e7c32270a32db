/** Builds the file entries of replies. */
import { basename, join } from 'node:path';
import { constants } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { etagOf } from '#server/files/etag.ts';
import { lstatOf, type OpenPath } from '#server/files/open-within.ts';
import { iso } from '#schema/scalars.ts';
import type { FileEntry } from '#schema/rest/file-entry.ts';
import type { EntryStats } from './directory-reader.ts';

/** Pipes, sockets and devices are reported as files. */
export function kindOf({ mode }: Pick<EntryStats, 'mode'>): FileEntry['kind'] {
  const type = mode & constants.S_IFMT;
  return type === constants.S_IFLNK ? 'symlink' : type === constants.S_IFDIR ? 'directory' : 'file';
}

/** Builds an entry; `path` is returned unchanged. */
export function fileEntry(path: string, name: string, stats: EntryStats): FileEntry {
  const kind = kindOf(stats);
  const modified_at = iso(Math.floor(stats.mtimeMs));
  const etag = etagOf(stats);
  if (kind === 'file') return { path, name, kind, size: stats.size, modified_at, etag };
  return { path, name, kind, modified_at, etag, is_symlink_to: stats.link };
}

/** Reads the entry `name` of an opened directory, reported as `path`; a link is not followed. */
export async function readEntry(parent: OpenPath, name: string, path: string): Promise<FileEntry> {
  const at = join(parent.at, name);
  const { mode, size, mtimeMs, ino } = await lstatOf(at);
  const link = kindOf({ mode }) === 'symlink' ? await readlink(at) : undefined;
  return fileEntry(path, name, { mode, size, mtimeMs, ino, link });
}

/** Builds the entry of the work directory itself. */
export async function rootEntry(place: OpenPath, root: string): Promise<FileEntry> {
  return fileEntry('.', basename(root) || root, await place.stat());
}
