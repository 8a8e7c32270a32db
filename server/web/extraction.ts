/**
 * Extracts the main text of a page. A hostile page may need unbounded time or memory, so a worker thread parses it, one
 * for each page, and is terminated afterwards.
 */
import * as z from 'zod';
import type { Clock } from '#server/clock.ts';
import { OUTPUT_MAX_CHARS } from '#server/text/truncate.ts';
import { createThread, ThreadError } from '#server/threads/thread.ts';
import type { ExtractedText, ExtractionLimits, ExtractionRequest } from './extraction-messages.ts';
import { WebFailure } from './failure.ts';

/** Time-out for one page, including the start of its thread. */
export const EXTRACTION_MS = 20_000;
const MEMORY_MB = 512;
const LIMITS: ExtractionLimits = {
  html: 4 * 1024 * 1024,
  // One more than the output limit, to detect a cut.
  output: OUTPUT_MAX_CHARS + 1,
  title: 300,
  elements: 20_000,
  depth: 256,
};

const textSchema = z.object({ title: z.string(), text: z.string() });

/**
 * Transfers the bytes to the thread. Throws `WebFailure` for a page that exceeds a limit, and the signal's reason; if
 * plain text was found before a limit was hit, it is returned instead.
 */
export async function extractText(
  bytes: Uint8Array<ArrayBuffer>,
  encoding: string,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<ExtractedText> {
  const deadline = new AbortController();
  const expire = () => deadline.abort(new ThreadError('timeout', `the page takes longer than ${EXTRACTION_MS} ms`));
  const stop = clock.setTimeout(expire, EXTRACTION_MS);
  let plain: ExtractedText | undefined;
  const thread = createThread({
    name: 'extraction',
    program: () => import('./extraction-program.ts?thread'),
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    onMessage: (message) => (plain = textSchema.parse(message)),
  });
  const request: ExtractionRequest = { bytes, encoding, limits: LIMITS };
  const options = { signal: AbortSignal.any([signal, deadline.signal]), transfer: [bytes.buffer] };
  try {
    return textSchema.parse(await thread.request(request, options));
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error;
    if (plain) return plain;
    throw new WebFailure('is too large or too deep to be read', { cause: error });
  } finally {
    stop();
    await thread.terminate();
  }
}
