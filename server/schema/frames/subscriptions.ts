/** Request frames that control what a connection receives: hello, subscriptions, ping. */
import * as z from 'zod';
import { count } from '../scalars.ts';

/** Limit for the members of one array or record in a client's frame: a longer one would block all other connections. */
export const MAX_FRAME_MEMBERS = 1000;

/** Position of the last durable event that a client has applied. */
export const cursorSchema = z.object({ seq: count, epoch: z.string().optional() });
export type Cursor = z.infer<typeof cursorSchema>;

/** Record whose size is checked before its members. */
export function boundedRecord<T extends z.ZodType>(member: T) {
  return z.preprocess(
    (value, context) => {
      if (typeof value === 'object' && value && Object.keys(value).length > MAX_FRAME_MEMBERS) {
        context.addIssue({ code: 'custom', message: `Too big: expected at most ${MAX_FRAME_MEMBERS} members` });
      }
      return value;
    },
    z.record(z.string(), member).meta({ maxProperties: MAX_FRAME_MEMBERS }),
  );
}

const cursors = boundedRecord(cursorSchema).optional();
/** An empty, malformed or too long entry is treated as absent, which means all agents. */
const agentFilter = boundedRecord(
  z.array(z.string()).min(1).max(MAX_FRAME_MEMBERS).optional().catch(undefined),
).optional();
const requestedIds = z.array(z.string()).max(MAX_FRAME_MEMBERS);
const sessionIds = z.array(z.string());
const watermarks = z.record(z.string(), z.object({ seq: count, epoch: z.string() }));

export const clientHelloFrame = {
  type: 'client_hello',
  summary: 'Introduces the client; may carry subscriptions to restore.',
  payload: z.object({
    client_id: z.string().optional(),
    subscriptions: requestedIds.optional(),
    cursors,
    agent_filter: agentFilter,
    token: z.string().optional(),
  }),
  ack: z.object({ accepted_subscriptions: sessionIds, resync_required: sessionIds, cursors: watermarks }),
} as const;

export const subscribeFrame = {
  type: 'subscribe',
  summary: 'Subscribes to the events of sessions, replaying those after a cursor.',
  payload: z.object({ session_ids: requestedIds, cursors, agent_filter: agentFilter }),
  ack: z.object({
    accepted: sessionIds,
    not_found: sessionIds,
    resync_required: sessionIds,
    cursors: watermarks,
  }),
} as const;

export const unsubscribeFrame = {
  type: 'unsubscribe',
  summary: 'Ends the subscriptions of sessions.',
  payload: z.object({ session_ids: requestedIds }),
  ack: z.object({ accepted: sessionIds, not_found: sessionIds, resync_required: sessionIds }),
} as const;

/** Keep-alive probe for clients that cannot send protocol pings; answered with `pong`, not with an ack. */
export const pingFrame = {
  type: 'ping',
  summary: 'Checks whether the connection is alive.',
  payload: z.object({ nonce: z.string().optional() }),
} as const;
