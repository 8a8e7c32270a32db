/** The result of a call as values that JSON has. */
import { createTimeSlice } from '#server/async/yield.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { MAX_JSON_LEVELS } from '#server/text/json.ts';

/** Bytes of the JSON text at most. */
export const MAX_RESULT_BYTES = 8 * 1024 * 1024;
/** Values after which a walk can be interrupted. */
const PAUSE_VALUES = 1024;

/** Thrown within this file, where a value is met that cannot be sent. */
class NotJson extends Error {
  override readonly name = 'NotJson';
}

interface Walk {
  bytesLeft: number;
  /** Number of values so far. */
  values: number;
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

const isPlain = (value: object) => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};

const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Date);

/** A value that holds no others; undefined stays undefined. */
function leaf(value: unknown, walk: Walk): unknown {
  if (value instanceof Date) return leaf(value.toJSON(), walk);
  switch (typeof value) {
    case 'string':
      return text(value, walk);
    case 'bigint':
      return text(value.toString(), walk);
    case 'number':
    case 'boolean':
    case 'object': {
      // Null, and numbers that are none.
      const shown = typeof value === 'number' && !Number.isFinite(value) ? null : value;
      spend(walk, String(shown).length);
      return shown;
    }
    case 'undefined':
      return undefined;
    default:
      throw new NotJson(`a ${typeof value}`);
  }
}

function pauses(walk: Walk): boolean {
  walk.values += 1;
  return walk.values % PAUSE_VALUES === 0;
}

type Copy = Generator<undefined, unknown, undefined>;

function* items(values: Iterable<unknown>, walk: Walk): Copy {
  const copy: unknown[] = [];
  for (const value of values) {
    if (pauses(walk)) yield;
    if (copy.length > 0) spend(walk, 1);
    copy.push(isContainer(value) ? yield* container(value, walk) : leaf(value ?? null, walk));
  }
  return copy;
}

function* members(value: object, walk: Walk): Copy {
  const copy: [string, unknown][] = [];
  for (const key of Object.keys(value)) {
    if (pauses(walk)) yield;
    const member: unknown = Reflect.get(value, key);
    if (member === undefined) continue;
    spend(walk, copy.length > 0 ? 2 : 1);
    const name = text(key, walk);
    copy.push([name, isContainer(member) ? yield* container(member, walk) : leaf(member, walk)]);
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

/**
 * Copies a result: a Map (as its entries) and a Set become arrays, a Date its ISO text, a bigint its digits, undefined
 * null. Does not block the event loop. Throws `internal.error` for functions, cycles, instances of other classes (such
 * as streams), a getter that throws, and a JSON text above `MAX_RESULT_BYTES`.
 */
export async function jsonResult(value: unknown): Promise<unknown> {
  const slice = createTimeSlice();
  const walk: Walk = { bytesLeft: MAX_RESULT_BYTES, values: 0, above: new Set() };
  try {
    if (!isContainer(value)) return leaf(value, walk) ?? null;
    const copy = container(value, walk);
    for (;;) {
      const step = copy.next();
      if (step.done) return step.value;
      if (slice.due()) await slice.rest();
    }
  } catch (error) {
    throw new ServiceError('internal.error', 'result cannot be sent', { cause: error });
  }
}
