/**
 * The way of every event from those who make it to those who pass it on. It depends on nothing and is built first.
 * Publishing is synchronous: when it returns, every listener has the frame, or the joined one is on its way.
 */
import type { Logger } from '#server/logging/log.ts';
import { createDeltaJoiner } from './delta-joiner.ts';
import type { EventFrame, EventSink } from './frame.ts';

export interface BusListener {
  /** Must not wait; what it throws is logged and harms no other listener. */
  receive(frame: EventFrame): void;
  /** What was published of a session so far must stay apart from what follows: somebody reads its state now. */
  flushed(sessionId: string): void;
  /** How many follow the session through this listener. */
  followers(sessionId: string): number;
}

export interface EventBus extends EventSink {
  /** Adds a listener until the returned function is called. */
  listen(listener: BusListener): () => void;
  /** Hands over what was joined of a session so far: nothing that follows reaches behind this moment. */
  flush(sessionId: string): void;
  /** How many follow the session, through any listener. */
  followers(sessionId: string): number;
  /** Hands over all that waits. */
  close(): void;
}

export interface EventBusDeps {
  log: Logger;
  /** Longest wait of a piece of text for others. */
  joinMs?: number;
}

/** Creates the bus of a server. */
export function createEventBus({ log, joinMs }: EventBusDeps): EventBus {
  const listeners = new Set<BusListener>();
  const waiting: EventFrame[] = [];
  let busy = false;

  function tell(call: (listener: BusListener) => void): void {
    for (const listener of listeners) {
      try {
        call(listener);
      } catch (error) {
        log.error('an event listener failed', { err: error });
      }
    }
  }

  /** What a listener publishes comes behind the frame that it was given, for all listeners alike. */
  function dispatch(published: EventFrame): void {
    waiting.push(published);
    if (busy) return;
    busy = true;
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const frame = next;
      tell((listener) => listener.receive(frame));
    }
    busy = false;
  }

  const joiner = createDeltaJoiner(dispatch, joinMs);

  return {
    publish: joiner.take,
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    flush(sessionId) {
      joiner.flush(sessionId);
      tell((listener) => listener.flushed(sessionId));
    },
    followers(sessionId) {
      let sum = 0;
      for (const listener of listeners) sum += listener.followers(sessionId);
      return sum;
    },
    close: joiner.close,
  };
}
