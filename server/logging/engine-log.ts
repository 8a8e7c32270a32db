/**
 * The engine's log files: every line is written to `<home>/logs/`, lines about one session also to that session's
 * `logs/`.
 */
import { join } from 'node:path';
import { envInteger, envText } from '#server/env.ts';
import { createLogFiles, type LogTarget } from './log-file.ts';
import { createLogger, LOG_LEVELS, loggerOf, type Logger } from './log.ts';

const DEFAULT_LEVEL = 'info';
const HOME_MAX_BYTES = 6_291_456;
const HOME_FILES = 5;
const SESSION_MAX_BYTES = 5_242_880;
const SESSION_FILES = 3;

export interface EngineLog {
  /** Logs lines of SERVICE_LOG_LEVEL and above to the home's files, and all lines to `output`. */
  readonly log: Logger;
  /**
   * Like `log`, and lines whose fields have a `sessionId` are also written to that session's files. `folderOf` is
   * called for each such line and must not throw; undefined for an unknown session.
   */
  withSessions(folderOf: (sessionId: string) => string | undefined): Logger;
  /** Resolves after all queued lines have been written. */
  close(): Promise<void>;
}

export interface EngineLogOptions {
  /** Must exist. */
  home: string;
  /** Read a single time. */
  env: NodeJS.ProcessEnv;
  /** The server log, which has a separate level; errors of the log files are logged only there. */
  output: Logger;
}

/** Creates no file before the first line. */
export function createEngineLog({ home, env, output }: EngineLogOptions): EngineLog {
  const limits = (scope: 'GLOBAL' | 'SESSION', maxBytes: number, files: number) => ({
    // 0 would be no usable limit, so it means the default.
    maxBytes: envInteger(env, `SERVICE_LOG_${scope}_MAX_BYTES`) || maxBytes,
    files: envInteger(env, `SERVICE_LOG_${scope}_FILES`) || files,
  });
  const ofHome: LogTarget = { directory: join(home, 'logs'), ...limits('GLOBAL', HOME_MAX_BYTES, HOME_FILES) };
  const ofSessions = limits('SESSION', SESSION_MAX_BYTES, SESSION_FILES);
  const level = LOG_LEVELS.find((name) => name === envText(env, 'SERVICE_LOG_LEVEL')?.toLowerCase()) ?? DEFAULT_LEVEL;

  const files = createLogFiles({
    onError: (error) => output.error('the log file cannot be written', { err: error }),
    onDropped: (lines) => log.warn('log lines were dropped, the disk was too slow', { lines }),
  });
  // Lines have a pid because several servers may share a home.
  const constant = { pid: process.pid };
  const log = both(
    createLogger(level, (line) => files.write(ofHome, line), constant),
    output,
  );
  return {
    log,
    withSessions(folderOf) {
      const kept = createLogger(
        level,
        (line, { sessionId }) => {
          files.write(ofHome, line);
          const folder = typeof sessionId === 'string' ? folderOf(sessionId) : undefined;
          if (folder !== undefined) files.write({ directory: join(folder, 'logs'), ...ofSessions }, line);
        },
        constant,
      );
      return both(kept, output);
    },
    close: files.close,
  };
}

function both(one: Logger, other: Logger): Logger {
  return loggerOf(
    (level) => (message, fields) => {
      one[level](message, fields);
      other[level](message, fields);
    },
    (level) => one.enabled(level) || other.enabled(level),
  );
}
