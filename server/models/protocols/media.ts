import type { Part } from '#schema/engine.ts';

/** The text that replaces media which a protocol cannot carry. */
export function omission(part: Part): string {
  return `[${part.type.replace('_url', '')} omitted: it cannot be sent to this model]`;
}

/** Concatenates the text parts of a message. */
export function textOf(parts: readonly Part[], separator = ''): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(separator);
}
