/** Event frames in the form in which clients receive them. */
import { MAIN_AGENT } from '#schema/agents.ts';
import { iso } from '#schema/scalars.ts';

export const GLOBAL_STREAM = '__global__';

/** The highest number assigned in a stream, and the stream's epoch. */
export interface StreamPosition {
  seq: number;
  epoch: string;
}

export interface EventFrame {
  type: string;
  /** A durable event's number in its stream; the stream's watermark for a volatile event. */
  seq: number;
  sessionId: string;
  /** Milliseconds since the epoch. */
  time: number;
  /** The last members of a payload are the routing pair `agentId`, `sessionId`. */
  payload: Record<string, unknown>;
  epoch: string;
  volatile?: true;
  /** UTF-16 units of the text before this delta; only set for the main agent's text. */
  offset?: number;
}

/** The agent that an event belongs to; the main agent for events of the whole session. */
export function frameAgent(frame: EventFrame): string {
  const { agentId } = frame.payload;
  return typeof agentId === 'string' ? agentId : MAIN_AGENT;
}

/** Returns the frame's JSON text with its keys in wire order. */
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

/** Whether events of the type are global: delivered to every connection without a subscription. */
export function isGlobalEvent(type: string): boolean {
  return type === 'session.meta.updated' || globalPrefixes.some((prefix) => type.startsWith(prefix));
}

/** A receiver of events. Publishing is synchronous, so events are delivered in the order of the calls. */
export interface EventSink {
  publish(frame: EventFrame): void;
}
