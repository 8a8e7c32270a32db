/**
 * The main text of a page. Whoever wrote the page may have made it to take forever, or all memory: so a thread of its own
 * reads it, and is ended with it.
 */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { Clock } from '#server/clock.ts';
import { OUTPUT_MAX_CHARS } from '#server/bounded-text.ts';
import { EXTRACTION_PROGRAM } from './extraction-program.ts';
import { WebFailure } from './failure.ts';

/** For one page, its thread's start included. */
export const EXTRACTION_MS = 20_000;
const MEMORY_MB = 512;
const LIMITS = {
  /** Characters of the page that are looked at. */
  html: 4 * 1024 * 1024,
  /** One more than is shown. */
  output: OUTPUT_MAX_CHARS + 1,
  title: 300,
  /** Of a page whose main part is looked for. */
  elements: 20_000,
  depth: 256,
};

const answerSchema = z.object({ title: z.string(), text: z.string() });
export type ExtractedText = z.infer<typeof answerSchema>;

/**
 * Takes the bytes away from the caller. Throws `WebFailure` for a page that is too much, and the signal's reason; a text
 * that was found by then is returned instead of the failure of the search for a better one.
 */
export function extractText(
  bytes: Uint8Array<ArrayBuffer>,
  encoding: string,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<ExtractedText> {
  return new Promise((resolve, reject) => {
    const { resolve: fileOf } = createRequire(import.meta.url);
    const files = { linkedom: fileOf('linkedom'), readability: fileOf('@mozilla/readability') };
    const worker = new Worker(EXTRACTION_PROGRAM, {
      eval: true,
      workerData: { bytes, encoding, files, limits: LIMITS },
      transferList: [bytes.buffer],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    let best: unknown;
    let failure: unknown;
    const end = () => void worker.terminate();
    const stop = clock.setTimeout(end, EXTRACTION_MS);
    worker.on('message', (answer: unknown) => (best = answer));
    worker.on('error', (error: unknown) => (failure = error));
    worker.once('exit', () => {
      stop();
      signal.removeEventListener('abort', end);
      try {
        signal.throwIfAborted();
        if (best === undefined) throw new WebFailure('is too large or too deep to be read', { cause: failure });
        resolve(answerSchema.parse(best));
      } catch (error) {
        reject(error);
      }
    });
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
