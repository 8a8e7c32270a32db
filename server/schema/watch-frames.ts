/** What clients ask of watched files over their WebSocket. */
import { z } from 'zod';
import { clientArray } from './client-array.ts';
import { count, nonEmpty } from './scalars.ts';

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
