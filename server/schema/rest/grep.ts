/** Search in the contents of files. */
import * as z from 'zod';
import { clientArray } from '../client-array.ts';
import { count, nonEmpty } from '../scalars.ts';

const globs = clientArray(z.string()).optional();

/** Fields of a search request. */
export const grepFields = {
  pattern: nonEmpty,
  regex: z.boolean().default(false),
  case_sensitive: z.boolean().default(true),
  include_globs: globs,
  exclude_globs: globs,
  follow_gitignore: z.boolean().default(true),
  max_files: z.int().min(1).max(10_000).default(200),
  max_matches_per_file: z.int().min(1).max(10_000).default(50),
  max_total_matches: z.int().min(1).max(100_000).default(5000),
  context_lines: z.int().min(0).max(10).default(2),
};
const grepRequestSchema = z.object(grepFields);
export type GrepRequest = z.infer<typeof grepRequestSchema>;

const grepMatchSchema = z
  .object({
    line: z.int().min(1),
    col: z.int().min(1).meta({ description: 'Column of the first occurrence, in UTF-16 code units.' }),
    text: z.string(),
    before: z.array(z.string()),
    after: z.array(z.string()),
  })
  .meta({ id: 'GrepMatch' });
export type GrepMatch = z.infer<typeof grepMatchSchema>;

const grepFileSchema = z.object({ path: z.string(), matches: z.array(grepMatchSchema) }).meta({ id: 'GrepFile' });
export type GrepFile = z.infer<typeof grepFileSchema>;

export const grepReplySchema = z
  .object({ files: z.array(grepFileSchema), files_scanned: count, truncated: z.boolean(), elapsed_ms: count })
  .meta({ id: 'GrepReply' });
export type GrepReply = z.infer<typeof grepReplySchema>;
