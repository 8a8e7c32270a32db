/** The end of an output as text. */

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
