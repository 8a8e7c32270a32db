/** Starts the search thread with what only the main program has: paths, and the library's file. */
import type { Logger } from '#server/logging/log.ts';
import { libsqlFile } from '#server/storage/index-db.ts';
import { createThread, type Thread } from '#server/threads/thread.ts';
import { newCallState, stopCalls } from './call-guard.ts';
import { reportSchema, type SearchWorkerData } from './messages.ts';

/** Results of queries are short-lived: by default V8 would reserve up to 48 MB for such objects before it frees them. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 6 };

export interface SearchThreadEvents {
  /** The thread has ended, unless `close` ended it. */
  onDeath(): void;
  /** The thread waits for a notice `fill`. */
  onCheckLease(): void;
}

export interface SearchThreadDeps {
  options: Omit<SearchWorkerData, 'libsql' | 'calls'>;
  events: SearchThreadEvents;
  log: Logger;
}

/** Creates the thread; its first request starts it. */
export function openSearchThread({ options, events, log }: SearchThreadDeps): Thread {
  const calls = newCallState();
  const onExit = () => stopCalls(calls);
  process.on('exit', onExit);
  const thread = createThread({
    name: 'search',
    program: () => import('./search-program.ts?thread'),
    workerData: (): SearchWorkerData => ({ ...options, libsql: libsqlFile(), calls }),
    resourceLimits: MEMORY,
    onMessage(message) {
      const report = reportSchema.parse(message);
      if (report.kind === 'log') log[report.level](report.message);
      else events.onCheckLease();
    },
    onDeath(error) {
      process.off('exit', onExit);
      log.error('the search thread ended', { err: error });
      events.onDeath();
    },
  });
  return {
    ...thread,
    async close() {
      await thread.close();
      process.off('exit', onExit);
    },
  };
}
