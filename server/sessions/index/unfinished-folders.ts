/** Session folders under construction; they have a temporary name, so that they are not listed as sessions. */
import { rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const PREFIX = '.unfinished-';
/** Creating a folder takes seconds; an older one was left by a killed server. */
const ABANDONED_MS = 60 * 60 * 1000;

/** Returns the temporary path at which a folder is created before it is renamed to `dir`. */
export const unfinishedPath = (dir: string): string => join(dirname(dir), `${PREFIX}${basename(dir)}`);

export const isUnfinished = (name: string): boolean => name.startsWith(PREFIX);

/** Removes an unfinished folder if it is older than an hour. */
export async function removeAbandoned(dir: string): Promise<void> {
  const { mtimeMs } = await stat(dir);
  if (Date.now() - mtimeMs > ABANDONED_MS) await rm(dir, { recursive: true, force: true });
}
