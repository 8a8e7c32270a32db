/** The upward search for `.git` entries. */
import { dirname, join } from 'node:path';
import type { Runtime } from '#server/runtime/runtime.ts';

/** The directories at and above an absolute path that hold a `.git` entry of any kind and owner, nearest first. */
export async function* gitEntryHolders(start: string, { lstat }: Pick<Runtime, 'lstat'>): AsyncGenerator<string> {
  for (let directory = start; ; directory = dirname(directory)) {
    const exists = await lstat(join(directory, '.git')).then(
      () => true,
      () => false,
    );
    if (exists) yield directory;
    if (dirname(directory) === directory) return;
  }
}
