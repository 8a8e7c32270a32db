/** The times of a cron expression, in local time. Imported when the first job is created or found. */
import { Cron } from 'croner';

/** Long enough for a list of all minutes of the hour. */
const MAX_CHARS = 400;

const fields = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12 },
  { name: 'day of the week', min: 0, max: 7 },
] as const;

export interface Schedule {
  /** The normalized expression, its fields separated by one space. */
  readonly expression: string;
  /** The first time after this one, both in ms; undefined when there is none. */
  next(after: number): number | undefined;
}

/** An invalid expression; the message contains the reason. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

/**
 * The schedule of five numeric fields: `*`, lists, ranges, steps; Sunday is 0 or 7. If both day fields are restricted,
 * either may match. A time that a clock change skips is moved to the change; a repeated one occurs a single time,
 * except in expressions that match every hour. Throws `ExpressionError`.
 */
export function openSchedule(text: string): Schedule {
  const parts = text.trim().split(/\s+/);
  if (text.length > MAX_CHARS) throw new ExpressionError(`It is longer than ${MAX_CHARS} characters.`);
  if (parts.length !== fields.length) {
    throw new ExpressionError(
      `It has ${parts.length} fields instead of 5: minute, hour, day of the month, month, day of the week.`,
    );
  }
  fields.forEach((field, at) => parts[at]?.split(',').forEach((item) => checkItem(item, field)));
  const expression = parts.join(' ');
  const cron = parsed(expression);
  return { expression, next: (after) => cron.nextRun(new Date(after))?.getTime() };
}

function parsed(expression: string): Cron {
  try {
    // Paused and without a function, it schedules nothing and only computes times.
    return new Cron(expression, { paused: true });
  } catch (error) {
    throw new ExpressionError(error instanceof Error ? error.message : 'It cannot be read.', { cause: error });
  }
}

/** One item of a list; names and signs of other dialects do not match. */
const ITEM = /^(?:(?<from>\d{1,2})(?:-(?<to>\d{1,2}))?|\*)(?:\/(?<step>\d{1,2}))?$/;

function checkItem(item: string, { name, min, max }: (typeof fields)[number]): void {
  const wrong = (what: string) => new ExpressionError(`The ${name} "${item}" ${what}`);
  const match = ITEM.exec(item);
  if (!match) throw wrong('is not *, a number, a range such as 1-5 or a step such as */10; names are not known.');
  const { from, to, step } = match.groups ?? {};
  for (const bound of [from, to]) {
    if (bound !== undefined && (Number(bound) < min || Number(bound) > max)) {
      throw wrong(`is not between ${min} and ${max}.`);
    }
  }
  if (to !== undefined && Number(to) < Number(from)) throw wrong('ends before it begins.');
  if (step === undefined) return;
  if (from !== undefined && to === undefined) throw wrong('steps from a single number; write a range.');
  if (Number(step) < 1 || Number(step) > max) throw wrong(`steps by what is not between 1 and ${max}.`);
}
