/**
 * Extracts the main text of a page. A hostile page may need unbounded time or memory, so a worker thread parses it, one
 * for each page, and is terminated afterwards.
 */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { Clock } from '#server/clock.ts';
import { OUTPUT_MAX_CHARS } from '#server/text/truncate.ts';
import { EXTRACTION_PROGRAM } from './extraction-program.ts';
import { WebFailure } from './failure.ts';

/** Time-out for one page, including the start of its thread. */
export const EXTRACTION_MS = 20_000;
const MEMORY_MB = 512;
const LIMITS = {
  /** Characters of the page that are parsed. */
  html: 4 * 1024 * 1024,
  /** One more than the output limit, to detect a cut. */
  output: OUTPUT_MAX_CHARS + 1,
  title: 300,
  /** Upper limits of pages whose main part is searched for. */
  elements: 20_000,
  depth: 256,
};

const answerSchema = z.object({ title: z.string(), text: z.string() });
export type ExtractedText = z.infer<typeof answerSchema>;

/**
 * Transfers the bytes to the thread. Throws `WebFailure` for a page that exceeds a limit, and the signal's reason; if
 * plain text was found before a limit was hit, it is returned instead.
 */
export function extractText(
  bytes: Uint8Array<ArrayBuffer>,
  encoding: string,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<ExtractedText> {
  return new Promise((resolve, reject) => {
    const require = createRequire(import.meta.url);
    const files = { linkedom: require.resolve('linkedom'), readability: require.resolve('@mozilla/readability') };
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
