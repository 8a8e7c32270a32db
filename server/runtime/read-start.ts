/** Reads the first bytes of a file of any size. */
import type { OpenFile, Runtime } from './runtime.ts';

/** Reads at most `maxBytes` from an open file. */
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

/** The first bytes of a regular file; undefined for other kinds. Rejects with system errors. */
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
