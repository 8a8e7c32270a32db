/** Size bounds, as JSON, of values that are not stored as texts. */

/** Bound of a marker's payload, and of the newest progress of a call and its data. */
const MOST_BYTES = 64 * 1024;
/** Bound of a member that remains in a truncated payload. */
const SMALL_BYTES = 1024;

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? '');

/** Whether the value may be sent unmodified. */
export const isShort = (value: unknown): boolean => bytesOf(value) <= MOST_BYTES;

/** The longest end of a text that may be sent. */
export function lastPart(text: string): string {
  let part = text.slice(-MOST_BYTES);
  for (let bytes = bytesOf(part); bytes > MOST_BYTES; bytes = bytesOf(part)) {
    part = part.slice(-Math.floor((part.length * MOST_BYTES) / bytes));
  }
  return part;
}

/** Truncates a payload that is too long to its small members. */
export function boundedPayload(payload: Record<string, unknown>): Record<string, unknown> {
  if (isShort(payload)) return payload;
  const small = Object.entries(payload).filter(([, member]) => bytesOf(member) <= SMALL_BYTES);
  return { truncated: true, ...Object.fromEntries(small) };
}
