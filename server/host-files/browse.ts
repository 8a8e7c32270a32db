/** Lists the directories of this machine, for choosing one. */
import { opendir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createTimeSlice } from '#server/async/yield.ts';
import { compareNames } from '#server/files/compare-names.ts';
import { onPath } from '#server/files/path-error.ts';
import { sortYielding } from '#server/async/sort-yielding.ts';
import type { HostDirectory } from '#schema/rest/host-files.ts';
import { assertAbsolute } from './host-path.ts';

const READ_AHEAD = 512;

const hiddenLast = (a: string, b: string) =>
  Number(a.startsWith('.')) - Number(b.startsWith('.')) || compareNames(a, b);

/** Lists real directories, hidden ones last. Throws the errors of `onPath`, and `validation.failed`. */
export async function browse(path: string): Promise<HostDirectory> {
  assertAbsolute(path);
  return onPath(path, async () => {
    const real = await realpath(path);
    const names: string[] = [];
    const slice = createTimeSlice();
    for await (const entry of await opendir(real, { bufferSize: READ_AHEAD })) {
      if (entry.isDirectory()) names.push(entry.name);
      if (slice.due()) await slice.rest();
    }
    const entries = (await sortYielding(names, hiddenLast)).map((name) => ({
      name,
      path: join(real, name),
      is_dir: true as const,
    }));
    const parent = dirname(real);
    return { path: real, parent: parent === real ? null : parent, entries };
  });
}
