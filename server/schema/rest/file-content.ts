import * as z from 'zod';
import { count, nonEmpty } from '../scalars.ts';

/** Maximum number of bytes that one request reads. */
const WINDOW_MAX = 10_485_760;

export const readFileFields = {
  path: nonEmpty,
  /** Byte offset in the file; for transcoded text, in its UTF-8 form. */
  offset: count.default(0),
  length: z.int().min(1).max(WINDOW_MAX).default(1_048_576),
  encoding: z.enum(['auto', 'utf-8', 'base64']).default('auto'),
};
const readFileSchema = z.object(readFileFields);
export type ReadFile = z.output<typeof readFileSchema>;

/** A window (byte range) of a file. */
export const fileContentSchema = z
  .object({
    path: z.string(),
    content: z.string(),
    encoding: z.enum(['utf-8', 'base64']),
    /** Size of the whole file on disk, in bytes. */
    size: count,
    /** True if the file continues after the window. */
    truncated: z.boolean(),
    etag: z.string(),
    mime: z.string(),
    is_binary: z.boolean(),
    language_id: z.string().optional(),
    line_count: count.optional(),
  })
  .meta({ id: 'FileContent' });
export type FileContent = z.infer<typeof fileContentSchema>;
