/** Frames about the connection itself. */
import * as z from 'zod';
import { count, isoTime } from '../scalars.ts';

export const serverHelloFrame = {
  type: 'server_hello',
  summary: 'First frame of every connection.',
  schema: z.object({
    type: z.literal('server_hello'),
    timestamp: isoTime,
    payload: z.object({
      ws_connection_id: z.string(),
      protocol_version: z.literal(2),
      max_event_buffer_size: z.number().int().min(1),
      capabilities: z.object({ event_batching: z.boolean(), compression: z.boolean() }),
    }),
  }),
} as const;

/** Reply to `ping`. */
export const pongFrame = {
  type: 'pong',
  schema: z.object({ type: z.literal('pong'), timestamp: isoTime, payload: z.object({ nonce: z.string() }) }),
} as const;

const resyncReason = z.enum(['buffer_overflow', 'session_recreated', 'epoch_changed']);
export type ResyncReason = z.infer<typeof resyncReason>;

export const resyncRequiredFrame = {
  type: 'resync_required',
  summary: 'Events were missed that are not replayed: read the snapshot.',
  schema: z.object({
    type: z.literal('resync_required'),
    timestamp: isoTime,
    payload: z.object({
      session_id: z.string(),
      reason: resyncReason,
      current_seq: count,
      epoch: z.string().optional(),
    }),
  }),
} as const;

export const errorFrame = {
  type: 'error',
  summary: 'A frame could not be read, or the connection is about to be closed.',
  schema: z.object({
    type: z.literal('error'),
    timestamp: isoTime,
    payload: z.object({
      code: z.number().int(),
      msg: z.string(),
      fatal: z.boolean(),
      request_id: z.string().optional(),
      details: z.unknown().optional(),
    }),
  }),
} as const;
