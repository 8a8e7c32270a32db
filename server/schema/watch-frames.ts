/** Frames about watched files: what clients ask for, and what they are told. */
import { z } from 'zod';
import { clientArray } from './client-array.ts';
import { count, isoTime, nonEmpty } from './scalars.ts';

const watched = z.object({
  /** Of this connection in this session and runtime, sorted. */
  watched_paths: z.array(z.string()),
  /** Of this connection in all sessions. */
  current_count: count,
});
const refusal = watched.extend({ watched_paths: z.array(z.never()), current_count: z.literal(0) });
const place = { session_id: nonEmpty, paths: clientArray(z.string()), runtime_id: nonEmpty.default('local') };

export const watchAddFrame = {
  type: 'watch_fs_add',
  summary: 'Watches paths of a work directory and all that is below; without paths, tells what is watched.',
  payload: z.object({ ...place, recursive: z.boolean().default(true) }),
  ack: watched,
  refusal,
} as const;

export const watchRemoveFrame = {
  type: 'watch_fs_remove',
  summary: 'Watches paths no longer.',
  payload: z.object(place),
  ack: watched,
  refusal,
} as const;

export const changedPathSchema = z.object({
  /** Relative to the work directory. */
  path: z.string(),
  change: z.enum(['created', 'modified', 'deleted']),
  kind: z.enum(['file', 'directory', 'symlink']),
  size_delta: z.int().optional(),
  etag: z.string().optional(),
});

/** An event that only those receive who watch a matching path; numbered by itself, not in the session's stream. */
export const filesChangedSchema = z.object({
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
});
export type FilesChanged = z.infer<typeof filesChangedSchema>;
