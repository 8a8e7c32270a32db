import { open } from 'node:fs/promises';
import { onTestFinished, vi } from 'vitest';

/** Inodes of the files and directories that are synced from now on, in order; until the test ends. */
export async function watchSyncs(): Promise<number[]> {
  const handle = await open(import.meta.filename, 'r');
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  const { sync } = prototype;
  const synced: number[] = [];
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: typeof handle) {
    synced.push((await this.stat()).ino);
    return sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  return synced;
}
