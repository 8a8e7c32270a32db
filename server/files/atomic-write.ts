import { open, rename, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';

/**
 * Writes a file whole or not at all: temporary file beside it, fsync, rename. The directory must exist. Mode 0600
 * unless given.
 */
export async function writeFileAtomic(path: string, data: string | Uint8Array, mode = 0o600): Promise<void> {
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
