import type { Part } from '#schema/engine.ts';

/** The text that takes the place of media a protocol cannot carry. */
export function omission(part: Part): string {
  return `[${part.type.replace('_url', '')} omitted: it cannot be sent to this model]`;
}

/** Joined text parts of a message. */
export function textOf(parts: readonly Part[], separator = ''): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(separator);
}
