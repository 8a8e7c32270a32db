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
