import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';

const INDEX_FILE = /^(index|search)-v(\d+)\.db(?:-wal|-shm)?$/;

export interface OldIndexesOptions {
  home: string;
  /** The current schema version of each index. Newer ones are retained, so that a later upgrade finds them filled. */
  versions: { index: number; search: number };
  /** True if a live server of the home may have an older index open. Called only if there is one. */
  inUse(): Promise<boolean>;
}

/** Removes session and search indexes of older schema versions, which are derived data. */
export async function removeOldIndexes({ home, versions, inUse }: OldIndexesOptions): Promise<void> {
  const directory = join(home, 'cache');
  const names = await readdir(directory).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const old = names.filter((name) => {
    const [, kind, version] = INDEX_FILE.exec(name) ?? [];
    return Number(version) < versions[kind === 'search' ? 'search' : 'index'];
  });
  if (old.length === 0 || (await inUse())) return;
  for (const name of old) await rm(join(directory, name), { force: true });
}
