/** Starts the search thread with what only the main program has: paths, and the library's file. */
import type { Logger } from '#server/logging/log.ts';
import { libsqlFile } from '#server/storage/index-db.ts';
import { createThread, type Thread } from '#server/threads/thread.ts';
import { z } from 'zod';
import { newCallState, stopCalls } from './call-guard.ts';
import type { SearchWorkerData } from './messages.ts';
import program from './search-program.ts?thread';

const MEMORY_MB = 128;

const logSchema = z.object({ level: z.enum(['info', 'warn', 'error']), message: z.string() });

export interface SearchThreadDeps {
  /** Files of the search index and of the session index, and the folder of the sessions. */
  paths: Pick<SearchWorkerData, 'path' | 'sessionIndex' | 'sessionsDir'>;
  onDeath(): void;
  log: Logger;
}

/** Creates the thread; its first request starts it. */
export function openSearchThread({ paths, onDeath, log }: SearchThreadDeps): Thread {
  const calls = newCallState();
  const onExit = () => stopCalls(calls);
  process.on('exit', onExit);
  const thread = createThread({
    name: 'search',
    program,
    workerData: (): SearchWorkerData => ({ ...paths, libsql: libsqlFile(), calls }),
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    onMessage(message) {
      const { level, message: text } = logSchema.parse(message);
      log[level](text);
    },
    onDeath(error) {
      process.off('exit', onExit);
      log.error('the search thread ended', { err: error });
      onDeath();
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
