/** Truncates text to limits of the model's context without splitting characters. */

export const OUTPUT_MAX_CHARS = 50_000;
export const OUTPUT_MAX_LINE_CHARS = 2000;
export const TRUNCATION_MARKER = '[...truncated]';

export interface OutputBuilder {
  /** Appends text; it may end in the middle of a line. */
  write(text: string): void;
  /** True if text was omitted. */
  readonly truncated: boolean;
  /** The text so far, followed by the closing lines, each on a separate line. */
  finish(closing?: readonly string[]): { output: string; truncated: boolean };
}

/** Truncates to a length in UTF-16 units without splitting a surrogate pair. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxChars - 1 : maxChars);
}

/** The longest prefix of at most `maxBytes` bytes of UTF-8 that ends with a complete character. */
export function cutBytes(text: string, maxBytes: number): string {
  // One UTF-16 unit needs at most three bytes of UTF-8.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/**
 * Creates a builder of at most `OUTPUT_MAX_CHARS`, marker included; long lines are truncated to `maxLineChars`, marker
 * included (`Infinity`: no limit). Memory use is bounded for any input.
 */
export function createOutputBuilder(maxLineChars = OUTPUT_MAX_LINE_CHARS): OutputBuilder {
  let body = '';
  let line = '';
  let truncated = false;

  const shown = (text: string) =>
    text.length > maxLineChars ? cutText(text, maxLineChars - TRUNCATION_MARKER.length) + TRUNCATION_MARKER : text;

  function append(text: string): void {
    if (truncated) return;
    body += text;
    if (body.length <= OUTPUT_MAX_CHARS) return;
    truncated = true;
    body = cutText(body, OUTPUT_MAX_CHARS - TRUNCATION_MARKER.length) + TRUNCATION_MARKER;
  }

  /** Stores one character more than the limit, which is enough to detect a long line. */
  function extendLine(text: string): void {
    const room = Math.min(maxLineChars, OUTPUT_MAX_CHARS) + 1 - line.length;
    if (room > 0) line += text.slice(0, room);
  }

  return {
    get truncated() {
      return truncated;
    },
    write(text) {
      if (truncated) return;
      let start = 0;
      for (let end = text.indexOf('\n'); end !== -1 && !truncated; end = text.indexOf('\n', start)) {
        extendLine(text.slice(start, end));
        append(`${shown(line)}\n`);
        line = '';
        start = end + 1;
      }
      if (!truncated) extendLine(text.slice(start));
    },
    finish(closing = []) {
      if (line) append(shown(line));
      line = '';
      const lines = truncated ? [`Output was cut to ${OUTPUT_MAX_CHARS} characters.`, ...closing] : closing;
      const gap = body && lines.length > 0 && !body.endsWith('\n') ? '\n' : '';
      return { output: body + gap + lines.join('\n'), truncated };
    },
  };
}

/**
 * The tail as text of at most `maxBytes` bytes of UTF-8; characters that are incomplete at either end are omitted.
 * Invalid UTF-8 is decoded to replacement characters, whose bytes are counted.
 */
export function tailText(bytes: Buffer, maxBytes: number): string {
  const tail = bytes.subarray(Math.max(0, bytes.length - maxBytes));
  const cut = bytes.length > maxBytes ? startOfCharacter(tail, 0) : 0;
  const text = tail.subarray(cut, endOfCharacters(tail)).toString('utf8');
  if (Buffer.byteLength(text) <= maxBytes) return text;
  return tailText(Buffer.from(text), maxBytes);
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** At most three continuation bytes belong to a character that starts before `from`. */
function startOfCharacter(bytes: Buffer, from: number): number {
  let at = from;
  while (at < from + 3 && isContinuation(bytes[at])) at += 1;
  return at;
}

/** Offset after the last complete character. */
function endOfCharacters(bytes: Buffer): number {
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && isContinuation(bytes[lead])) lead -= 1;
  const byte = bytes[lead] ?? 0;
  const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
  return lead >= 0 && lead + length > bytes.length ? lead : bytes.length;
}
