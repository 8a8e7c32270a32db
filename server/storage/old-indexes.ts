import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#server/files/errno.ts';

const INDEX_FILE = /^index-v(\d+)\.db(-wal|-shm)?$/;

export interface OldIndexesOptions {
  home: string;
  /** The schema version in use here. Newer ones stay: whoever goes back to them finds them filled. */
  version: number;
  /** Whether a live server of the home may have an older one open. Asked only when there is one. */
  inUse(): Promise<boolean>;
}

/** Removes the session indexes of older schema versions, which are derived and only take room. */
export async function removeOldIndexes({ home, version, inUse }: OldIndexesOptions): Promise<void> {
  const directory = join(home, 'cache');
  const names = await readdir(directory).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const old = names.filter((name) => Number(INDEX_FILE.exec(name)?.[1] ?? version) < version);
  if (old.length === 0 || (await inUse())) return;
  for (const name of old) await rm(join(directory, name), { force: true });
}
