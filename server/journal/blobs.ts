/** Blob store: long strings of records are stored in files of their own, `blobs/<sha256>` in the session's folder. */
import { createHash, webcrypto } from 'node:crypto';
import { toUSVString } from 'node:util';
import { memoizeByPrefix } from '#server/memo/by-prefix.ts';
import { journalFiles, type JournalFiles } from './journal-files.ts';
import { textCache } from './text-cache.ts';
import {
  BlobText,
  blobTexts,
  isLoose,
  LONG_TEXT_BYTES,
  mayBeText,
  SURELY_SHORT_UNITS,
  withTexts,
  type StoredText,
  type Whole,
} from './texts.ts';

/** Bytes of the longest text that `encode` stores itself: hashing and writing block the event loop. */
export const UNSTORED_TEXT_BYTES = 256 * 1024;
const PARALLEL_READS = 16;

/** Memoized by message: every request loads the whole history, and messages are immutable. */
const textsOfEach = memoizeByPrefix((item: object) => blobTexts(item));

const isObject = (item: unknown): item is object => typeof item === 'object' && item !== null;

function textsIn(value: unknown): BlobText[] {
  return Array.isArray(value) && value.every(isObject) ? textsOfEach(value).flat() : blobTexts(value);
}

const reservedKey = /^\$+blob$/;

export interface BlobStore {
  /** Whether values of this store may contain a `BlobText`. */
  readonly holdsTexts: boolean;
  /**
   * Returns the value with its long texts hashed and written, without blocking; they retain their strings. Drafts are
   * created from the result with no await in between. Throws errors of the file system.
   */
  store<T>(value: T): Promise<StoredText<T>>;
  /** Writes a text of any length to a file of its own. Throws errors of the file system. */
  keep(text: string): Promise<Pick<BlobText, 'blob' | 'bytes'>>;
  /**
   * Returns JSON text with long strings moved to complete files; their texts stay in memory until `forget`. Throws
   * errors of the file system.
   */
  encode(value: unknown): string;
  /** Parses a JSON text that was just encoded. */
  decodeEncoded(text: string): unknown;
  /** Parses a JSON text of the journal's file. */
  decode(text: string): Promise<unknown>;
  /** Parses without reading any blob: long strings are `BlobText` in any member. */
  outline(text: string): unknown;
  /** Replaces texts by their strings; only texts encoded since the last `forget`. */
  encoded<T>(value: T): Whole<T>;
  /**
   * Replaces this store's texts by their strings, read from their files. A text whose file is missing or corrupt is
   * replaced by a placeholder.
   */
  load<T>(value: T): Promise<Whole<T>>;
  forget(): void;
  /** Called after the session's folder was renamed. */
  moved(to: string): void;
  /** Flushes the blobs written so far to the disk (fsync). */
  sync(): Promise<void>;
}

/** A reference in a decoded value that cannot be replaced without its size or its text. */
interface OpenReference {
  holder: object;
  key: string;
  hash: string;
  /** Absent in references of old journals. */
  bytes: number | undefined;
  /** Folds read this member as a string, so the text itself is needed. */
  whole: boolean;
}

/**
 * `from` is the session folder; `blobs/` is created at the first write. `holdsTexts`: values that this store did not
 * decode may contain its texts.
 */
