/** Atomic and durable file writes. */
import { chmod, mkdir, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';

/** The operating system's limit. */
const MAX_LINKS = 40;
const OWNER_ONLY = 0o600;

/**
 * Writes a file atomically: temporary file in the same directory, fsync, rename. The directory must exist. Default
 * mode: 0600. A power failure may restore the old file; use `writeFileDurable` for content that must survive one.
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

/** Syncs a directory, so that its renames and new entries survive a power failure. No-op where the platform cannot. */
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

/** Like `writeFileAtomic`, but durable: after it resolves the write survives a power failure. */
export async function writeFileDurable(path: string, data: string | Uint8Array, mode = OWNER_ONLY): Promise<void> {
  await writeFileAtomic(path, data, mode);
  await syncDirectory(dirname(path));
}

/**
 * Creates a directory and its missing parents below `base` durably, with mode 0700. Rejects with ENOENT if `base` does
 * not exist, so that a home that was moved away is not created again.
 */
export async function makeDurableDirectory(base: string, path: string): Promise<void> {
  await stat(base);
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  // The entry of a new directory is stored in its parent, so every parent is synced.
  for (let made = resolve(path); ; made = dirname(made)) {
    await syncDirectory(dirname(made));
    if (made === resolve(first)) return;
  }
}

/**
 * The path that a write through `path` reaches: follows symbolic links of the last segment, including dangling ones.
 */
export async function followLinks(path: string): Promise<string> {
  let at = path;
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const target = await readlink(at).catch((error: unknown) => {
      // Not a link, or the path does not exist.
      if (errorCode(error) === 'EINVAL' || errorCode(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (target === undefined) return at;
    at = resolve(await realpath(dirname(at)), target);
  }
  throw new Error(`too many links: ${path}`);
}

/** Like `writeFileDurable`, for a user's file: links are followed and the target's mode is preserved. */
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
