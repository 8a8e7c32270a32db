/** The message of a cloud's error reply. */
import { isRecord, tryParseJson } from '#server/text/json.ts';

const MAX_CHARS = 1000;
/** Shorter values may be parts of words. */
const MIN_SECRET_CHARS = 8;
const MEMBERS = ['error_description', 'message', 'detail'];
const MEMBERS_OF_ERROR = ['message', 'error_description', 'detail', 'code', 'type'];

/**
 * Returns the message for people from the body of an error reply; a sentence with the status if it has none. `secrets`
 * are values of the request, which a cloud may quote; they are replaced.
 */
export function cloudErrorMessage(body: string, status: number, secrets: readonly string[] = []): string {
  return cloudErrorText(body, secrets) ?? `The cloud answered with HTTP status ${status}`;
}

/** The message in the body of an error reply; undefined if it has none. */
export function cloudErrorText(body: string, secrets: readonly string[] = []): string | undefined {
  const text = messageOf(tryParseJson(body));
  return text === undefined ? undefined : quotable(text, secrets);
}

/** A text of a cloud as it may be logged and sent to clients: without these secrets, and of limited length. */
export function quotable(text: string, secrets: readonly string[]): string {
  return secrets
    .filter(({ length }) => length >= MIN_SECRET_CHARS)
    .reduce((message, secret) => message.replaceAll(secret, '[redacted]'), text)
    .slice(0, MAX_CHARS);
}

function messageOf(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const { error, errors } = value;
  return (
    firstText(value, MEMBERS) ??
    textOf(error) ??
    (isRecord(error) ? firstText(error, MEMBERS_OF_ERROR) : undefined) ??
    (Array.isArray(errors) ? firstOf(errors) : undefined)
  );
}

function firstOf(list: unknown[]): string | undefined {
  for (const item of list) {
    const found = textOf(item) ?? messageOf(item) ?? (isRecord(item) ? firstText(item, MEMBERS_OF_ERROR) : undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

function firstText(record: Record<string, unknown>, members: readonly string[]): string | undefined {
  for (const member of members) {
    const found = Object.hasOwn(record, member) ? textOf(record[member]) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.trim() || undefined : undefined;
