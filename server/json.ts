/**
 * JSON from outside: models, clients, hooks, MCP servers, providers. Code that walks or writes a parsed value recurses, and
 * overflows the stack at some thousand levels, so texts that nest deeper than a fixed limit are refused before they are
 * parsed.
 */
import { z } from 'zod';

/** Arrays and objects of a text from outside may nest this deep. */
export const MAX_JSON_LEVELS = 200;

/** The text nests arrays and objects deeper than `MAX_JSON_LEVELS`. */
export class JsonTooDeep extends Error {
  override readonly name = 'JsonTooDeep';
  constructor() {
    super(`JSON is nested deeper than ${MAX_JSON_LEVELS} levels`);
  }
}

/** What replaces a value that is nested too deeply. */
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
    // An even number of backslashes escape each other.
    if ((at - before) % 2 === 1) return at;
  }
  return text.length;
}

/**
 * Whether a JSON text nests deeper than `MAX_JSON_LEVELS`. Calls `onTooDeep` with the range of each value below the last
 * level that is allowed; without it, the search ends at the first one.
 */
function nestsTooDeeply(text: string, onTooDeep?: (start: number, end: number) => void): boolean {
  // Each level takes an opening and a closing character.
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

/** The value of a JSON text. Throws `JsonTooDeep` before parsing, and `SyntaxError`. */
export function parseJson(text: string): unknown {
  if (nestsTooDeeply(text)) throw new JsonTooDeep();
  return JSON.parse(text);
}

/** As `parseJson`; undefined for a text that is no JSON or is nested too deeply. */
export function tryParseJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The JSON text in which `"…"` replaces each value that is nested too deeply. */
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
 * The JSON text of a value that another program's JSON was parsed into. Below the first level that is not allowed `"…"`
 * replaces each value, so that the text of a value that is nested too deeply stays one that `parseJson` refuses.
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

/** JSON of another program as text, parsed; to be piped into the schema of its value. */
export const jsonText = z.string().transform((text, context): unknown => {
  const value = tryParseJson(text);
  if (value !== undefined) return value;
  context.addIssue('no JSON');
  return z.NEVER;
});

/** Whether the value is an object: no array, not null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value when it is an object, so that a member can be asked for with `?.`. */
export const asRecord = (value: unknown): Record<string, unknown> | undefined => (isRecord(value) ? value : undefined);
