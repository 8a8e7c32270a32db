import * as z from 'zod';
import { count, isoTime } from '../scalars.ts';

export const gitStatusSchema = z.enum([
  'clean',
  'modified',
  'added',
  'deleted',
  'renamed',
  'untracked',
  'ignored',
  'conflicted',
]);
/** How a file differs from the last commit. */
export type GitStatus = z.infer<typeof gitStatusSchema>;

/** A file, directory or symbolic link below a work directory. */
export const fileEntrySchema = z
  .object({
    /** Relative to the work directory; `.` is the work directory itself. */
    path: z.string(),
    name: z.string(),
    kind: z.enum(['file', 'directory', 'symlink']),
    /** Bytes; only for files. */
    size: count.optional(),
    modified_at: isoTime,
    /** Opaque; equal etags mean unchanged content. */
    etag: z.string(),
    mime: z.string().optional(),
    language_id: z.string().optional(),
    /** Target of the link as stored, not resolved. */
    is_symlink_to: z.string().optional(),
    git_status: gitStatusSchema.optional(),
  })
  .meta({ id: 'FileEntry' });
export type FileEntry = z.infer<typeof fileEntrySchema>;
