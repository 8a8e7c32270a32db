/** Program of the search thread: it alone reads and writes the search index. */
import { workerData } from 'node:worker_threads';
import { createDerivedDb } from '#server/storage/derived-db.ts';
import { FileLockError } from '#server/storage/file-locks.ts';
import { isSqliteError, isUnwritable } from '#server/storage/read-only-db.ts';
import { sendMessage, serveRequests } from '#server/threads/serve-requests.ts';
import { answerSearch } from './answer.ts';
import { guardedCall } from './call-guard.ts';
import { createIndexer } from './indexer.ts';
import { liveConnection } from './live-connection.ts';
import { createMemoryIndexes } from './memory-indexes.ts';
import {
  noticeSchema,
  workerDataSchema,
  type Report,
  type SearchAnswer,
  type SearchJob,
  type ThreadRequest,
} from './messages.ts';
import { searchSchema } from './tables.ts';

const { path, sessionIndex, sessionsDir, passEveryMs, libsql, calls } = workerDataSchema.parse(workerData);
const guard = <T>(call: () => T): T => guardedCall(calls, call);

const report = (message: Report): void => sendMessage(message);
const logAs =
  (level: 'info' | 'warn' | 'error') =>
  (message: string): void =>
    report({ kind: 'log', level, message });
const log = { info: logAs('info'), warn: logAs('warn'), error: logAs('error') };
const db = createDerivedDb({ path, name: 'the search index', schema: searchSchema, libsql: () => libsql, guard, log });
const connection = liveConnection(db);
const memoryIndexes = createMemoryIndexes(libsql, guard);
let searching = 0;
const indexer = createIndexer({
  db,
  connection,
  sessionIndex,
  sessionsDir,
  isSearching: () => searching > 0,
  checkLease: () => report({ kind: 'checkLease' }),
  passEveryMs,
});

/** Where the home cannot be written and has no index. */
const unreadable: SearchAnswer = { found: [], hasMore: false, state: 'readonly', indexedSessions: 0, documents: 0 };

/** Whether the index cannot be opened or written. */
const isFailureOfIndex = (error: unknown): boolean =>
  isUnwritable(error) || isSqliteError(error) || error instanceof FileLockError;

/** The session of a live search is indexed for it: failures of others do not concern it. */
const failureOf = ({ live }: SearchJob) => (live ? () => undefined : indexer.failure);

async function search(job: SearchJob, signal: AbortSignal): Promise<SearchAnswer> {
  searching += 1;
  try {
    if (await db.refresh()) indexer.checkFilled();
    return await answerSearch({ db, connection, failure: failureOf(job) }, job, signal);
  } catch (error) {
    if (job.live && isFailureOfIndex(error)) {
      const memory = memoryIndexes(job.live.id);
      return await answerSearch({ db, connection: memory, failure: failureOf(job) }, job, signal);
    }
    if (isUnwritable(error)) return unreadable;
    throw error;
  } finally {
    searching -= 1;
  }
}

function open(): void {
  try {
    db.filled();
  } catch (error) {
    // Searches report it.
    if (!isUnwritable(error)) throw error;
  }
}

serveRequests({
  async answer(message, signal) {
    // The main thread checks requests before it sends them.
    const request = message as ThreadRequest;
    return request.kind === 'search' ? search(request.job, signal) : open();
  },
  receive(message) {
    const notice = noticeSchema.parse(message);
    if (notice.kind === 'hints') indexer.hint(notice.hints);
    else indexer.setFilling(notice.active);
  },
  close() {
    indexer.close();
    db.close();
  },
});
