/** Parses the document of the directory: a large one in a worker thread. */
import * as z from 'zod';
import type { DirectoryTexts } from './directory-messages.ts';
import { parseInThread, SMALL_BYTES } from './parse-in-thread.ts';
import { trimWithPauses } from './trim-directory.ts';

const textsSchema = z.object({
  entries: z.array(z.tuple([z.string(), z.string()])),
  dropped: z.array(z.string()),
});

/** The bytes are not used afterwards. Rejects with the error of `trimDirectory`, `ThreadError`, the signal's reason. */
export async function parseDirectory(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<DirectoryTexts> {
  if (bytes.byteLength <= SMALL_BYTES) return trimWithPauses(bytes);
  const program = () => import('./directory-program.ts?thread');
  return textsSchema.parse(await parseInThread('model directory', program, bytes, signal));
}
