/**
 * In-process event bus between publishers and the listeners that deliver events; it depends on no other part.
 * Publishing is synchronous: on return every listener has received the frame, or the frame waits in the joiner.
 */
import type { Logger } from '#server/logging/log.ts';
import { createDeltaJoiner } from './delta-joiner.ts';
import type { EventFrame, EventSink } from './frame.ts';

export interface BusListener {
  /** Called synchronously, so it must not block; an exception is logged and does not affect other listeners. */
  receive(frame: EventFrame): void;
  /** Called when a client is about to read the session's state: later text must not be merged into earlier text. */
  flushed(sessionId: string): void;
  /** Returns how many subscribers of the session this listener serves. */
  followers(sessionId: string): number;
}

export interface EventBus extends EventSink {
  /** Adds a listener; the returned function removes it. */
  listen(listener: BusListener): () => void;
  /** Emits the session's joined text immediately, so that no later frame is merged into text from before the call. */
  flush(sessionId: string): void;
  /** Returns how many subscribers the session has across all listeners. */
  followers(sessionId: string): number;
  /** Emits all frames that are still waiting to be joined. */
  close(): void;
}

/** Creates the bus of a server. */
export function createEventBus({ log }: { log: Logger }): EventBus {
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

  /** A frame that a listener publishes is queued after the current one, so that all listeners see the same order. */
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

  const joiner = createDeltaJoiner(dispatch);

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
