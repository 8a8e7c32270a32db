/** Program of the search thread: it alone reads and writes the search index. */
import { workerData } from 'node:worker_threads';
import { createDerivedDb } from '#server/storage/derived-db.ts';
import { sendMessage, serveRequests } from '#server/threads/serve-requests.ts';
import { answerSearch, isUnwritable } from './answer.ts';
import { guardedCall } from './call-guard.ts';
import { createIndexer } from './indexer.ts';
import { liveConnection } from './live-connection.ts';
import { noticeSchema, workerDataSchema, type Report, type SearchAnswer, type SearchJob } from './messages.ts';
import { searchSchema } from './tables.ts';

const { path, sessionIndex, sessionsDir, passEveryMs, libsql, calls } = workerDataSchema.parse(workerData);
const guard = <T>(call: () => T): T => guardedCall(calls, call);

const report = (message: Report): void => sendMessage(message);
const tell =
  (level: 'info' | 'warn' | 'error') =>
  (message: string): void =>
    report({ kind: 'log', level, message });
const log = { info: tell('info'), warn: tell('warn'), error: tell('error') };
const db = createDerivedDb({ path, name: 'the search index', schema: searchSchema, libsql: () => libsql, log });
const guardedDb = {
  ...db,
  filled: () => guard(db.filled),
  markFilled: () => guard(db.markFilled),
};
const connection = liveConnection(db, guard);
let searching = 0;
const indexer = createIndexer({
  db: guardedDb,
  connection,
  sessionIndex,
  sessionsDir,
  isSearching: () => searching > 0,
  checkLease: () => report({ kind: 'checkLease' }),
  passEveryMs,
});

/** Where the home cannot be written and has no index. */
const unreadable: SearchAnswer = { found: [], hasMore: false, state: 'readonly', indexedSessions: 0, documents: 0 };

async function search(job: SearchJob, signal: AbortSignal): Promise<SearchAnswer> {
  searching += 1;
  try {
    return await answerSearch({ db: guardedDb, connection, indexer }, job, signal);
  } catch (error) {
    if (isUnwritable(error)) return unreadable;
    throw error;
  } finally {
    searching -= 1;
  }
}

serveRequests({
  // The main thread checks requests before it sends them.
  answer: (request, signal) => search(request as SearchJob, signal),
  receive(message) {
    const notice = noticeSchema.parse(message);
    if (notice.kind === 'hints') indexer.hint(notice.hints);
    else indexer.setFilling(notice.active);
  },
  close() {
    indexer.close();
    guard(db.close);
  },
});
