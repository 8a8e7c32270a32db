/** Detects the encoding of a text file, decodes and encodes it. */

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be';

/** Size limit of UTF-16 files, which are decoded as a whole. */
export const UTF16_MAX_BYTES = 10 * 1024 * 1024;
export const SNIFF_BYTES = 8192;

const UTF16_MIN_NUL_SHARE = 0.4;

/** Thrown for a file that is not text. */
export class NotTextError extends Error {
  override readonly name = 'NotTextError';
}

/**
 * Encoding by byte order mark, or else by the positions of NUL bytes in the first `SNIFF_BYTES`: UTF-16 of mostly Latin
 * text has one in every second byte, UTF-8 has none. Other data is rejected when it is decoded.
 */
export function sniffEncoding(head: Uint8Array): TextEncoding {
  const [first, second, third, fourth] = head;
  if (first === 0xff && second === 0xfe && !(third === 0 && fourth === 0)) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const pairs = Math.floor(head.length / 2);
  if (pairs === 0) return 'utf-8';
  let even = 0;
  let odd = 0;
  for (let index = 0; index < pairs * 2; index += 2) {
    if (head[index] === 0) even++;
    if (head[index + 1] === 0) odd++;
  }
  if (even === 0 && odd / pairs >= UTF16_MIN_NUL_SHARE) return 'utf-16le';
  if (odd === 0 && even / pairs >= UTF16_MIN_NUL_SHARE) return 'utf-16be';
  return 'utf-8';
}

/** Strict decoder (throws TypeError) that keeps the byte order mark as U+FEFF, so that encoding is lossless. */
export const textDecoder = (encoding: TextEncoding) => new TextDecoder(encoding, { fatal: true, ignoreBOM: true });

/** Throws `NotTextError` for bytes that are not text of this encoding. */
export function decodeText(bytes: Uint8Array, encoding: TextEncoding): string {
  const text = decodeOrRefuse(() => textDecoder(encoding).decode(bytes));
  refuseBinary(text);
  return text;
}

/** Runs one decoding step; a malformed sequence becomes a `NotTextError`. */
export function decodeOrRefuse(decode: () => string): string {
  try {
    return decode();
  } catch (error) {
    throw new NotTextError('it is not valid UTF-8 or UTF-16 text', { cause: error });
  }
}

/** Text never contains NUL. */
export function refuseBinary(text: string): void {
  if (text.includes('\0')) throw new NotTextError('it is a binary file');
}

export function encodeText(text: string, encoding: TextEncoding): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8');
  const bytes = Buffer.from(text, 'utf16le');
  return encoding === 'utf-16be' ? bytes.swap16() : bytes;
}
