/** Texts of servers in errors, for people: shortened to a line, and without the secrets that the server was sent. */
import { cutText } from '#server/bounded-text.ts';

const MAX_CHARS = 300;
const MASK = '…';
/** Shorter values, such as `1` or `true`, are no secrets and occur in any text. */
const SHORTEST_SECRET = 6;

/** Text of others as one line. */
export function oneLine(text: string): string {
  return cutText(text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim(), MAX_CHARS);
}

/** The text with a mask for each of `secrets`, also for what follows the scheme of a credential (`Bearer …`). */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const values = secrets.flatMap((secret) => [secret, ...secret.split(/\s+/)]);
  return (
    values
      .filter((value) => value.length >= SHORTEST_SECRET)
      // The longest first: one may contain another.
      .sort((a, b) => b.length - a.length)
      .reduce((masked, value) => masked.replaceAll(value, MASK), text)
  );
}

/** As `oneLine`, without the secrets. */
export const serverLine = (text: string, secrets: readonly string[]): string => oneLine(withoutSecrets(text, secrets));
