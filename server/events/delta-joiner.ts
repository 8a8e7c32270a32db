/**
 * Coalesces the chunks of a streaming text before they fan out, so that many small chunks of a model are encoded and
 * sent as one frame. Order within a session is preserved: any other frame flushes the joined text first.
 */
import { systemClock } from '#server/clock.ts';
import { createChunkCoalescer } from './chunk-coalescer.ts';
import { continuesDelta, deltaText, withDelta } from './deltas.ts';
import { frameAgent } from './frame.ts';
import type { EventFrame } from './frame.ts';

/** Most UTF-8 bytes of text in one joined frame; a single longer chunk passes unchanged. */
export const JOINED_DELTA_BYTES = 16 * 1024;

export interface DeltaJoiner {
  /** Emits the frame, immediately or joined with the chunks that follow it. */
  take(frame: EventFrame): void;
  /** Emits the pending text of a session. */
  flush(sessionId: string): void;
  /** Emits all pending texts and stops their timers. */
  close(): void;
}

/** The joined text of adjacent chunks, and the frame of the first. */
interface JoinedDelta {
  first: EventFrame;
  text: string;
  bytes: number;
}

function append(pending: JoinedDelta, { first: next, text, bytes }: JoinedDelta): boolean {
  const { first } = pending;
  if (pending.bytes + bytes > JOINED_DELTA_BYTES || first.seq !== next.seq) return false;
  if (!continuesDelta(first, pending.text.length, next)) return false;
  pending.text += text;
  pending.bytes += bytes;
  return true;
}

/** Creates the joiner; `emit` is called in the order in which frames are taken. */
export function createDeltaJoiner(emit: (frame: EventFrame) => void): DeltaJoiner {
  /** By session, the texts whose first chunk was emitted without delay; until the next durable event. */
  const begunTexts = new Map<string, Set<string>>();
  const coalescer = createChunkCoalescer<JoinedDelta>({
    append,
    emit: (_sessionId, { first, text }) => emit(text === deltaText(first) ? first : withDelta(first, text)),
    clock: systemClock,
  });

  /** Whether the chunk may wait for later ones: neither the first of its text nor a long one. */
  function mayWait(frame: EventFrame, bytes: number): boolean {
    const begun = begunTexts.get(frame.sessionId) ?? new Set();
    begunTexts.set(frame.sessionId, begun);
    const text = `${frame.type} ${String(frame.payload['turnId'])} ${frameAgent(frame)}`;
    if (begun.has(text)) return bytes < JOINED_DELTA_BYTES;
    begun.add(text);
    return false;
  }

  return {
    take(frame) {
      const { sessionId } = frame;
      const text = frame.volatile ? deltaText(frame) : undefined;
      const bytes = text === undefined ? 0 : Buffer.byteLength(text);
      if (text !== undefined && mayWait(frame, bytes)) {
        coalescer.add(sessionId, { first: frame, text, bytes });
        return;
      }
      coalescer.flush(sessionId);
      if (!frame.volatile) begunTexts.delete(sessionId);
      emit(frame);
    },
    flush: coalescer.flush,
    close() {
      coalescer.flushAll();
      begunTexts.clear();
    },
  };
}
