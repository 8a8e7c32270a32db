import { open } from 'node:fs/promises';
import { onTestFinished, vi } from 'vitest';

/** Records the inodes of the files and directories that are synced from now until the test completes, in order. */
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
