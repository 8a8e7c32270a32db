/**
 * Memoizes an async load: concurrent calls share it, and after a failure the next call retries. A module whose file
 * could not be opened cannot be retried, because Node caches the failure; therefore `utils/http/preload.ts` loads
 * important modules ahead.
 */
export function lazy<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loading: Promise<Loaded> | undefined;
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

/** A service that is loaded at its first use. */
export interface LazyService<Service> {
  /** Rejects as the load does. */
  load(): Promise<Service>;
  /** Closes the service if it was loaded; one that is still being loaded, or is loaded later, is closed then. */
  close(): Promise<void>;
}

/** Memoizes the load of a service that has to be closed. */
export function lazyService<Service extends { close(): unknown }>(load: () => Promise<Service>): LazyService<Service> {
  let loaded: Service | undefined;
  let isClosed = false;
  return {
    load: lazy(async () => {
      loaded = await load();
      if (isClosed) await loaded.close();
      return loaded;
    }),
    async close() {
      isClosed = true;
      await loaded?.close();
    },
  };
}
