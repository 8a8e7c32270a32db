/** The document of the directory that is part of the build. */
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';

const MAX_BYTES = 16 * 1024 * 1024;

/** Decompresses it, at each call; undefined for a build without one. */
export async function readSnapshot(): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const { default: compressed } = await import('./model-directory.json.br?base64');
  if (compressed === undefined) return undefined;
  const bytes = await promisify(brotliDecompress)(Buffer.from(compressed, 'base64'), { maxOutputLength: MAX_BYTES });
  // A buffer that is not shared can be transferred.
  return Uint8Array.from(bytes);
}
