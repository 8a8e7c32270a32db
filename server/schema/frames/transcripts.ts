/**
 * WebSocket frames with which a client subscribes to transcripts. The schemas of what it receives are in
 * `transcript-ops.ts`, which only the documents need, so the server starts without them.
 */
import * as z from 'zod';
import { count } from '../scalars.ts';
import { boundedRecord, MAX_FRAME_MEMBERS, subscribeFrame } from './subscriptions.ts';

/** How much of an agent's operations a connection receives, from none (`off`) to every text delta (`delta`). */
export const gradeSchema = z.enum(['off', 'turn', 'block', 'delta']).meta({ id: 'TranscriptGrade' });
export type Grade = z.infer<typeof gradeSchema>;

const sessionId = z.string().min(1);

export const subscribeV2Frame = {
  type: 'subscribe_v2',
  summary: "Subscribes to a session and its agents' transcripts, each with the detail of its grade.",
  payload: z.object({
    session_id: sessionId,
    /** Grade by agent id; `*` applies to all other agents. Replaces the previous subscription. */
    transcript: boundedRecord(gradeSchema),
    /** Number of the last batch that the client has, by agent id. */
    transcript_since: boundedRecord(count).optional(),
  }),
  ack: subscribeFrame.ack,
} as const;

export const unsubscribeV2Frame = {
  type: 'unsubscribe_v2',
  summary: "Ends the subscription to a session's transcripts, of all agents or of some; the one to its events remains.",
  payload: z.object({
    session_id: sessionId,
    agent_ids: z.array(z.string().min(1)).min(1).max(MAX_FRAME_MEMBERS).optional(),
  }),
  ack: subscribeFrame.ack.omit({ cursors: true }),
} as const;