export function createBlobStore(from: string, files: JournalFiles = journalFiles, holdsTexts = false): BlobStore {
  let dir = from;
  const known = new Set<string>();
  let unsynced: string[] = [];
  /** Texts encoded since the last `forget`, by hash. */
  const texts = new Map<string, string>();
  /** Whether a long text has occurred. Most sessions have none, so their values need no traversal. */
  let met = holdsTexts;

  function noteWritten(hash: string): void {
    known.add(hash);
    unsynced.push(hash);
  }

  function putSync(text: string): BlobText {
    const bytes = Buffer.from(text, 'utf8');
    const hash = createHash('sha256').update(bytes).digest('hex');
    texts.set(hash, text);
    const blob = new BlobText(hash, bytes.length);
    met = true;
    if (known.has(hash)) return blob;
    // A file of another size was truncated by a crash.
    if (files.blobSizeSync(dir, hash) === bytes.length) {
      known.add(hash);
      return blob;
    }
    files.writeBlobSync(dir, hash, bytes);
    noteWritten(hash);
    return blob;
  }

  async function put(text: string): Promise<BlobText> {
    const bytes = Buffer.from(text, 'utf8');
    const hash = await sha256(bytes);
    const blob = new BlobText(hash, bytes.length, text);
    met = true;
    if (known.has(hash)) return blob;
    if ((await files.blobSize(dir, hash)) === bytes.length) {
      known.add(hash);
      return blob;
    }
    await files.writeBlob(dir, hash, bytes);
    noteWritten(hash);
    return blob;
  }

  async function stored(value: unknown, asText: boolean, loose: boolean): Promise<unknown> {
    if (typeof value === 'string') return asText && isLong(value) ? put(value) : value;
    if (typeof value !== 'object' || value === null || value instanceof BlobText) return value;
    const list = Array.isArray(value);
    const copy: object = list ? [] : {};
    // Sequential: texts are few, and each is in memory twice while it is written.
    for (const [key, member] of Object.entries(value)) {
      const below = await stored(member, list ? loose : mayBeText(key, loose), isLoose(key, loose));
      define(copy, key, below);
    }
    return copy;
  }

  function extract(value: unknown): unknown {
    if (typeof value === 'string') return isLong(value) ? reference(putSync(value)) : value;
    if (value instanceof BlobText) return reference(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(extract);
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [reservedKey.test(key) ? `$${key}` : key, extract(member)]),
    );
  }

  function reference(text: BlobText) {
    const held = BlobText.held(text);
    if (held !== undefined) texts.set(text.blob, held);
    return { $blob: text.blob, bytes: text.bytes };
  }

  /** Replaces references whose value needs no file, and collects the others. */
  function restore(parsed: unknown): { value: unknown; open: OpenReference[] } {
    const open: OpenReference[] = [];

    function members(holder: object, loose: boolean): object {
      const list = Array.isArray(holder);
      for (const [key, member] of Object.entries(holder)) {
        if (typeof member !== 'object' || member === null) continue;
        const found = referenceOf(member);
        if (!found) define(holder, key, unescaped(member, isLoose(key, loose)));
        else {
          const whole = !(list ? loose : mayBeText(key, loose));
          const { hash, bytes } = found;
          if (whole || bytes === undefined) open.push({ holder, key, hash, bytes, whole });
          if (bytes !== undefined) define(holder, key, new BlobText(hash, bytes));
        }
      }
      return holder;
    }

    function unescaped(value: object, loose: boolean): object {
      if (Array.isArray(value) || !Object.keys(value).some((key) => reservedKey.test(key)))
        return members(value, loose);
      return members(
        Object.fromEntries(
          Object.entries(value).map(([key, member]) => [reservedKey.test(key) ? key.slice(1) : key, member]),
        ),
        loose,
      );
    }

    const holder = { root: parsed };
    members(holder, false);
    return { value: holder.root, open };
  }

  function parse(text: string): { value: unknown; open: OpenReference[] } {
    const value: unknown = JSON.parse(text);
    if (!mayRefer(text)) return { value, open: [] };
    met = true;
    return restore(value);
  }

  async function read({ blob: hash }: BlobText): Promise<string> {
    const held = texts.get(hash) ?? textCache.get(hash);
    if (held !== undefined) return held;
    const bytes = await files.readBlob(dir, hash);
    if (!bytes || (await sha256(bytes)) !== hash) return lostText(hash);
    const text = bytes.toString('utf8');
    textCache.put(hash, text);
    return text;
  }

  async function load<T>(value: T): Promise<Whole<T>> {
    // Without any text the value is `Whole` already.
    if (!met) return value as Whole<T>;
    const wanted = [...new Map(textsIn(value).map((text) => [text.blob, text])).values()];
    const found = new Map<string, string>();
    for (let start = 0; start < wanted.length; start += PARALLEL_READS) {
      await Promise.all(
        wanted.slice(start, start + PARALLEL_READS).map(async (text) => {
          found.set(text.blob, BlobText.held(text) ?? (await read(text)));
        }),
      );
    }
    return withTexts(value, (text) => found.get(text.blob) ?? lostText(text.blob), wanted.length > 0);
  }

  function encodedText({ blob }: BlobText): string {
    const text = texts.get(blob);
    if (text === undefined) throw new Error(`the text ${blob} is not at hand`);
    return text;
  }

  return {
    get holdsTexts() {
      return met;
    },
    async store<T>(value: T) {
      const held = holdsLong(value) ? await stored(value, true, false) : value;
      // `stored` replaces only long texts, as the type states.
      return held as StoredText<T>;
    },
    keep: put,
    encode(value) {
      const text = JSON.stringify(value);
      if (text.length <= SURELY_SHORT_UNITS && !mayRefer(text)) return text;
      return JSON.stringify(extract(value));
    },
    decodeEncoded(text) {
      const { value, open } = parse(text);
      for (const { holder, key, hash, bytes = 0 } of open) define(holder, key, encodedText(new BlobText(hash, bytes)));
      return value;
    },
    async decode(text) {
      const { value, open } = parse(text);
      for (const { holder, key, hash, bytes, whole } of open) {
        const known = new BlobText(hash, bytes ?? (await sizeOf(hash)));
        define(holder, key, whole ? await read(known) : known);
      }
      return value;
    },
    outline(text) {
      const { value, open } = parse(text);
      for (const { holder, key, hash, bytes = 0 } of open) define(holder, key, new BlobText(hash, bytes));
      return value;
    },
    encoded: (value) => withTexts(value, encodedText, texts.size > 0),
    load,
    forget: () => texts.clear(),
    moved(to) {
      dir = to;
    },
    async sync() {
      const hashes = unsynced;
      unsynced = [];
      if (hashes.length > 0) await files.syncBlobs(dir, hashes);
    },
  };

  async function sizeOf(hash: string): Promise<number> {
    return (await files.blobSize(dir, hash)) ?? lostText(hash).length;
  }
}

