/** The result of a call as values that JSON has. */
import { createTimeSlice } from '#server/async/yield.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { MAX_JSON_LEVELS } from '#server/text/json.ts';

/** Bytes of the JSON text at most. */
export const MAX_RESULT_BYTES = 8 * 1024 * 1024;
/** Members after which a walk can be interrupted. */
const PAUSE_MEMBERS = 256;

/** Thrown within this file, where a value is met that cannot be sent. */
class NotJson extends Error {
  override readonly name = 'NotJson';
}

interface Walk {
  bytesLeft: number;
  /** The containers around the present value. */
  readonly above: Set<object>;
}

function spend(walk: Walk, bytes: number): void {
  walk.bytesLeft -= bytes;
  if (walk.bytesLeft < 0) throw new NotJson(`more than ${MAX_RESULT_BYTES} bytes`);
}

function text(value: string, walk: Walk): string {
  // Before a long text is escaped.
  if (value.length > walk.bytesLeft) spend(walk, value.length);
  spend(walk, Buffer.byteLength(JSON.stringify(value)));
  return value;
}

const dateText = (date: Date) => (Number.isNaN(date.getTime()) ? null : date.toISOString());

const isPlain = (value: object) => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};

type Copy = Generator<undefined, unknown, undefined>;

function* items(values: Iterable<unknown>, walk: Walk): Copy {
  const copy: unknown[] = [];
  for (const value of values) {
    if (copy.length % PAUSE_MEMBERS === 0) yield;
    if (copy.length > 0) spend(walk, 1);
    if (value === undefined) spend(walk, 4);
    copy.push((yield* copyOf(value, walk)) ?? null);
  }
  return copy;
}

function* members(value: object, walk: Walk): Copy {
  const copy: [string, unknown][] = [];
  for (const key of Object.keys(value)) {
    if (copy.length % PAUSE_MEMBERS === 0) yield;
    const member: unknown = Reflect.get(value, key);
    if (member === undefined) continue;
    spend(walk, copy.length > 0 ? 2 : 1);
    copy.push([text(key, walk), yield* copyOf(member, walk)]);
  }
  // Own members, also of the name `__proto__`.
  return Object.fromEntries(copy);
}

function* container(value: object, walk: Walk): Copy {
  if (walk.above.has(value)) throw new NotJson('a cycle');
  if (walk.above.size >= MAX_JSON_LEVELS) throw new NotJson('too many levels');
  walk.above.add(value);
  spend(walk, 2);
  let copy: unknown;
  if (value instanceof Map || value instanceof Set || Array.isArray(value)) copy = yield* items(value, walk);
  else if (isPlain(value)) copy = yield* members(value, walk);
  else throw new NotJson('an instance of a class');
  walk.above.delete(value);
  return copy;
}

function* copyOf(value: unknown, walk: Walk): Copy {
  switch (typeof value) {
    case 'string':
      return text(value, walk);
    case 'bigint':
      return text(value.toString(), walk);
    case 'number':
    case 'boolean':
      spend(walk, JSON.stringify(value).length);
      return Number.isNaN(value) || value === Infinity || value === -Infinity ? null : value;
    case 'undefined':
      return undefined;
    case 'object':
      if (value instanceof Date) {
        const shown = dateText(value);
        return shown === null ? shown : text(shown, walk);
      }
      if (value !== null) return yield* container(value, walk);
      spend(walk, 4);
      return null;
    default:
      throw new NotJson(`a ${typeof value}`);
  }
}

/**
 * Copies a result: a Map (as its entries) and a Set become arrays, a Date its ISO text, a bigint its digits, undefined
 * null. Does not block the event loop. Throws `internal.error` for functions, cycles, instances of other classes (such
 * as streams), a getter that throws, and a JSON text above `MAX_RESULT_BYTES`.
 */
export async function jsonResult(value: unknown): Promise<unknown> {
  const slice = createTimeSlice();
  const copy = copyOf(value, { bytesLeft: MAX_RESULT_BYTES, above: new Set() });
  try {
    for (;;) {
      const step = copy.next();
      if (step.done) return step.value ?? null;
      if (slice.due()) await slice.rest();
    }
  } catch (error) {
    throw new ServiceError('internal.error', 'result cannot be sent', { cause: error });
  }
}
