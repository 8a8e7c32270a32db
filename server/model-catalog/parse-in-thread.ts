/** Parses documents in a worker thread, which ends afterwards. */
import { createThread, type ThreadOptions } from '#server/threads/thread.ts';

/** A smaller document is parsed in a few milliseconds, while a thread takes some 20 MiB. */
export const SMALL_BYTES = 512 * 1024;

/** A document of 16 MiB may expand to many times that; the thread ends if it exceeds this. */
const MEMORY_MB = 256;

/** Transfers the bytes to the program. Rejects with its error, `ThreadError`, and the signal's reason. */
export async function parseInThread(
  name: string,
  program: ThreadOptions['program'],
  bytes: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<unknown> {
  const thread = createThread({ name, program, resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB } });
  try {
    return await thread.request(bytes, { signal, transfer: [bytes.buffer] });
  } finally {
    await thread.terminate();
  }
}