/** Whether a JSON text may contain a reference to a blob, or a key that looks like one. */
export const mayRefer = (json: string): boolean => json.includes('blob"');

/** Whether a string is stored in a file. UTF-8 cannot encode lone surrogates, so such a text stays in its line. */
export function isLong(text: string): boolean {
  return text.length > SURELY_SHORT_UNITS && Buffer.byteLength(text) > LONG_TEXT_BYTES && toUSVString(text) === text;
}

/**
 * Throws a plain error when a value cannot be written without blocking for long (a text that should have been stored
 * first) or sent without reading a file (one that should have been loaded first). Names and ids of any length pass:
 * they originate outside, so their length is no error of this program.
 */
export function assertAtHand(value: unknown, sent: boolean, asText = false, loose = false): void {
  if (typeof value === 'string') {
    if (!asText || value.length <= UNSTORED_TEXT_BYTES / 3 || Buffer.byteLength(value) <= UNSTORED_TEXT_BYTES) return;
    if (isLong(value)) throw new Error(`a text of ${Buffer.byteLength(value)} bytes was not stored before its append`);
  } else if (value instanceof BlobText) {
    if (sent && BlobText.held(value) === undefined)
      throw new Error(`the text ${value.blob} was not read before its append`);
  } else if (Array.isArray(value)) {
    for (const member of value) assertAtHand(member, sent, loose, loose);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      // Most members are numbers and short words, which need no check.
      if (typeof member !== 'object' && (typeof member !== 'string' || member.length <= UNSTORED_TEXT_BYTES / 3))
        continue;
      assertAtHand(member, sent, mayBeText(key, loose), isLoose(key, loose));
    }
  }
}

function holdsLong(value: unknown): boolean {
  if (typeof value === 'string') return isLong(value);
  if (typeof value !== 'object' || value === null || value instanceof BlobText) return false;
  return Object.values(value).some(holdsLong);
}

/** Keys of values are escaped, so an object with an unescaped `$blob` can only be a reference. */
function referenceOf(value: object): { hash: string; bytes: number | undefined } | undefined {
  const hash = '$blob' in value ? value.$blob : undefined;
  if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash)) return undefined;
  const bytes = 'bytes' in value && typeof value.bytes === 'number' ? value.bytes : undefined;
  return { hash, bytes };
}

function define(holder: object, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

const sha256 = async (bytes: Buffer) => Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex');

const lostText = (hash: string) => `[content lost: ${hash}]`;
