/** Replaces a user's file and preserves its attributes. */
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeFileAtomic } from './atomic-write.ts';

/** Mode of new files, narrowed by the umask. */
const NEW_FILE_MODE = 0o666;

/**
 * Replaces the file's content by rename and preserves its permission bits. A file with several hard links or another
 * owner is written in place, because a rename would break those. `path` must have its links resolved; missing parents
 * are created.
 */
export async function replaceFile(path: string, data: string | Uint8Array): Promise<void> {
  const before = await stat(path).catch(() => undefined);
  if (!before) {
    await mkdir(dirname(path), { recursive: true });
    await writeFileAtomic(path, data, NEW_FILE_MODE);
  } else if (before.nlink > 1 || (process.getuid !== undefined && before.uid !== process.getuid())) {
    await writeFile(path, data);
  } else {
    const mode = before.mode & 0o7777;
    await writeFileAtomic(path, data, mode);
    await chmod(path, mode);
  }
}
