/** Loggers that write one JSON object a line. */
import { createConsola } from 'consola/core';
import type { LogObject } from 'consola/core';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
/** What a line may have. */
type LineLevel = Exclude<LogLevel, 'silent'>;

export type LogFields = Record<string, unknown>;

/** Never give it a token, a key or a whole configuration. Errors go under `err`. */
export interface Logger {
  fatal(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  trace(message: string, fields?: LogFields): void;
  /** Whether lines of that level are written; ask before building costly fields. */
  enabled(level: LineLevel): boolean;
}

/** A logger from what its call of each level does. */
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

/** Numbers on the wire; a line is written when its number is not below the threshold's. */
const SEVERITY: Record<LogLevel, number> = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
  silent: Number.POSITIVE_INFINITY,
};
/** Consola's own scale, most verbose; the threshold is ours because consola has fatal and error on one level. */
const CONSOLA_EVERYTHING = 5;

/** What lies deeper in a field is left out. */
const MAX_DEPTH = 10;

/**
 * Any value as JSON can hold it, for a line must be written whatever is in it: errors readable, cycles, deep values and
 * what cannot be read named instead.
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
 * A logger whose calls never throw. It gives lines of `level` and above to `write` (standard output unless given), with
 * the fields they were made of. `always` are fields of every line.
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
    // Consola holds repeated lines back by default; a log must not.
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
