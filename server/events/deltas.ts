/** Pieces of a streaming text, and which of them are one text. */
import { frameAgent } from './frame.ts';
import type { EventFrame } from './frame.ts';

/** The text of a piece; undefined for every other frame. */
export function deltaText(frame: EventFrame): string | undefined {
  if (frame.type !== 'assistant.delta' && frame.type !== 'thinking.delta') return undefined;
  const { delta } = frame.payload;
  return typeof delta === 'string' ? delta : undefined;
}

/** Whether `next` is the piece of the same text that stands right behind `first`, whose text is `length` units long. */
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

/** The piece with another text: its number, offset and times stay those of the first one. */
export function withDelta(first: EventFrame, delta: string): EventFrame {
  return { ...first, payload: { ...first.payload, delta } };
}
