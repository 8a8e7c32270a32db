/** Request frames about prompts. */
import * as z from 'zod';
import { count } from '../scalars.ts';

export const abortFrame = {
  type: 'abort',
  summary: 'Aborts a running or queued prompt.',
  payload: z.object({ session_id: z.string(), prompt_id: z.string() }),
  ack: z.object({ aborted: z.literal(true), at_seq: count }),
  refusal: z.object({ aborted: z.literal(false) }),
} as const;
