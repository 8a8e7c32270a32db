/** An entry of the directory, as the thread returns it. Reading is lenient: a malformed model is dropped. */
import * as z from 'zod';

/** Text that a file can contain unmodified: no unpaired surrogate. */
const text = z.string().refine((value) => !/\p{Cs}/u.test(value));
const number = z.number();
const texts = z.array(text);

const modelSchema = z.object({
  id: text.min(1),
  name: text.optional(),
  family: text.optional(),
  status: text.optional(),
  reasoning: z.boolean().optional(),
  tool_call: z.boolean().optional(),
  dynamically_loaded_tools: z.boolean().optional(),
  limit: z.object({ context: number.optional(), input: number.optional(), output: number.optional() }).optional(),
  modalities: z.object({ input: texts.optional(), output: texts.optional() }).optional(),
  /** Options of any kind; readers select the kinds that they need. */
  reasoning_options: z
    .array(z.object({ type: z.unknown(), values: z.array(text.nullable()).optional().catch(undefined) }))
    .optional(),
  interleaved: z.union([z.boolean(), z.object({ field: text.optional() })]).optional(),
  provider: z.object({ npm: text.optional(), api: text.optional() }).optional(),
  /** Prices are checked individually. */
  cost: z.record(z.string(), z.unknown()).optional().catch(undefined),
});
export type DirectoryModel = z.output<typeof modelSchema>;

const entrySchema = z.object({
  id: text.optional(),
  name: text.optional(),
  api: text.optional(),
  npm: text.optional(),
  type: text.optional(),
  env: texts.optional(),
  models: z.array(z.unknown()),
});

/** Its models are not checked yet. */
export type DirectoryEntry = z.output<typeof entrySchema>;

/** Undefined for a malformed entry. */
export const readEntry = (value: unknown): DirectoryEntry | undefined => entrySchema.safeParse(value).data;

/** Undefined for a model with a malformed member. */
export const readModel = (value: unknown): DirectoryModel | undefined => modelSchema.safeParse(value).data;
