/** Frames for followers of transcripts. They have the form of volatile events, but belong to no event stream. */
import * as z from 'zod';
import { snapshotSchema, transcriptOpSchema } from '../rest/transcript-ops.ts';
import { count } from '../scalars.ts';

export const transcriptResetFrame = {
  type: 'transcript.reset',
  payload: z.object({
    type: z.literal('transcript.reset'),
    agent_id: z.string(),
    snapshot: snapshotSchema,
    has_more_older: z.boolean(),
    /** Number of the last batch that the snapshot includes. */
    seq: count.optional(),
  }),
} as const;
export type TranscriptReset = z.infer<typeof transcriptResetFrame.payload>;

export const transcriptOpsFrame = {
  type: 'transcript.ops',
  payload: z.object({
    type: z.literal('transcript.ops'),
    agent_id: z.string(),
    ops: z.array(transcriptOpSchema),
    seq: count.optional(),
  }),
} as const;
export type TranscriptBatch = z.infer<typeof transcriptOpsFrame.payload>;
