/** Detects text files and their encoding, and converts their text to UTF-8. */
import { yieldToLoop } from '#server/async/yield.ts';

/** Number of bytes that distinguish text from binary. */
export const SAMPLE_BYTES = 4096;
/** Number of bytes from which a legacy encoding is guessed. */
export const LEGACY_SAMPLE_BYTES = 65_536;
const ZERO_BYTES = 512;
const MAX_CONTROL_SHARE = 0.3;
const MIN_CONFIDENCE = 60;

const LEGACY = ['gb18030', 'shift_jis', 'euc-jp', 'big5', 'euc-kr'] as const;
const WESTERN = 'windows-1252';

export type FileEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | (typeof LEGACY)[number] | typeof WESTERN;

const isControl = (code: number) => (code < 0x20 && code !== 9 && code !== 10 && code !== 13) || code === 0x7f;

/** Detects UTF-16 by the positions of zero bytes in a head without a byte order mark; undefined if it has none. */
function byZeros(head: Uint8Array): FileEncoding | 'binary' | undefined {
  let even = 0;
  let odd = 0;
  for (let at = 0; at < Math.min(head.length, ZERO_BYTES); at++) {
    if (head[at] !== 0) continue;
    if (at % 2 === 0) even++;
    else odd++;
  }
  if (even + odd === 0) return undefined;
  if (even + odd < 2) return 'binary';
  if (even === 0) return 'utf-16le';
  return odd === 0 ? 'utf-16be' : 'binary';
}

/** Decodes a sample whose last character may be incomplete; undefined if it is not UTF-8. */
function utf8Sample(sample: Uint8Array, whole: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: !whole });
  } catch {
    return undefined;
  }
}

function controlShare(sample: Uint8Array, text: string | undefined): number {
  let controls = 0;
  let total = 0;
  if (text === undefined) {
    for (const byte of sample) if (isControl(byte)) controls++;
    total = sample.length;
  } else {
    for (const char of text) {
      const code = char.codePointAt(0) ?? 0;
      if (isControl(code) || (code >= 0x80 && code <= 0x9f)) controls++;
      total++;
    }
  }
  return total === 0 ? 0 : controls / total;
}

/** True if the text has none of the bytes that windows-1252 does not assign, and no control characters. */
function isWestern(bytes: Uint8Array): boolean {
  const missing = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);
  return bytes.every((byte) => !(isControl(byte) && byte !== 0x0c) && !missing.has(byte));
}

/** Runs only these recognizers: all of the detector's would take 0.1 s for this sample. */
async function legacyEncoding(sample: Uint8Array): Promise<FileEncoding | 'binary'> {
  const { gb_18030, sjis, euc_jp, big5, euc_kr } = await import('chardet/lib/encoding/mbcs.js');
  // Statistics, which the type asks for, are read by other recognizers.
  const unread = { byteStats: [], c1Bytes: false, inputBytes: sample, inputLen: sample.length };
  const context = { ...unread, rawInput: sample, rawLen: sample.length };
  let best: { encoding: FileEncoding; confidence: number } | undefined;
  for (const Recogniser of [gb_18030, sjis, euc_jp, big5, euc_kr]) {
    const { name = '', confidence = 0 } = new Recogniser().match(context) ?? {};
    const encoding = LEGACY.find((known) => known === name.toLowerCase());
    if (encoding && confidence >= MIN_CONFIDENCE && confidence > (best?.confidence ?? 0))
      best = { encoding, confidence };
    await yieldToLoop();
  }
  return best?.encoding ?? (isWestern(sample) ? WESTERN : 'binary');
}

/** `head`: the first `LEGACY_SAMPLE_BYTES` of the file, or the whole file if it is shorter. */
export async function fileEncoding(head: Uint8Array): Promise<FileEncoding | 'binary'> {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  const sample = head.subarray(0, SAMPLE_BYTES);
  const byNulls = byZeros(sample);
  if (byNulls !== undefined) return byNulls;
  if (sample.includes(0)) return 'binary';
  const text = utf8Sample(sample, head.length <= SAMPLE_BYTES);
  if (controlShare(sample, text) > MAX_CONTROL_SHARE) return 'binary';
  return text === undefined ? legacyEncoding(head) : 'utf-8';
}

/**
 * Moves the offset `at` to the end of the character that it would split; returns `at` if it splits none. Windows with
 * both ends moved this way join without loss, for any bytes.
 */
export function characterEnd(bytes: Uint8Array, at: number): number {
  for (let back = 1; back <= 3 && back <= at; back++) {
    const byte = bytes[at - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    let end = at;
    while (end < at - back + length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end++;
    return end;
  }
  return at;
}

const DECODED_AT_ONCE = 262_144;

/** Decodes UTF-8 in chunks and keeps a byte order mark; invalid sequences become U+FFFD. Chunks have any length. */
export async function* decodeUtf8(bytes: Uint8Array): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for (let at = 0; at < bytes.length; at += DECODED_AT_ONCE) {
    if (at > 0) await yieldToLoop();
    yield decoder.decode(bytes.subarray(at, at + DECODED_AT_ONCE), { stream: true });
  }
  yield decoder.decode();
}

/** Converts bytes to UTF-8 without a byte order mark; invalid sequences become U+FFFD. */
export async function toUtf8(bytes: Uint8Array, encoding: Exclude<FileEncoding, 'utf-8'>): Promise<Buffer> {
  const decoder = new TextDecoder(encoding);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += DECODED_AT_ONCE) {
    pieces.push(Buffer.from(decoder.decode(bytes.subarray(at, at + DECODED_AT_ONCE), { stream: true })));
    await yieldToLoop();
  }
  pieces.push(Buffer.from(decoder.decode()));
  return Buffer.concat(pieces);
}
