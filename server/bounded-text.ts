/** Text with an upper limit: what the model is told must fit, and no character is cut in half. */

export const OUTPUT_MAX_CHARS = 50_000;
export const OUTPUT_MAX_LINE_CHARS = 2000;
export const TRUNCATION_MARKER = '[...truncated]';

export interface OutputBuilder {
  /** Adds text; may end in the middle of a line. */
  write(text: string): void;
  /** Something was left out. */
  readonly truncated: boolean;
  /** The text so far with the closing lines behind it, each on a line of its own. */
  finish(closing?: readonly string[]): { output: string; truncated: boolean };
}

/** Cuts at a UTF-16 length without leaving half a surrogate pair. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxChars - 1 : maxChars);
}

/** The longest beginning of the text that has at most so many bytes of UTF-8, without a part of a character. */
export function cutBytes(text: string, maxBytes: number): string {
  // No character takes more than three bytes a unit.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/**
 * Keeps at most `OUTPUT_MAX_CHARS`, marker included; over-long lines are cut to `maxLineChars`, marker included
 * (`Infinity` switches that off). Memory stays bounded whatever is written.
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

  /** One character over the limit is enough to know that the line is too long. */
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
 * The last bytes as whole characters, at most `maxBytes` of UTF-8; a character that is cut at either end is left out. What
 * is no UTF-8 reads as replacement characters, which count.
 */
export function tailText(bytes: Buffer, maxBytes: number): string {
  const tail = bytes.subarray(Math.max(0, bytes.length - maxBytes));
  const cut = bytes.length > maxBytes ? startOfCharacter(tail, 0) : 0;
  const text = tail.subarray(cut, endOfCharacters(tail)).toString('utf8');
  if (Buffer.byteLength(text) <= maxBytes) return text;
  return tailText(Buffer.from(text), maxBytes);
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** At most three bytes belong to a character that began before. */
function startOfCharacter(bytes: Buffer, from: number): number {
  let at = from;
  while (at < from + 3 && isContinuation(bytes[at])) at += 1;
  return at;
}

/** Behind the last character that is whole. */
function endOfCharacters(bytes: Buffer): number {
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && isContinuation(bytes[lead])) lead -= 1;
  const byte = bytes[lead] ?? 0;
  const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
  return lead >= 0 && lead + length > bytes.length ? lead : bytes.length;
}
