/** Reads files from untrusted locations: the path may be a pipe, a device, an endless file or a link to a secret. */
import { open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { READ_FLAGS, readBytes } from './open-regular.ts';

export interface ReadLimits {
  /** A longer file is rejected. */
  maxBytes: number;
  /**
   * Called with the real path of the opened file before any read; throws to reject it. On Linux this is the
   * descriptor's path, so swapping a link after the check has no effect.
   */
  admit?(real: string): void | Promise<void>;
}

/** Thrown for a file that is not regular or longer than the limit. */
export class UnsuitableFile extends Error {
  override readonly name = 'UnsuitableFile';
}

/** Read size after the first chunk: files of `/proc` have size 0, and others may grow while they are read. */
const GROWTH_BYTES = 65_536;

const realPathOf = (file: FileHandle, path: string): Promise<string> =>
  process.platform === 'linux' ? readlink(`/proc/self/fd/${file.fd}`) : realpath(path);

/** Reads the whole file, or the first `maxBytes + 1` bytes of a longer one. */
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
 * Reads a regular file; never waits for the other end of a pipe. Throws `UnsuitableFile` for any other kind of file and
 * for one longer than `maxBytes`, and passes on errors of `admit` and of the system.
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
