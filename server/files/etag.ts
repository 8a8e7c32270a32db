import type { Stats } from 'node:fs';

/** Unquoted; changes with the file's modification time, size or inode. */
export function etagOf({ mtimeMs, size, ino }: Pick<Stats, 'mtimeMs' | 'size' | 'ino'>): string {
  return `${Math.floor(mtimeMs).toString(36)}-${size.toString(36)}-${ino.toString(36)}`;
}
