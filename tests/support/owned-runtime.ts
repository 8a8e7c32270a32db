/** The local file system with file owners that the test chooses, which otherwise only root could set. */
import { createLocalRuntime } from '#server/runtime/local.ts';
import type { FileStats, Runtime } from '#server/runtime/runtime.ts';

export const OWN = 1000;

/** `owners` maps paths to owners (`lstat` follows no links); other files belong to `OWN`, the effective user. */
export function createOwnedRuntime(owners: ReadonlyMap<string, number>): Runtime {
  const local = createLocalRuntime();
  const owned = (stats: FileStats, path: string): FileStats => ({
    isFile: () => stats.isFile(),
    isDirectory: () => stats.isDirectory(),
    size: stats.size,
    mtimeMs: stats.mtimeMs,
    ctimeMs: stats.ctimeMs,
    ino: stats.ino,
    uid: owners.get(path) ?? OWN,
  });
  return {
    ...local,
    effectiveUser: () => OWN,
    lstat: async (path) => owned(await local.lstat(path), path),
    stat: async (path) => owned(await local.stat(path), await local.realpath(path)),
  };
}
