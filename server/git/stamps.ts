/** File stamps: detect whether a file has changed since it was read. */
import type { Runtime } from '#server/runtime/runtime.ts';

export interface Stamp {
  /** Changes with the file; empty for a missing file. */
  text: string;
  ctimeMs: number;
}

/** Two changes within a tick of the file system's clock have the same time: a younger file may have changed since. */
const SETTLED_MS = 100;

export const stampOf = (path: string, { stat }: Pick<Runtime, 'stat'>): Promise<Stamp> =>
  stat(path).then(
    ({ ino, size, mtimeMs, ctimeMs }) => ({ text: `${ino} ${size} ${mtimeMs} ${ctimeMs}`, ctimeMs }),
    () => ({ text: '', ctimeMs: 0 }),
  );

/** Whether values read at a time (ms) may be cached under these stamps. */
export const areSettled = (stamps: readonly Stamp[], readAt: number): boolean =>
  stamps.every(({ ctimeMs }) => ctimeMs < readAt - SETTLED_MS);
