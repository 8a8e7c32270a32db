/** Loggers that write one JSON object per line. */
import { createConsola } from 'consola/core';
import type { LogObject } from 'consola/core';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
/** The levels that a line can have. */
type LineLevel = Exclude<LogLevel, 'silent'>;

export type LogFields = Record<string, unknown>;

/** Never pass a token, a key or a complete configuration. Errors are passed as `err`. */
export interface Logger {
  fatal(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  trace(message: string, fields?: LogFields): void;
  /** True if lines of that level are written; check it before building costly fields. */
  enabled(level: LineLevel): boolean;
}

/** Creates a logger from a function that returns the log method of each level. */
export function loggerOf(at: (level: LineLevel) => Logger['info'], enabled: Logger['enabled']): Logger {
  return {
    fatal: at('fatal'),
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    trace: at('trace'),
    enabled,
  };
}

/** Level numbers in the output; a line is written if its number is at least the threshold's. */
const SEVERITY: Record<LogLevel, number> = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
  silent: Number.POSITIVE_INFINITY,
};
/** Consola's most verbose level; the threshold is applied here because consola has one level for fatal and error. */
const CONSOLA_EVERYTHING = 5;

/** Nesting limit of fields; deeper values are replaced with `[deep]`. */
const MAX_DEPTH = 10;

/**
 * Converts any value to one that JSON can represent, because a line must be written with any fields: errors become
 * objects; cycles, too deep values and unreadable values become placeholders.
 */
function writable(value: unknown, above: readonly object[] = []): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) return '[circular]';
  if (above.length >= MAX_DEPTH) return '[deep]';
  const within = [...above, value];
  try {
    if (Array.isArray(value)) return value.map((item) => writable(item, within));
    if (value instanceof Error) {
      const { name, message, stack, cause } = value;
      return { name, message, stack, cause: writable(cause, within) };
    }
    if ('toJSON' in value && typeof value.toJSON === 'function') return writable(value.toJSON(), within);
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, writable(member, within)]));
  } catch (error) {
    return `[unreadable: ${error instanceof Error ? error.message : 'thrown'}]`;
  }
}

/**
 * Creates a logger whose methods never throw. Lines of `level` and above are passed to `write` (default: standard
 * output) together with their fields. `always`: fields of every line.
 */
export function createLogger(
  level: LogLevel,
  write: (line: string, fields: LogFields) => void = (line) => void process.stdout.write(line),
  always: LogFields = {},
): Logger {
  const threshold = SEVERITY[level];
  const enabled = (of: LogLevel) => SEVERITY[of] >= threshold;
  const consola = createConsola({
    level: CONSOLA_EVERYTHING,
    // Consola delays repeated lines by default, which a log must not.
    throttle: 0,
    reporters: [
      {
        log(entry: LogObject) {
          const [severity, msg, fields = {}] = entry.args;
          const line = { level: severity, time: entry.date.toISOString(), name: 'service-code', msg, ...always };
          write(`${JSON.stringify(writable({ ...line, ...fields }))}\n`, fields);
        },
      },
    ],
  });
  const writeAt = (of: LineLevel) => (message: string, fields?: LogFields) => {
    if (enabled(of)) consola[of](SEVERITY[of], message, fields);
  };
  return loggerOf(writeAt, enabled);
}
