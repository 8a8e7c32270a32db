/** Parses the document of the directory: a large one in a worker thread, which ends afterwards. */
import * as z from 'zod';
import { createThread } from '#server/threads/thread.ts';
import type { DirectoryTexts } from './directory-messages.ts';
import { trimWithPauses } from './trim-directory.ts';

/** A smaller document is parsed in a few milliseconds, while a thread takes some 20 MiB. */
const SMALL_BYTES = 512 * 1024;

/** A document of 16 MiB may expand to many times that; the thread ends if it exceeds this. */
const MEMORY_MB = 256;

const textsSchema = z.object({
  entries: z.array(z.tuple([z.string(), z.string()])),
  dropped: z.array(z.string()),
});

/** Transfers the bytes to the thread. Rejects with the error of `trimDirectory`, `ThreadError`, and the signal's reason. */
export async function parseDirectory(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<DirectoryTexts> {
  if (bytes.byteLength <= SMALL_BYTES) return trimWithPauses(bytes);
  const thread = createThread({
    name: 'model directory',
    program: () => import('./directory-program.ts?thread'),
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  try {
    return textsSchema.parse(await thread.request(bytes, { signal, transfer: [bytes.buffer] }));
  } finally {
    await thread.terminate();
  }
}
