/** Session folders that are being made: under another name, so that nobody takes them for sessions. */
import { rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const PREFIX = '.unfinished-';
/** Making one takes seconds; what is so old was left by a server that died. */
const ABANDONED_MS = 60 * 60 * 1000;

/** Where a folder is made before it gets its name. */
export const unfinishedPath = (dir: string): string => join(dirname(dir), `${PREFIX}${basename(dir)}`);

export const isUnfinished = (name: string): boolean => name.startsWith(PREFIX);

/** Removes one that nobody works on any more. */
export async function removeAbandoned(dir: string): Promise<void> {
  const { mtimeMs } = await stat(dir);
  if (Date.now() - mtimeMs > ABANDONED_MS) await rm(dir, { recursive: true, force: true });
}
