/** Drop policy of a waiting connection's queue: deltas are merged, other volatile frames thinned out. */
import { continuesDelta, deltaText, withDelta } from './deltas.ts';
import { frameAgent } from './frame.ts';
import type { EventFrame } from './frame.ts';

export const MERGED_DELTA_BYTES = 64 * 1024;
/** Most frames of one tool call, per type, in a waiting queue. */
export const KEPT_FRAMES_PER_CALL = 64;

/**
 * Returns both frames as one with the first one's seq, offset and times; undefined when they are not adjacent chunks of
 * the same text or exceed `MERGED_DELTA_BYTES` together.
 */
export function mergeDeltas(first: EventFrame, second: EventFrame): EventFrame | undefined {
  const head = deltaText(first);
  const tail = deltaText(second);
  if (head === undefined || tail === undefined || !continuesDelta(first, head.length, second)) return undefined;
  const delta = head + tail;
  // UTF-8 needs one to three bytes per UTF-16 unit; short texts need no exact count.
  if (delta.length * 3 > MERGED_DELTA_BYTES && Buffer.byteLength(delta) > MERGED_DELTA_BYTES) return undefined;
  return withDelta(first, delta);
}

/** Frames of one kind, of which a waiting queue retains the newest `keep`. */
export interface ThinnedKind {
  key: string;
  keep: number;
}

/** The kind of a frame that may be dropped while a connection waits; undefined for frames that are never dropped. */
export function thinnedKind(frame: EventFrame): ThinnedKind | undefined {
  const { toolCallId, update } = frame.payload;
  switch (frame.type) {
    case 'agent.status.updated':
      return { key: `${frame.type} ${frameAgent(frame)}`, keep: 1 };
    case 'tool.progress':
      if (typeof update === 'object' && update && 'kind' in update && update.kind === 'custom') return undefined;
      return { key: `${frame.type} ${frameAgent(frame)} ${String(toolCallId)}`, keep: KEPT_FRAMES_PER_CALL };
    case 'tool.call.delta':
      return { key: `${frame.type} ${frameAgent(frame)} ${String(toolCallId)}`, keep: KEPT_FRAMES_PER_CALL };
    default:
      return undefined;
  }
}

/** Returns the newer `agent.status.updated` with the fields that only the dropped one had. */
export function foldStatus(dropped: EventFrame, kept: EventFrame): EventFrame {
  const { type, time = dropped.payload['time'], agentId, sessionId, ...fields } = kept.payload;
  const { type: _type, time: _time, agentId: _agentId, sessionId: _sessionId, ...older } = dropped.payload;
  const payload = { type, ...(time === undefined ? {} : { time }), ...older, ...fields, agentId, sessionId };
  return { ...kept, payload };
}
