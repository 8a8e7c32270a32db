/**
 * Memoizes a load: the first call starts it, all share it, and after a failure the next call starts it again. A module whose
 * file could not be opened is not loaded again even then: Node keeps the failure, which is why `utils/http/preload.ts`
 * loads ahead what matters.
 */
export function loadOnce<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loading: Promise<Loaded> | undefined;
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}
