/** Texts of the page by key, so that `state/` and `render/` return keys with parameters, which rows can compare. */
import { en } from './en.ts';

type Catalogue = typeof en;
export type MessageKey = keyof Catalogue;
type Parameters<K extends MessageKey> = Catalogue[K] extends (params: infer P) => string ? [params: P] : [];

/** A key whose text has no parameters. */
export type PlainKey = { [K in MessageKey]: Catalogue[K] extends string ? K : never }[MessageKey];

/** A text to draw: its key, and the parameters that its text takes. */
export type Message =
  | { key: PlainKey; params?: undefined }
  | {
      [K in Exclude<MessageKey, PlainKey>]: Parameters<K> extends [infer P] ? { key: K; params: P } : never;
    }[Exclude<MessageKey, PlainKey>];

export function message<K extends MessageKey>(key: K, ...[params]: Parameters<K>): Message {
  return (params === undefined ? { key } : { key, params }) as Message;
}

/** The text of a message. */
export function textOf({ key, params }: Message): string {
  const texts: Record<MessageKey, string | ((params: never) => string)> = en;
  const text = texts[key];
  return typeof text === 'string' ? text : text(params as never);
}

/** The text of a key, for templates. */
export function t<K extends MessageKey>(key: K, ...params: Parameters<K>): string {
  return textOf(message(key, ...params));
}
