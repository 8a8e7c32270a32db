/** Paths that a manifest names: each must stay inside the plugin, with all links resolved. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import { realPath } from '#server/runtime/real-path.ts';

export interface PluginRoot {
  /** Absolute path of the plugin. */
  path: string;
  /** The same with its links resolved. */
  real: string;
}

export type InsidePath =
  | { kind: 'file' | 'directory'; path: string }
  /** `malformed`: no text that starts with `./`. `missing`: also a device, a pipe, or a cycle of links. */
  | { kind: 'malformed' | 'outside' | 'missing' };

/** Resolves a path of a manifest, such as `./skills`. Never rejects. */
export async function insidePath(root: PluginRoot, value: unknown): Promise<InsidePath> {
  if (typeof value !== 'string' || !value.startsWith('./')) return { kind: 'malformed' };
  const path = join(root.path, value);
  try {
    if (!isInside(await realPath(path), root.real)) return { kind: 'outside' };
    const stats = await stat(path);
    if (stats.isDirectory()) return { kind: 'directory', path };
    return stats.isFile() ? { kind: 'file', path } : { kind: 'missing' };
  } catch {
    return { kind: 'missing' };
  }
}

/** Rejects an opened file that is outside the plugin; for `admit` of the bounded reader. */
export const admitInside = (root: PluginRoot) => (real: string) => {
  if (!isInside(real, root.real)) throw new Error('it leads out of the plugin');
};
