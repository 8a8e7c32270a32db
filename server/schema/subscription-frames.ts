/** Request frames about what a connection receives: its greeting, its subscriptions, its probe. */
import { z } from 'zod';
import { count } from './scalars.ts';

/** Members of one array or table in a client's frame: a longer one would hold up all other connections. */
export const MAX_FRAME_MEMBERS = 1000;

/** The last durable event that a client has applied. */
export const cursorSchema = z.object({ seq: count, epoch: z.string().optional() });
export type Cursor = z.infer<typeof cursorSchema>;

/** A table whose size is looked at before its members are. */
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
/** An empty or malformed entry, also one that is too long, counts as absent, which means every agent. */
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
  summary: 'Subscribes to the events of sessions, replaying what came after a cursor.',
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

/** The probe of clients that cannot send protocol pings; answered by `pong`, not by an ack. */
export const pingFrame = {
  type: 'ping',
  summary: 'Asks whether the connection is alive.',
  payload: z.object({ nonce: z.string().optional() }),
} as const;
