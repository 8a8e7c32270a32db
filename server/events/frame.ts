/** Event frames as they go to clients. */
import { MAIN_AGENT } from '#schema/agents.ts';
import { iso } from '#schema/scalars.ts';

export const GLOBAL_STREAM = '__global__';

/** Highest number given so far and the stream's epoch. */
export interface StreamPosition {
  seq: number;
  epoch: string;
}

export interface EventFrame {
  type: string;
  /** Own number of a durable event; the stream's watermark for a volatile one. */
  seq: number;
  sessionId: string;
  /** Milliseconds since the epoch. */
  time: number;
  /** Ends with the routing pair `agentId`, `sessionId`. */
  payload: Record<string, unknown>;
  epoch: string;
  volatile?: true;
  /** UTF-16 units before this delta, main agent's text only. */
  offset?: number;
}

/** The agent an event belongs to; the main one for events of the session as a whole. */
export function frameAgent(frame: EventFrame): string {
  const { agentId } = frame.payload;
  return typeof agentId === 'string' ? agentId : MAIN_AGENT;
}

/** The frame's JSON text with its keys in wire order. */
export function frameText(frame: EventFrame): string {
  return JSON.stringify({
    type: frame.type,
    seq: frame.seq,
    session_id: frame.sessionId,
    timestamp: iso(frame.time),
    payload: frame.payload,
    epoch: frame.epoch,
    volatile: frame.volatile,
    offset: frame.offset,
  });
}

const globalPrefixes = [
  'event.session.',
  'event.workspace.',
  'event.config.',
  'event.model_catalog.',
  'event.plugin.',
  'event.capability.',
];

/** Global events reach every connection without a subscription. */
export function isGlobalEvent(type: string): boolean {
  return type === 'session.meta.updated' || globalPrefixes.some((prefix) => type.startsWith(prefix));
}

/** Anything that takes events for delivery. Publishing is synchronous, so order is the order of calls. */
export interface EventSink {
  publish(frame: EventFrame): void;
}
