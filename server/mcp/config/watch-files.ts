/** Watches a few files for changes, including files in directories that do not exist yet. */
import { watch, type FSWatcher } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { followLinks } from '#server/files/atomic-write.ts';
import type { Logger } from '#server/logging/log.ts';

/** Debounce, in milliseconds. */
const SETTLE_MS = 200;

const isDirectory = async (path: string) => (await stat(path).catch(() => undefined))?.isDirectory() ?? false;

/** The directory and name to watch for a path: the file itself, or its first missing parent directory. */
async function sign(path: string): Promise<{ directory: string; name: string }> {
  for (let at = path; ; at = dirname(at)) {
    const directory = dirname(at);
    if (directory === at || (await isDirectory(directory))) return { directory, name: basename(at) };
  }
}

/** Resolves when the watchers are installed. `changed` is debounced: called 200 ms after the last change. */
export async function watchFiles(
  paths: readonly string[],
  changed: () => void,
  log: Logger,
): Promise<{ close(): void }> {
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const failed = (error: unknown) => log.warn('configuration files cannot be watched', { err: error });

  function noticed(): void {
    if (closed) return;
    clearTimeout(timer);
    timer = setTimeout(() => void arm().then(changed, failed), SETTLE_MS);
    timer.unref();
  }

  function watchNames(directory: string, names: ReadonlySet<string>): FSWatcher[] {
    try {
      // The removal of a watched directory is reported under the directory's name.
      const own = basename(directory);
      const watcher = watch(directory, { persistent: false }, (_event, file) => {
        if (file === null || file === own || names.has(file)) noticed();
      });
      watcher.on('error', failed);
      return [watcher];
    } catch (error) {
      failed(error);
      return [];
    }
  }

  async function arm(): Promise<void> {
    const targets = await Promise.all(paths.map((path) => followLinks(path).catch(() => path)));
    const signs = await Promise.all([...new Set([...paths, ...targets])].map(sign));
    if (closed) return;
    const names = new Map<string, Set<string>>();
    for (const { directory, name } of signs) {
      names.set(directory, (names.get(directory) ?? new Set()).add(name));
    }
    const before = watchers;
    watchers = [...names].flatMap(([directory, wanted]) => watchNames(directory, wanted));
    for (const watcher of before) watcher.close();
  }

  await arm();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
