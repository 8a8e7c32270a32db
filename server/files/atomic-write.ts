/** Files that are written whole or not at all. */
import { chmod, mkdir, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { errorCode } from './errno.ts';

/** As many as the system itself follows. */
const MAX_LINKS = 40;
const OWNER_ONLY = 0o600;

/**
 * Writes a file whole or not at all: temporary file beside it, fsync, rename. The directory must exist. Mode 0600
 * unless given. A power cut may bring the old file back; what must not is written with `writeFileDurable`.
 */
export async function writeFileAtomic(path: string, data: string | Uint8Array, mode = OWNER_ONLY): Promise<void> {
  const temporary = `${path}.tmp-${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Makes renames and new names in a directory last. Nothing to do where the system cannot open or sync one. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } catch (error) {
    // Some network file systems sync files only.
    if (errorCode(error) !== 'EINVAL') throw error;
  } finally {
    await directory.close();
  }
}

/** As `writeFileAtomic`, for what must last: it resolves when a power cut can no longer take it back. */
export async function writeFileDurable(path: string, data: string | Uint8Array, mode = OWNER_ONLY): Promise<void> {
  await writeFileAtomic(path, data, mode);
  await syncDirectory(dirname(path));
}

/**
 * Creates a directory and its missing parents below `base`, readable for their owner only, for what must last. Rejects with
 * ENOENT when `base` does not exist: a home that was moved away is not created again.
 */
export async function makeDurableDirectory(base: string, path: string): Promise<void> {
  await stat(base);
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  // The names of the new directories stand in their parents.
  for (let made = resolve(path); ; made = dirname(made)) {
    await syncDirectory(dirname(made));
    if (made === resolve(first)) return;
  }
}

/**
 * Where a write through `path` lands: symbolic links of the last segment are followed, also to what is not there yet.
 */
export async function followLinks(path: string): Promise<string> {
  let at = path;
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const target = await readlink(at).catch((error: unknown) => {
      // No link, or nothing there.
      if (errorCode(error) === 'EINVAL' || errorCode(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (target === undefined) return at;
    at = resolve(await realpath(dirname(at)), target);
  }
  throw new Error(`too many links: ${path}`);
}

/** As `writeFileDurable`, for a file of the user's: links stay and their target is replaced, which keeps its mode. */
export async function writeThroughLinks(path: string, data: string | Uint8Array): Promise<void> {
  const target = await followLinks(path);
  const before = await stat(target).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  const mode = before ? before.mode & 0o777 : OWNER_ONLY;
  await writeFileDurable(target, data, mode);
  // The umask narrows the mode of a new file.
  if (before) await chmod(target, mode);
}
