/**
 * Frames of the WebSocket other than events: what clients send, the acks, the system frames (ws-events.md §2.1, §3–§5).
 * The connection validates with these schemas and `/asyncapi.json` is made from them.
 */
import { z } from 'zod';
import { count, isoTime } from './scalars.ts';

/** The last durable event that a client has applied (ws-events.md §6.2). */
export const cursorSchema = z.object({ seq: count, epoch: z.string().optional() });
export type Cursor = z.infer<typeof cursorSchema>;

const cursors = z.record(z.string(), cursorSchema).optional();
/** An empty or malformed entry counts as absent, which means every agent (ws-events.md §7.2). */
const agentFilter = z.record(z.string(), z.array(z.string()).min(1).optional().catch(undefined)).optional();
const sessionIds = z.array(z.string());
const watermarks = z.record(z.string(), z.object({ seq: count, epoch: z.string() }));

/** Request frames that get an ack, with the payload of the frame and of its successful ack. */
export const requestFrames = {
  client_hello: {
    summary: 'Introduces the client; may carry subscriptions to restore.',
    payload: z.object({
      client_id: z.string().optional(),
      subscriptions: sessionIds.optional(),
      cursors,
      agent_filter: agentFilter,
      token: z.string().optional(),
    }),
    ack: z.object({ accepted_subscriptions: sessionIds, resync_required: sessionIds, cursors: watermarks }),
  },
  subscribe: {
    summary: 'Subscribes to the events of sessions, replaying what came after a cursor.',
    payload: z.object({ session_ids: sessionIds, cursors, agent_filter: agentFilter }),
    ack: z.object({
      accepted: sessionIds,
      not_found: sessionIds,
      resync_required: sessionIds,
      cursors: watermarks,
    }),
  },
  unsubscribe: {
    summary: 'Ends the subscriptions of sessions.',
    payload: z.object({ session_ids: sessionIds }),
    ack: z.object({ accepted: sessionIds, not_found: sessionIds, resync_required: sessionIds }),
  },
  abort: {
    summary: 'Aborts a running or queued prompt.',
    payload: z.object({ session_id: z.string(), prompt_id: z.string() }),
    ack: z.object({ aborted: z.literal(true), at_seq: count }),
  },
};
export type RequestType = keyof typeof requestFrames;
export type RequestPayload<T extends RequestType> = z.infer<(typeof requestFrames)[T]['payload']>;
export type AckPayload<T extends RequestType> = z.infer<(typeof requestFrames)[T]['ack']>;

/** The probe of clients that cannot send protocol pings; not part of the published document (ws-events.md §4). */
export const pingPayloadSchema = z.object({ nonce: z.string().optional() });

/** Returned in the type it was sent with; `""` when the frame had none. */
export const frameId = z.union([z.string(), z.number()]);
export type FrameId = z.infer<typeof frameId>;

/** Payload of an ack whose code is not 0 (ws-events.md §5.1, §5.6). */
const refusal = z.union([
  z.object({ details: z.array(z.object({ path: z.string(), message: z.string() })) }),
  z.object({ message: z.string() }),
  z.object({ aborted: z.literal(false) }),
  z.strictObject({}),
]);

/** The ack of one request type, successful or refused. */
export function ackSchema<T extends z.ZodType>(payload: T) {
  return z.union([
    z.object({ type: z.literal('ack'), id: frameId, code: z.literal(0), msg: z.literal('success'), payload }),
    z.object({ type: z.literal('ack'), id: frameId, code: z.number().int().min(1), msg: z.string(), payload: refusal }),
  ]);
}

export const serverHelloSchema = z.object({
  type: z.literal('server_hello'),
  timestamp: isoTime,
  payload: z.object({
    ws_connection_id: z.string(),
    protocol_version: z.literal(2),
    max_event_buffer_size: z.number().int().min(1),
    capabilities: z.object({ event_batching: z.boolean(), compression: z.boolean() }),
  }),
});

export const resyncReason = z.enum(['buffer_overflow', 'session_recreated', 'epoch_changed']);
export type ResyncReason = z.infer<typeof resyncReason>;

export const resyncRequiredSchema = z.object({
  type: z.literal('resync_required'),
  timestamp: isoTime,
  payload: z.object({
    session_id: z.string(),
    reason: resyncReason,
    current_seq: count,
    epoch: z.string().optional(),
  }),
});

export const errorFrameSchema = z.object({
  type: z.literal('error'),
  timestamp: isoTime,
  payload: z.object({
    code: z.number().int(),
    msg: z.string(),
    fatal: z.boolean(),
    request_id: z.string().optional(),
    details: z.unknown().optional(),
  }),
});
