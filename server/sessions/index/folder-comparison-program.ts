/** Program of the thread of a repair pass. It only reads the file system. */
import { workerData } from 'node:worker_threads';
import { serveRequests } from '#server/threads/serve-requests.ts';
import { createFolderComparison, type RowStamp } from './folder-comparison.ts';

// Both ends of the thread have one version.
const comparison = createFolderComparison(workerData as string);

serveRequests({
  answer: async (rows) => (rows === undefined ? comparison.rest() : comparison.compare(rows as RowStamp[])),
});
