/** Encodes frames for clients; an event is encoded a single time for all its receivers. */
import { codeOf } from '#server/errors/catalogue.ts';
import type { ErrorName } from '#server/errors/catalogue.ts';
import { iso } from '#schema/scalars.ts';
import type { FrameId } from '#schema/frames/request-frames.ts';
import type { ServerFrames, ServerFrameType } from '#schema/frames/server-frames.ts';
import type { ResyncReason } from '#schema/frames/system.ts';
import { deltaText } from './deltas.ts';
import { frameText } from './frame.ts';
import type { EventFrame, StreamPosition } from './frame.ts';

/** A live event, shared by the queues of all its receivers. */
export interface OutgoingEvent {
  readonly frame: EventFrame;
  /** UTF-8 of the frame's text. */
  readonly bytes: Buffer;
  /** Bytes of a delta's text within `bytes`, to compute the size after a merge; 0 for every other event. */
  readonly textBytes: number;
}

/** Encodes an event for all its receivers. */
export function outgoingEvent(frame: EventFrame): OutgoingEvent {
  const text = deltaText(frame);
  const textBytes = text === undefined ? 0 : Buffer.byteLength(JSON.stringify(text)) - 2;
  return { frame, bytes: Buffer.from(frameText(frame)), textBytes };
}

/** A successful ack. */
export function ackText(id: FrameId, payload: unknown): string {
  return JSON.stringify({ type: 'ack', id, code: 0, msg: 'success', payload });
}

/** The ack of a refused or failed request frame. */
export function refusalText(id: FrameId, error: ErrorName, msg: string, payload: object): string {
  return JSON.stringify({ type: 'ack', id, code: codeOf(error), msg, payload });
}

function systemText<T extends ServerFrameType>(type: T, payload: ServerFrames[T]['payload']): string {
  return JSON.stringify({ type, timestamp: iso(Date.now()), payload });
}

/** The first frame of every connection; `window` is the replay window in durable events. */
export function helloText(connectionId: string, window: number): string {
  return systemText('server_hello', {
    ws_connection_id: connectionId,
    protocol_version: 2,
    max_event_buffer_size: window,
    capabilities: { event_batching: false, compression: false },
  });
}

/** The reply to a client's `ping`. */
export function pongText(nonce: string): string {
  return systemText('pong', { nonce });
}

/** The system frame `error`; `fatal` only directly before the server closes the connection. */
export function errorText(error: ErrorName, msg: string, fatal: boolean): string {
  return systemText('error', { code: codeOf(error), msg, fatal });
}

/** The system frame `resync_required`, after which a client reads the session's snapshot. */
export function resyncText(sessionId: string, reason: ResyncReason, position: StreamPosition): string {
  const { seq, epoch } = position;
  return systemText('resync_required', { session_id: sessionId, reason, current_seq: seq, epoch });
}
