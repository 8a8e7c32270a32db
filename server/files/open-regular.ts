/** Opens a path of unknown type and returns it only if it is a regular file. */
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** Opening must not wait for the other end of a pipe or make a terminal the server's controlling terminal. */
export const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Undefined for anything but a regular file, checked after opening. `flags` are added. Rejects with system errors. */
export async function openRegular(path: string, flags = 0): Promise<FileHandle | undefined> {
  const file = await open(path, READ_FLAGS | flags);
  try {
    if ((await file.stat()).isFile()) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

/** Reads `length` bytes at offset `from`, fewer at the end of the file. */
export async function readBytes(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
