/** Parses range requests and conditional requests of files. Pure. */

/** Both ends inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

const SINGLE = /^bytes=(\d*)-(\d*)$/;

/**
 * The one range that a `Range` header names in a file of `size` bytes, its end capped. Undefined where the whole file
 * is the answer: no header, several ranges, a malformed or reversed one, one that lies past the end, an empty file.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | undefined {
  const [, first = '', last = ''] = SINGLE.exec(header?.trim() ?? '') ?? [];
  if (first === '') {
    // The last bytes; none without a number.
    const length = Math.min(Number(last), size);
    return length === 0 ? undefined : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start > end ? undefined : { start, end };
}

const unquoted = (tag: string) => /^"(.*)"$/.exec(tag)?.[1] ?? tag;

/** Whether `If-None-Match` names the tag, which stands without quotes: quoted or bare, weak, in a list, or `*`. */
export function namesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header
    .split(',')
    .map((entry) => entry.trim())
    .some((entry) => entry === '*' || unquoted(entry.replace(/^W\//, '')) === etag);
}

/** Whether `If-Range` lets a range stand. A weak tag and a date never do. */
export function allowsRange(header: string | undefined, etag: string): boolean {
  return header === undefined || unquoted(header.trim()) === etag;
}
