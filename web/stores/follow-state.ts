/**
 * State that no transcript conveys: read over REST, and read again when it may have changed. With `on`, it follows
 * changes by other clients and by agents.
 */
import { onScopeDispose, shallowRef, watch, type ShallowRef } from 'vue';
import type { EventFrame } from '@service-code/client';

/** Receives changes that no transcript conveys. */
export interface StateListener {
  /** Not called for events that a transcript conveys. */
  event(frame: EventFrame): void;
  /** Called when events may have been missed: after a connection and after a resync. */
  eventsMissed(): void;
}

export interface StateEvents {
  /** Calls the listener until the returned function is called. */
  listen(listener: StateListener): () => void;
}

export interface StateOptions<T> {
  /** Reads the state. */
  load(): Promise<T>;
  /**
   * Types of the events after which the state is read again, or a function that selects events. Events that a
   * transcript conveys do not arrive.
   */
  on?: readonly EventFrame['type'][] | ((frame: EventFrame) => boolean);
  /**
   * Applies an event to the state without a read. The event may be older than the state, if a read ran when it arrived;
   * a newer one follows it then.
   */
  apply?: (value: T, frame: EventFrame) => T;
  /** Whether the state is displayed: it is read only then, and each time it becomes so. Default: always. */
  active?: () => boolean;
  /** Receives the error of a read. */
  failed: (error: unknown) => void;
}

export interface FollowedState<T> {
  /** Undefined before the first successful read. */
  readonly value: Readonly<ShallowRef<T | undefined>>;
  /** Coalesces: concurrent calls share a read that starts after them. */
  refresh(): Promise<void>;
}

/** Reads the state until the current effect scope is disposed. */
export function followState<T>(
  session: StateEvents,
  { load, on = [], apply = (known) => known, active = () => true, failed }: StateOptions<T>,
): FollowedState<T> {
  const value = shallowRef<T>();
  let wanted = false;
  let reading: Promise<void> | undefined;
  let closed = false;
  /** Events that arrived during the running read, whose reply may lack them. */
  let meanwhile: EventFrame[] = [];
  const rereads = typeof on === 'function' ? on : ({ type }: EventFrame) => on.includes(type);

  async function read(): Promise<void> {
    // Calls of the same task share the first read.
    await Promise.resolve();
    while (wanted) {
      wanted = false;
      meanwhile = [];
      try {
        const next = await load();
        if (!closed) value.value = meanwhile.reduce(apply, next);
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
    event(frame) {
      if (reading) meanwhile.push(frame);
      if (value.value !== undefined) value.value = apply(value.value, frame);
      if (rereads(frame)) changed();
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
