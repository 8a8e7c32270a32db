/** The journal's first line: the form it is written in and whose it is. */
import { z } from 'zod';

/** The format this server writes. A journal of a higher one opens for reading only. */
export const JOURNAL_FORMAT = 1;

const headerSchema = z.object({
  type: z.literal('metadata'),
  format: z.number().int().min(1),
  session_id: z.string(),
  epoch: z.string(),
  created_at: z.number(),
  /** Bytes of copied lines directly behind the header; a `seq` in them counts for nothing. */
  history: z.number().int().min(0).optional(),
  forked_from: z.object({ session_id: z.string(), epoch: z.string(), seq: z.number().int() }).optional(),
});
export type JournalHeader = z.infer<typeof headerSchema>;

/** The header of a line's text, or undefined when it is none. */
export function parseHeader(text: string): JournalHeader | undefined {
  try {
    return headerSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
