/** How long what has no text of its own may be, as JSON. */

/** Of a marker's payload, of the newest progress of a call, of its data. */
const MOST_BYTES = 64 * 1024;
/** Of a member that stays where the whole is too long. */
const SMALL_BYTES = 1024;

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? '');

/** Whether it may be sent as it is. */
export const isShort = (value: unknown): boolean => bytesOf(value) <= MOST_BYTES;

/** The end of a text, as much of it as may be sent. */
export function lastPart(text: string): string {
  let part = text.slice(-MOST_BYTES);
  for (let bytes = bytesOf(part); bytes > MOST_BYTES; bytes = bytesOf(part)) {
    part = part.slice(-Math.floor((part.length * MOST_BYTES) / bytes));
  }
  return part;
}

/** A payload that is too long keeps its small members. */
export function boundedPayload(payload: Record<string, unknown>): Record<string, unknown> {
  if (isShort(payload)) return payload;
  const small = Object.entries(payload).filter(([, member]) => bytesOf(member) <= SMALL_BYTES);
  return { truncated: true, ...Object.fromEntries(small) };
}
