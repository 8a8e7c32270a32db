/** The upward search for `.git` entries. */
import { dirname, join } from 'node:path';
import type { Runtime } from '#server/runtime/runtime.ts';

function directoriesAbove(path: string): string[] {
  const above: string[] = [];
  for (let directory = path; directory !== dirname(directory);) {
    directory = dirname(directory);
    above.push(directory);
  }
  return above;
}

/** The directories at and above an absolute path that contain a `.git` entry of any kind and owner, nearest first. */
export async function* gitEntryHolders(start: string, { lstat }: Pick<Runtime, 'lstat'>): AsyncGenerator<string> {
  const exists = (directory: string) =>
    lstat(join(directory, '.git')).then(
      () => true,
      () => false,
    );
  if (await exists(start)) yield start;
  // Most projects are opened at their top directory, so the ancestors are checked, in parallel, only for others.
  const above = directoriesAbove(start).map((directory) => ({ directory, exists: exists(directory) }));
  for (const { directory, exists: found } of above) if (await found) yield directory;
}
