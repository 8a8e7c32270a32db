/**
 * State of a session that its transcripts do not convey: read over REST, and read again when it may have changed. With
 * `on`, it follows changes by other clients and by the agent.
 */
import { onScopeDispose, shallowRef, watch, type ShallowRef } from 'vue';
import type { EventFrame } from '../client/types.ts';

/** Receives changes that the transcripts of a session do not convey. */
export interface SessionListener {
  /** Not called for events that a transcript conveys. */
  event(frame: EventFrame): void;
  /** Called when events may have been missed: after a connection and after a resync. */
  eventsMissed(): void;
}

export interface SessionEvents {
  /** Calls the listener until the returned function is called. */
  listen(listener: SessionListener): () => void;
}

export interface SessionStateOptions<T> {
  /** Reads the state. */
  load(): Promise<T>;
  /**
   * Types of the session's events after which the state is read again. Events that the transcript conveys do not
   * arrive.
   */
  on?: readonly EventFrame['type'][];
  /** Whether the state is displayed: it is read only then, and each time it becomes so. Default: always. */
  active?: () => boolean;
  /** Receives the error of a read. */
  failed: (error: unknown) => void;
}

export interface SessionState<T> {
  /** Undefined before the first successful read. */
  readonly value: Readonly<ShallowRef<T | undefined>>;
  /** Coalesces: concurrent calls share a read that starts after them. */
  refresh(): Promise<void>;
}

/** Reads the state until the current effect scope is disposed. */
export function followState<T>(
  session: SessionEvents,
  { load, on = [], active = () => true, failed }: SessionStateOptions<T>,
): SessionState<T> {
  const value = shallowRef<T>();
  let wanted = false;
  let reading: Promise<void> | undefined;
  let closed = false;

  async function read(): Promise<void> {
    // Calls of the same task share the first read.
    await Promise.resolve();
    while (wanted) {
      wanted = false;
      try {
        const next = await load();
        if (!closed) value.value = next;
      } catch (error) {
        if (!closed) failed(error);
      }
    }
    reading = undefined;
  }

  function refresh(): Promise<void> {
    wanted = !closed;
    reading ??= read();
    return reading;
  }

  function changed(): void {
    if (active()) void refresh();
  }

  const stop = session.listen({
    event({ type }) {
      if (on.includes(type)) changed();
    },
    eventsMissed: changed,
  });
  watch(active, changed, { immediate: true });
  onScopeDispose(() => {
    closed = true;
    wanted = false;
    stop();
  });

  return { value, refresh };
}
