import type { Part } from '#schema/engine.ts';

/** The two halves of a base64 `data:` URL; undefined for any other URL. */
export function parseDataUrl(url: string): { mimeType: string; data: string } | undefined {
  const match = /^data:([^;,]+)(?:;[^,]*)?;base64,(.*)$/s.exec(url);
  const [, mimeType, data] = match ?? [];
  return mimeType !== undefined && data !== undefined ? { mimeType, data } : undefined;
}

/** The text that takes the place of media a protocol cannot carry. */
export function omission(part: Part): string {
  return `[${part.type.replace('_url', '')} omitted: it cannot be sent to this model]`;
}

/** Joined text parts of a message. */
export function textOf(parts: readonly Part[], separator = ''): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(separator);
}

/** Arguments as the object that some wires want: `{}` when the model wrote none, or no JSON object. */
export function argumentsObject(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
