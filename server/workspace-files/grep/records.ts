/**
 * Splits the output of `rg --json` into records, in bounded memory: a record contains a whole line of a file, which may
 * be the whole file, and every match in it. In a long record strings are truncated and only the first match is kept,
 * byte by byte, so that the result is valid JSON.
 */

/** A shorter record is passed on unchanged. */
export const RECORD_MAX_BYTES = 1024 * 1024;
/**
 * Bytes kept of a string of a long record: more than 64 KiB of text in any JSON encoding, so that a later truncation at
 * 64 KiB detects that the text was longer. A multiple of four, to keep base64 valid.
 */
const STRING_MAX_BYTES = 6 * (64 * 1024 + 4);

const LF = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LETTER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const isContinuation = (byte: number) => (byte & 0xc0) === 0x80;

interface Shortener {
  write(bytes: Buffer): void;
  end(): Buffer;
}

function createShortener(): Shortener {
  const kept: Buffer[] = [];
  let inString = false;
  /** Remaining bytes of an escape sequence. */
  let escape = 0;
  let stringBytes = 0;
  let cutting = false;
  /** Whether in the list of matches, the only list of a record; `depth`: nesting of objects in it. */
  let inList = false;
  let depth = 0;
  /** Whether after the first match. */
  let skipping = false;

  /** Whether a byte inside a string, or its closing quote, is kept. */
  function ofString(byte: number): boolean {
    stringBytes++;
    if (escape > 0) {
      escape = byte === LETTER_U && escape === 1 ? 4 : escape - 1;
      return !cutting;
    }
    if (byte === QUOTE) {
      inString = false;
      return true;
    }
    if (stringBytes > STRING_MAX_BYTES && !isContinuation(byte)) cutting = true;
    if (byte === BACKSLASH) escape = 1;
    return !cutting;
  }

  function ofStructure(byte: number): void {
    if (byte === QUOTE) {
      inString = true;
      cutting = false;
      stringBytes = 0;
    } else if (byte === OPEN_BRACKET) inList = true;
    else if (byte === CLOSE_BRACKET) {
      inList = false;
      skipping = false;
    } else if (!inList) return;
    else if (byte === OPEN_BRACE) depth++;
    else if (byte === CLOSE_BRACE) depth--;
    else if (byte === COMMA && depth === 0) skipping = true;
  }

  function isKept(byte: number): boolean {
    if (inString) return ofString(byte) && !skipping;
    ofStructure(byte);
    return !skipping;
  }

  return {
    write(bytes) {
      let from = -1;
      for (let at = 0; at < bytes.length; at++) {
        const wanted = isKept(bytes[at] ?? 0);
        if (wanted && from === -1) from = at;
        else if (!wanted && from !== -1) {
          // A copy, because a view would retain the whole chunk.
          kept.push(Buffer.from(bytes.subarray(from, at)));
          from = -1;
        }
      }
      if (from !== -1) kept.push(Buffer.from(bytes.subarray(from)));
    },
    end: () => Buffer.concat(kept),
  };
}

export interface RecordReader {
  /** Accepts a chunk of output. */
  write(chunk: Buffer): void;
}

/** Creates a reader; `onRecord` receives each record without its line end. */
export function createRecordReader(onRecord: (record: Buffer) => void): RecordReader {
  let pieces: Buffer[] = [];
  let length = 0;
  let shortener: Shortener | undefined;

  function add(bytes: Buffer): void {
    if (shortener) {
      shortener.write(bytes);
      return;
    }
    pieces.push(bytes);
    length += bytes.length;
    if (length <= RECORD_MAX_BYTES) return;
    shortener = createShortener();
    for (const piece of pieces) shortener.write(piece);
    pieces = [];
  }

  function close(): void {
    const [only] = pieces;
    const record = shortener?.end() ?? (only && pieces.length === 1 ? only : Buffer.concat(pieces, length));
    pieces = [];
    length = 0;
    shortener = undefined;
    if (record.length > 0) onRecord(record);
  }

  return {
    write(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
        add(chunk.subarray(start, end));
        close();
        start = end + 1;
      }
      if (start < chunk.length) add(chunk.subarray(start));
    },
  };
}
