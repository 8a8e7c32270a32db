/** The frame that watchers of files receive. */
import * as z from 'zod';
import { count, isoTime, nonEmpty } from '../scalars.ts';

const changedPathSchema = z.object({
  /** Relative to the work directory. */
  path: z.string(),
  change: z.enum(['created', 'modified', 'deleted']),
  kind: z.enum(['file', 'directory', 'symlink']),
  size_delta: z.int().optional(),
  etag: z.string().optional(),
});

/** Sent to connections that watch a matching path; `seq` is independent of the session's stream. */
export const filesChangedFrame = {
  type: 'event.fs.changed',
  summary: 'Files changed that the connection watches; its numbers are its own.',
  schema: z.object({
    type: z.literal('event.fs.changed'),
    seq: z.int().min(1),
    session_id: nonEmpty,
    timestamp: isoTime,
    volatile: z.literal(true),
    payload: z.object({
      changes: z.array(changedPathSchema),
      coalesced_window_ms: count,
      truncated: z.literal(true).optional(),
      count: count.optional(),
    }),
  }),
} as const;
