/**
 * Frames of the WebSocket with which a client asks for transcripts. What it is sent is in `transcript-ops.ts`: the server
 * starts without its schemas, which the documents alone need.
 */
import { z } from 'zod';
import { count } from './scalars.ts';
import { boundedRecord, MAX_FRAME_MEMBERS, subscribeFrame } from './subscription-frames.ts';

/** How much of an agent's operations a connection gets, from nothing to each piece of a text. */
export const gradeSchema = z.enum(['off', 'turn', 'block', 'delta']).meta({ id: 'TranscriptGrade' });
export type Grade = z.infer<typeof gradeSchema>;

const sessionId = z.string().min(1);

export const subscribeV2Frame = {
  type: 'subscribe_v2',
  summary: "Subscribes to a session and its agents' transcripts, each with as much detail as its grade says.",
  payload: z.object({
    session_id: sessionId,
    /** By agent; `*` is for those that are not named. Replaces what was asked before. */
    transcript: boundedRecord(gradeSchema),
    /** The number of the last batch that the client has, by agent. */
    transcript_since: boundedRecord(count).optional(),
  }),
  ack: subscribeFrame.ack,
} as const;

export const unsubscribeV2Frame = {
  type: 'unsubscribe_v2',
  summary: "Ends a session's transcripts, of all agents or of some; the subscription to its events stays.",
  payload: z.object({
    session_id: sessionId,
    agent_ids: z.array(z.string().min(1)).min(1).max(MAX_FRAME_MEMBERS).optional(),
  }),
  ack: subscribeFrame.ack.omit({ cursors: true }),
} as const;
