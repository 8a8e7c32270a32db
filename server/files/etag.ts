import type { Stats } from 'node:fs';

/** Changes when the file does; unquoted. */
export function etagOf({ mtimeMs, size, ino }: Pick<Stats, 'mtimeMs' | 'size' | 'ino'>): string {
  return `${Math.floor(mtimeMs).toString(36)}-${size.toString(36)}-${ino.toString(36)}`;
}
