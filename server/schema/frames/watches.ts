/** Request frames about watched files. */
import * as z from 'zod';
import { count, nonEmpty } from '../scalars.ts';

const watched = z.object({
  /** Paths that this connection watches in this session and runtime, sorted. */
  watched_paths: z.array(z.string()),
  /** Number of paths that this connection watches in all sessions. */
  current_count: count,
});
const refusal = watched.extend({ watched_paths: z.array(z.never()), current_count: z.literal(0) });
/** Bounded only by the frame's size; the number of watched paths is limited per connection. */
const paths = z.array(z.string());
const place = { session_id: nonEmpty, paths, runtime_id: nonEmpty.default('local') };

export const watchAddFrame = {
  type: 'watch_fs_add',
  summary: 'Watches paths of a work directory recursively; without paths, returns the watched ones.',
  payload: z.object({ ...place, recursive: z.boolean().default(true) }),
  ack: watched,
  refusal,
} as const;

export const watchRemoveFrame = {
  type: 'watch_fs_remove',
  summary: 'Stops watching paths.',
  payload: z.object(place),
  ack: watched,
  refusal,
} as const;
