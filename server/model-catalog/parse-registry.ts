/** Parses the document of a registry: a large one in a worker thread. */
import * as z from 'zod';
import { createTimeSlice } from '#server/async/yield.ts';
import type { DeclaredModel } from './declared-model.ts';
import { parseInThread, SMALL_BYTES } from './parse-in-thread.ts';
import { readRegistry, type RegistryDocument } from './registry-document.ts';

const textsSchema = z.object({
  entries: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      type: z.string(),
      baseUrl: z.string(),
      texts: z.array(z.string()),
    }),
  ),
  skipped: z.array(z.string()),
});

const modelsSchema = z.array(
  z.object({ alias: z.string(), wireName: z.string(), record: z.record(z.string(), z.unknown()) }),
);

/** The bytes are not used afterwards. Rejects with the reason of `readRegistry`, `ThreadError`, the signal's reason. */
export async function parseRegistry(bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<RegistryDocument> {
  if (bytes.byteLength <= SMALL_BYTES) return readRegistry(bytes);
  const program = () => import('./registry-program.ts?thread');
  const { entries, skipped } = textsSchema.parse(await parseInThread('model registry', program, bytes, signal));
  const slice = createTimeSlice();
  const parsed: RegistryDocument['entries'] = [];
  for (const { texts, ...provider } of entries) {
    const models: DeclaredModel[] = [];
    for (const text of texts) {
      models.push(...modelsSchema.parse(JSON.parse(text)));
      if (slice.due()) await slice.rest();
    }
    parsed.push({ ...provider, models });
  }
  return { entries: parsed, skipped: new Set(skipped) };
}
