/** JSON written piece by piece, so that a large value does not hold the event loop up. */
import { Readable } from 'node:stream';
import { yieldToLoop } from '#server/async/yield.ts';

const PIECE_CHARS = 64 * 1024;
/** A value of up to about this many characters is serialized in one chunk. */
const WHOLE_CHARS = 16 * 1024;
/** Estimated characters of a member in addition to its text: its key, quotes and commas, or a number. */
const MEMBER_CHARS = 12;

/** Returns about how many of `room` characters remain after a value; negative if it does not fit. */
function roomBehind(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length;
  if (typeof value !== 'object' || value === null) return room;
  let left = room;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    left = roomBehind(member, left - MEMBER_CHARS);
    if (left < 0) return left;
  }
  return left;
}

function* longText(text: string): Generator<string> {
  yield '"';
  for (let at = 0; at < text.length;) {
    let end = at + PIECE_CHARS;
    // Both halves of a pair together.
    if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end += 1;
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
  yield '"';
}

function* members(value: unknown): Generator<string> {
  if (typeof value === 'string' && value.length > PIECE_CHARS) {
    yield* longText(value);
    return;
  }
  if (typeof value !== 'object' || value === null || roomBehind(value, WHOLE_CHARS) >= 0) {
    yield JSON.stringify(value);
    return;
  }
  if (Array.isArray(value)) {
    yield '[';
    for (const [index, item] of value.entries()) {
      if (index > 0) yield ',';
      yield* members(item ?? null);
    }
    yield ']';
    return;
  }
  let separator = '{';
  for (const key of Object.keys(value)) {
    const member: unknown = Reflect.get(value, key);
    if (member === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    yield* members(member);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

function* joined(value: unknown): Generator<string> {
  let piece = '';
  for (const part of members(value)) {
    piece += part;
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** The text of a plain value (no `toJSON`), or a stream of it where it is long. */
export function jsonBody(value: unknown): string | Readable {
  const pieces = joined(value);
  const first = pieces.next();
  if (first.done || first.value.length < PIECE_CHARS) return first.value ?? '';
  async function* rest() {
    yield first.value ?? '';
    for (const piece of pieces) {
      await yieldToLoop();
      yield piece;
    }
  }
  return Readable.from(rest(), { objectMode: false });
}
