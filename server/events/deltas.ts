/** Chunks ("deltas") of a streaming text: reads their text and decides which of them are adjacent. */
import { frameAgent } from './frame.ts';
import type { EventFrame } from './frame.ts';

/** Returns the text of a chunk, or undefined for any other frame. */
export function deltaText(frame: EventFrame): string | undefined {
  if (frame.type !== 'assistant.delta' && frame.type !== 'thinking.delta') return undefined;
  const { delta } = frame.payload;
  return typeof delta === 'string' ? delta : undefined;
}

/** Whether `next` is the chunk of the same text directly after `first`, whose text has `length` UTF-16 units. */
export function continuesDelta(first: EventFrame, length: number, next: EventFrame): boolean {
  return (
    first.type === next.type &&
    first.sessionId === next.sessionId &&
    first.epoch === next.epoch &&
    frameAgent(first) === frameAgent(next) &&
    first.payload['turnId'] === next.payload['turnId'] &&
    next.offset === (first.offset === undefined ? undefined : first.offset + length)
  );
}

/** Returns the chunk with another text; number, offset and times remain those of `first`. */
export function withDelta(first: EventFrame, delta: string): EventFrame {
  return { ...first, payload: { ...first.payload, delta } };
}
