/**
 * Coalesces the chunks of a streaming text before they fan out, so that many small chunks of a model are encoded and
 * sent as one frame. Order within a session is preserved: any other frame flushes the joined text first.
 */
import { continuesDelta, deltaText, withDelta } from './deltas.ts';
import { frameAgent } from './frame.ts';
import type { EventFrame } from './frame.ts';

/** Longest time that a chunk waits for later ones, in milliseconds. */
export const JOIN_MS = 16;
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

interface Pending {
  first: EventFrame;
  text: string;
  bytes: number;
  timer: NodeJS.Timeout;
}

interface SessionJoin {
  /** Texts whose first chunk was emitted without delay; cleared by the next durable event (end of a step or turn). */
  begun: Set<string>;
  pending?: Pending | undefined;
}

/** Creates the joiner; `emit` is called in the order in which frames are taken. */
export function createDeltaJoiner(emit: (frame: EventFrame) => void, joinMs = JOIN_MS): DeltaJoiner {
  const sessions = new Map<string, SessionJoin>();

  function send(join: SessionJoin | undefined): void {
    const pending = join?.pending;
    if (!join || !pending) return;
    join.pending = undefined;
    clearTimeout(pending.timer);
    const { first, text } = pending;
    emit(text === deltaText(first) ? first : withDelta(first, text));
  }

  function takeDelta(frame: EventFrame, text: string): void {
    const { sessionId } = frame;
    const join: SessionJoin = sessions.get(sessionId) ?? { begun: new Set() };
    sessions.set(sessionId, join);
    const bytes = Buffer.byteLength(text);
    const { pending } = join;
    if (pending && pending.bytes + bytes <= JOINED_DELTA_BYTES && follows(pending, frame)) {
      pending.text += text;
      pending.bytes += bytes;
      return;
    }
    send(join);
    const stream = `${frame.type} ${String(frame.payload['turnId'])} ${frameAgent(frame)}`;
    if (join.begun.has(stream) && bytes < JOINED_DELTA_BYTES) {
      join.pending = { first: frame, text, bytes, timer: setTimeout(send, joinMs, join) };
      return;
    }
    join.begun.add(stream);
    emit(frame);
  }

  return {
    take(frame) {
      const text = frame.volatile ? deltaText(frame) : undefined;
      if (text !== undefined) {
        takeDelta(frame, text);
        return;
      }
      send(sessions.get(frame.sessionId));
      if (!frame.volatile) sessions.delete(frame.sessionId);
      emit(frame);
    },
    flush: (sessionId) => send(sessions.get(sessionId)),
    close() {
      for (const join of sessions.values()) send(join);
      sessions.clear();
    },
  };
}

const follows = ({ first, text }: Pending, next: EventFrame) =>
  first.seq === next.seq && continuesDelta(first, text.length, next);
