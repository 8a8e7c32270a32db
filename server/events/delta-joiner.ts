/**
 * Joins the pieces of a streaming text before they fan out, so that a frame is encoded and sent once for what a model
 * gives in many small pieces. Order within a session holds: whatever else happens in it sends first what was joined.
 */
import { continuesDelta, deltaText, withDelta } from './deltas.ts';
import { frameAgent } from './frame.ts';
import type { EventFrame } from './frame.ts';

/** Longest wait of a piece for others. */
export const JOIN_MS = 16;
/** UTF-8 bytes of text in one joined frame; a single longer piece passes as it is. */
export const JOINED_DELTA_BYTES = 16 * 1024;

export interface DeltaJoiner {
  /** Emits the frame, now or joined with those that follow it. */
  take(frame: EventFrame): void;
  /** Emits what waits in a session. */
  flush(sessionId: string): void;
  /** Emits what waits anywhere, ends all timers. */
  close(): void;
}

interface Pending {
  first: EventFrame;
  text: string;
  bytes: number;
  timer: NodeJS.Timeout;
}

interface SessionJoin {
  /** Texts whose first piece went out, at once; forgotten with the next durable event, which ends a step or a turn. */
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
