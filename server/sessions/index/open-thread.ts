/** Starts the thread of a repair pass: with very many sessions, comparing their folders takes seconds. */
import { createThread } from '#server/threads/thread.ts';
import type { FolderName, RowDifferences, RowStamp } from './folder-comparison.ts';

/** The functions of `FolderComparison`. They also reject with `internal.error` if the thread ends. */
export interface ComparisonThread {
  compare(rows: readonly RowStamp[]): Promise<RowDifferences>;
  rest(): Promise<FolderName[]>;
  /** Ends the thread after its current request. */
  close(): Promise<void>;
}

/** Creates the thread; its first request starts it. */
export function openComparisonThread(sessionsDir: string): ComparisonThread {
  const thread = createThread({
    name: 'repair',
    program: () => import('./folder-comparison-program.ts?thread'),
    workerData: () => sessionsDir,
  });
  // Both ends of the thread have one version.
  return {
    compare: async (rows) => (await thread.request(rows)) as RowDifferences,
    rest: async () => (await thread.request(undefined)) as FolderName[],
    close: thread.close,
  };
}
