/** Server texts in errors for people: shortened to one line, without the secrets that the server received. */
import { cutText } from '#server/text/truncate.ts';

const MAX_CHARS = 300;
const MASK = '…';
/** Shorter values, such as `1` or `true`, are not secrets and occur in any text. */
const SHORTEST_SECRET = 6;

/** Reduces foreign text to one line of at most 300 characters. */
export function oneLine(text: string): string {
  return cutText(text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim(), MAX_CHARS);
}

/** Masks each of `secrets` in the text, also the part after the scheme of a credential (`Bearer …`). */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const values = secrets.flatMap((secret) => [secret, ...secret.split(/\s+/)]);
  return (
    values
      .filter((value) => value.length >= SHORTEST_SECRET)
      // The longest is masked first: one may contain another.
      .sort((a, b) => b.length - a.length)
      .reduce((masked, value) => masked.replaceAll(value, MASK), text)
  );
}

/** `oneLine`, without the secrets. */
export const serverLine = (text: string, secrets: readonly string[]): string => oneLine(withoutSecrets(text, secrets));
