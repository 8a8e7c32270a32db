/** Classifies the bytes of a response: text to return verbatim, a page, or neither; and detects their encoding. */
import { isUtf8 } from 'node:buffer';
import { OUTPUT_MAX_CHARS } from '#server/text/truncate.ts';
import { WebFailure } from './failure.ts';

const MARKUP = new Set(['text/html', 'application/xhtml+xml', 'text/xml', 'application/xml']);
/** Text types in addition to `text/*`. */
const TEXT =
  /^application\/(?:json|ld\+json|x-ndjson|yaml|x-yaml|toml|javascript|x-javascript|ecmascript|graphql|sql|x-sh)$|\+json$/;
const MARKUP_SUFFIX = /\+xml$/;
/** A page must declare its encoding within these bytes. */
const HEAD_BYTES = 1024;
/** Upper limit over all encodings. */
const BYTES_A_CHARACTER = 8;

export type BodyKind = 'verbatim' | 'page';

/** By type only, before anything is read; undefined without one. Throws `WebFailure` for types that are not text. */
export function kindOfType(contentType: string | null): BodyKind | undefined {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (!type) return undefined;
  if (MARKUP.has(type) || (MARKUP_SUFFIX.test(type) && !type.startsWith('image/'))) return 'page';
  if (type.startsWith('text/') || TEXT.test(type)) return 'verbatim';
  throw new WebFailure(`is of the type ${type}, which is no text`);
}

/** Guesses from the bytes, for a response without a type. */
export const kindOfBytes = (bytes: Uint8Array): BodyKind =>
  /^\s*</.test(latin1(bytes.subarray(0, HEAD_BYTES)).replace(/^\u00ef\u00bb\u00bf/, '')) ? 'page' : 'verbatim';

/** Label for `TextDecoder`: from the byte order mark, the type, the page's head, or the validity of the bytes. */
export function encodingOf(bytes: Uint8Array, contentType: string | null): string {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  const named = /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType ?? '')?.[1];
  const known = named === undefined ? undefined : knownEncoding(named);
  return known ?? encodingOfHead(bytes) ?? (isUtf8(bytes) ? 'utf-8' : 'windows-1252');
}

function encodingOfHead(bytes: Uint8Array): string | undefined {
  const head = latin1(bytes.subarray(0, HEAD_BYTES));
  const named = /<meta\s[^>]*charset\s*=\s*["']?([\w.:-]+)|^<\?xml\s[^>]*encoding\s*=\s*["']([\w.:-]+)/i.exec(head);
  const known = knownEncoding(named?.[1] ?? named?.[2] ?? '');
  // The head could be read as single bytes, so it cannot be UTF-16.
  return known?.startsWith('utf-16') ? 'utf-8' : known;
}

function knownEncoding(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

/** Throws `WebFailure` for binary content, regardless of its type. */
export function refuseBinary(bytes: Uint8Array, encoding: string): void {
  if (!encoding.startsWith('utf-16') && bytes.includes(0))
    throw new WebFailure('is binary, though it says that it is text');
}

/** The beginning of a text, one character more than the output limit. */
export function decodeBeginning(bytes: Uint8Array, encoding: string): string {
  const part = bytes.subarray(0, (OUTPUT_MAX_CHARS + 1) * BYTES_A_CHARACTER);
  return new TextDecoder(encoding).decode(part, { stream: true }).slice(0, OUTPUT_MAX_CHARS + 1);
}
