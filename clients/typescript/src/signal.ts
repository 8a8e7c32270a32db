/** Values that are published to listeners. */
export interface Signal<Value> {
  /** Calls the listener with each later value, until the returned function is called. */
  listen(listener: (value: Value) => void): () => void;
  emit(value: Value): void;
}

/** Creates a signal; its listeners are called in the order in which they were added. */
export function createSignal<Value>(): Signal<Value> {
  const listeners = new Set<(value: Value) => void>();
  return {
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    emit(value) {
      for (const listener of listeners) listener(value);
    },
  };
}
