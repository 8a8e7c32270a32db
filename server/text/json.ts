/**
 * Parsing of JSON from outside: models, clients, hooks, MCP servers, providers. Code that traverses or serializes a
 * parsed value recurses and overflows the stack at some thousand levels, so texts that nest deeper than a fixed limit
 * are rejected before they are parsed. This file imports no `zod`:
 * programs of threads use it, too.
 */

/** Maximum nesting of arrays and objects in a text from outside. */
export const MAX_JSON_LEVELS = 200;

/** Thrown for a text that nests arrays and objects deeper than `MAX_JSON_LEVELS`. */
export class JsonTooDeep extends Error {
  override readonly name = 'JsonTooDeep';
  constructor() {
    super(`JSON is nested deeper than ${MAX_JSON_LEVELS} levels`);
  }
}

/** Replacement for a value that is nested too deeply. */
const CLIPPED = '"…"';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACKET = 0x5d;
const CLOSING_BRACE = 0x7d;

/** Index of the quote that closes the string opened at `start`; the text's length for an unclosed one. */
function closingQuote(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    // The quote is not escaped if the number of backslashes before it is even.
    if ((at - before) % 2 === 1) return at;
  }
  return text.length;
}

/**
 * True if a JSON text nests deeper than `MAX_JSON_LEVELS`. Calls `onTooDeep` with the range of each value below the
 * last allowed level; without it the search stops at the first one.
 */
function nestsTooDeeply(text: string, onTooDeep?: (start: number, end: number) => void): boolean {
  // Each level needs an opening and a closing character, so shorter texts cannot exceed the limit.
  if (text.length <= 2 * MAX_JSON_LEVELS) return false;
  let found = false;
  let level = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = closingQuote(text, at);
        break;
      case OPENING_BRACKET:
      case OPENING_BRACE:
        level += 1;
        if (level !== MAX_JSON_LEVELS + 1) break;
        if (!onTooDeep) return true;
        found = true;
        start = at;
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        level -= 1;
        if (level === MAX_JSON_LEVELS) onTooDeep?.(start, at + 1);
    }
  }
  if (level > MAX_JSON_LEVELS) onTooDeep?.(start, text.length);
  return found;
}

/** Parses a JSON text. Throws `JsonTooDeep` before parsing, and `SyntaxError`. */
export function parseJson(text: string): unknown {
  if (nestsTooDeeply(text)) throw new JsonTooDeep();
  return JSON.parse(text);
}

/** Like `parseJson`; undefined for a text that is not JSON or is nested too deeply. */
export function tryParseJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Replaces each value of the JSON text that is nested too deeply with `"…"`. */
export function clipJson(text: string): string {
  const parts: string[] = [];
  let from = 0;
  const clipped = nestsTooDeeply(text, (start, end) => {
    parts.push(text.slice(from, start), CLIPPED);
    from = end;
  });
  return clipped ? parts.join('') + text.slice(from) : text;
}

/**
 * Serializes a value that was parsed from another program's JSON. Replaces each value below the first forbidden level
 * with `"…"`; that level is retained, so that `parseJson` still rejects a text that was nested too deeply.
 */
export function stringifyJson(value: object): string {
  const levels = new WeakMap<object, number>();
  return JSON.stringify(value, function (this: object, _name, member: unknown) {
    if (typeof member !== 'object' || member === null) return member;
    const level = (levels.get(this) ?? 0) + 1;
    if (level > MAX_JSON_LEVELS + 1) return '…';
    levels.set(member, level);
    return member;
  });
}

/** True for objects; false for arrays and null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is an object, for member access with `?.`. */
export const asRecord = (value: unknown): Record<string, unknown> | undefined => (isRecord(value) ? value : undefined);
