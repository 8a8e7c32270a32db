import type { Stats } from 'node:fs';

/** Changes when the file does; unquoted. */
export function etagOf({ mtimeMs, size, ino }: Pick<Stats, 'mtimeMs' | 'size' | 'ino'>): string {
  return [Math.floor(mtimeMs), size, ino].map((part) => part.toString(36)).join('-');
}
