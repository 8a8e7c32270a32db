/**
 * Long strings of records as folds see them: a reference to the file instead of the string. Code that displays or sends
 * a text reads it first (`BlobStore.load`), so long texts do not enlarge a fold, and folding never waits for a file.
 */

/** UTF-8 bytes; longer strings are stored in files of their own. */
export const LONG_TEXT_BYTES = 16_384;
/** A UTF-16 unit needs at most three bytes, so shorter strings need no counting. */
export const SURELY_SHORT_UNITS = Math.floor(LONG_TEXT_BYTES / 3);

/** A reference to a long string that is stored in a file. */
export class BlobText {
  /** SHA-256 of its bytes, in hex. */
  readonly blob: string;
  /** The text's length in UTF-8. */
  readonly bytes: number;
  /** The string of a text that was just stored, for the frame of its record. */
  readonly #held: string | undefined;

  constructor(blob: string, bytes: number, held?: string) {
    this.blob = blob;
    this.bytes = bytes;
    this.#held = held;
  }

  static held(text: BlobText): string | undefined {
    return text.#held;
  }
}

export type Text = string | BlobText;

/** Members that may be a long text, at any depth of a record. */
const textMembers = [
  'text',
  'think',
  'encrypted',
  'url',
  'arguments',
  'output',
  'note',
  'prompt',
  // Sections of a system prompt.
  'skills',
  'plugins',
] as const;
/** Members that may contain long texts at any depth. */
const looseMembers = ['args', 'display', 'toolInput', 'tool_input_display'] as const;

type TextMember = (typeof textMembers)[number];
type LooseMember = (typeof looseMembers)[number];

const textMember: ReadonlySet<string> = new Set(textMembers);
const looseMember: ReadonlySet<string> = new Set(looseMembers);

/** Whether a member's string may be a `BlobText`; the same rule as `Stored` states for types. */
export const mayBeText = (key: string, loose: boolean): boolean => loose || textMember.has(key);
/** Whether all strings below a member may be. */
export const isLoose = (key: string, loose: boolean): boolean => loose || looseMember.has(key);

/** The type of a value in records. */
export type Stored<T> = unknown extends T
  ? T
  : T extends BlobText
    ? T
    : T extends object
      ? { [K in keyof T]: StoredMember<K, T[K]> }
      : T;

type StoredMember<K, V> = K extends LooseMember
  ? Loose<V>
  : K extends TextMember
    ? StoredText<V>
    : string extends K
      ? StoredText<V>
      : Stored<V>;

/** The type of a member that may be a long text; `Stored` leaves a plain string unchanged. */
export type StoredText<V> = unknown extends V ? V : V extends string ? (string extends V ? Text : V) : Stored<V>;

type Loose<V> = unknown extends V
  ? V
  : V extends string
    ? string extends V
      ? Text
      : V
    : V extends BlobText
      ? V
      : V extends object
        ? { [K in keyof V]: Loose<V[K]> }
        : V;

/** The type with all texts read. */
export type Whole<T> = unknown extends T
  ? T
  : T extends BlobText
    ? never
    : T extends object
      ? { [K in keyof T]: Whole<T[K]> }
      : T;

/** Collects all texts below a value. */
export function blobTexts(value: unknown, found: BlobText[] = []): BlobText[] {
  if (value instanceof BlobText) found.push(value);
  else if (Array.isArray(value)) for (const item of value) blobTexts(item, found);
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) blobTexts(item, found);
  return found;
}

/** Replaces the texts of a value by strings, unless `any` is false; objects without texts are not copied. */
export function withTexts<T>(value: T, read: (text: BlobText) => string, any = true): Whole<T> {
  // `replaced` changes only the texts, as the type states.
  return (any ? replaced(value, read) : value) as Whole<T>;
}

function replaced(value: unknown, read: (text: BlobText) => string): unknown {
  if (value instanceof BlobText) return read(value);
  if (Array.isArray(value)) {
    const copy = value.map((item) => replaced(item, read));
    return copy.some((item, place) => item !== value[place]) ? copy : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const before = Object.entries(value);
  const after = before.map(([key, member]): [string, unknown] => [key, replaced(member, read)]);
  return after.some(([, member], place) => member !== before[place]?.[1]) ? Object.fromEntries(after) : value;
}
