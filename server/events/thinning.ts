/** How a connection's queue shrinks: deltas are merged, volatile frames of a waiting queue thinned (ws-events.md §8.2, §8.4). */
import { frameAgent } from './frame.ts';
import type { EventFrame } from './frame.ts';

export const MERGED_DELTA_BYTES = 64 * 1024;
/** Frames of one tool call, per type, that a waiting queue keeps. */
export const KEPT_FRAMES_PER_CALL = 64;

/** The text of a frame that may be merged with its neighbours; undefined for every other frame. */
export function deltaText(frame: EventFrame): string | undefined {
  if (frame.type !== 'assistant.delta' && frame.type !== 'thinking.delta') return undefined;
  const { delta } = frame.payload;
  return typeof delta === 'string' ? delta : undefined;
}

/**
 * Both frames as one with the first one's seq, offset and times; undefined when they are not two adjacent pieces of the
 * same text or would be larger than `MERGED_DELTA_BYTES` together.
 */
export function mergeDeltas(first: EventFrame, second: EventFrame): EventFrame | undefined {
  const head = deltaText(first);
  const tail = deltaText(second);
  if (head === undefined || tail === undefined || first.type !== second.type) return undefined;
  if (first.sessionId !== second.sessionId || first.epoch !== second.epoch) return undefined;
  if (frameAgent(first) !== frameAgent(second) || first.payload['turnId'] !== second.payload['turnId'])
    return undefined;
  const end = first.offset === undefined ? undefined : first.offset + head.length;
  if (second.offset !== end) return undefined;
  const delta = head + tail;
  // UTF-8 takes one to three bytes a UTF-16 unit; short texts need no count.
  if (delta.length * 3 > MERGED_DELTA_BYTES && Buffer.byteLength(delta) > MERGED_DELTA_BYTES) return undefined;
  return { ...first, payload: { ...first.payload, delta } };
}

/** The frames of one kind among which a waiting queue keeps the newest `keep`. */
export interface ThinnedKind {
  key: string;
  keep: number;
}

/** The kind of a frame that may be dropped while a connection waits; undefined for frames that never are. */
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

/** The newer `agent.status.updated` with the fields that only the dropped one had. */
export function foldStatus(dropped: EventFrame, kept: EventFrame): EventFrame {
  const { type, time = dropped.payload['time'], agentId, sessionId, ...fields } = kept.payload;
  const { type: _type, time: _time, agentId: _agentId, sessionId: _sessionId, ...older } = dropped.payload;
  const payload = { type, ...(time === undefined ? {} : { time }), ...older, ...fields, agentId, sessionId };
  return { ...kept, payload };
}
