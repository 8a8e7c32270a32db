/** Reading the first bytes of a file, whatever its size. */
import type { OpenFile, Runtime } from '#server/runtime/runtime.ts';

/** The first bytes of an open file, at most `maxBytes`. */
export async function startOf(file: OpenFile, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let left = maxBytes; left > 0;) {
    const chunk = await file.read(left);
    if (chunk.length === 0) break;
    chunks.push(chunk);
    left -= chunk.length;
  }
  return Buffer.concat(chunks);
}

/** The first bytes of a regular file; undefined for anything else. Rejects with the system's error. */
export async function readStart(
  path: string,
  maxBytes: number,
  { openFile }: Pick<Runtime, 'openFile'>,
): Promise<Buffer | undefined> {
  const file = await openFile(path);
  try {
    return file.stats.isFile() ? await startOf(file, maxBytes) : undefined;
  } finally {
    await file.close();
  }
}
