/** Reading a file that anybody may have put there: a pipe, a device, a file without end, a link to a secret. */
import { open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { READ_FLAGS, readBytes } from './open-regular.ts';

export interface ReadLimits {
  /** A longer file is refused. */
  maxBytes: number;
  /**
   * Called before anything is read with the real path of the opened file; throws to refuse it. On Linux it is the path of
   * the descriptor, so that a link that is swapped after the check gains nothing.
   */
  admit?(real: string): void | Promise<void>;
}

/** A file that is not read: no regular file, or longer than the bound. */
export class UnsuitableFile extends Error {
  override readonly name = 'UnsuitableFile';
}

/** Files of `/proc` have the size 0, and others grow while they are read. */
const GROWTH_BYTES = 65_536;

const realPathOf = (file: FileHandle, path: string): Promise<string> =>
  process.platform === 'linux' ? readlink(`/proc/self/fd/${file.fd}`) : realpath(path);

/** All bytes, or the first `maxBytes + 1` of a longer file. */
async function readUpTo(file: FileHandle, size: number, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for (let next = size + 1; ; next = GROWTH_BYTES) {
    const wanted = Math.min(next, maxBytes + 1 - length);
    const chunk = await readBytes(file, length, wanted);
    chunks.push(chunk);
    length += chunk.length;
    if (chunk.length < wanted || length > maxBytes) return chunks.length === 1 ? chunk : Buffer.concat(chunks);
  }
}

/**
 * Returns the bytes of a regular file; never waits for the other end of a pipe. Throws `UnsuitableFile` for any other kind of
 * file and for one longer than `maxBytes`, and whatever `admit` and the system throw.
 */
export async function readRegular(path: string, { maxBytes, admit }: ReadLimits): Promise<Uint8Array> {
  const file = await open(path, READ_FLAGS);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new UnsuitableFile(`${path} is not a regular file`);
    await admit?.(await realPathOf(file, path));
    const bytes = stats.size > maxBytes ? undefined : await readUpTo(file, stats.size, maxBytes);
    if (bytes === undefined || bytes.length > maxBytes) {
      throw new UnsuitableFile(`${path} is larger than ${maxBytes} bytes`);
    }
    return bytes;
  } finally {
    await file.close();
  }
}
