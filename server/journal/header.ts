/** The journal's first line: its format and the identity of its session. */
import * as z from 'zod';

/** The format that this server writes. A journal of a higher one opens read-only. */
export const JOURNAL_FORMAT = 1;

const headerSchema = z.object({
  type: z.literal('metadata'),
  format: z.number().int().min(1),
  session_id: z.string(),
  epoch: z.string(),
  created_at: z.number(),
  /** Bytes of copied lines directly after the header; a `seq` in them is ignored. */
  history: z.number().int().min(0).optional(),
  forked_from: z.object({ session_id: z.string(), epoch: z.string(), seq: z.number().int() }).optional(),
});
export type JournalHeader = z.infer<typeof headerSchema>;

/** Returns the header in a line's text, or undefined. */
export function parseHeader(text: string): JournalHeader | undefined {
  try {
    return headerSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
