/** The text that stands for a prompt in lists and titles. */
import type { ContentPart } from '#schema/content.ts';

const METADATA_TEXT_CHARS = 4000;
export const TITLE_CHARS = 200;

const secrets: [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[redacted]'],
  [/\bBearer\s+[A-Za-z0-9._~+/=-]+/gi, 'Bearer [redacted]'],
  [/\b([\w-]*(?:key|token|secret|password)["']?\s*[:=]\s*)(?:"[^"]*"|'[^']*'|\S+)/gi, '$1[redacted]'],
  [/\bsk-[A-Za-z0-9_-]{12,}/g, '[redacted]'],
  [/\beyJ[\w-]+\.[\w-]+(?:\.[\w-]+)?/g, '[redacted]'],
];
/** Long unbroken words of token characters; parts of paths, URLs and dotted names stay. */
const tokenWord = /(?<![\w/.-])[A-Za-z0-9_+=-]{40,}(?![\w/-]|[.:][\w/])/g;

// eslint-disable-next-line no-control-regex
const controlsAndSpace = /[\u0000-\u0020\u007f-\u00a0\u2028\u2029]+/g;

function redact(text: string): string {
  const hidden = secrets.reduce((current, [pattern, replacement]) => current.replace(pattern, replacement), text);
  return hidden.replace(tokenWord, '[redacted]');
}

/**
 * One line of at most 4000 characters: texts, media as `[image]` and `[video]`, secrets redacted, controls and white
 * space collapsed. Empty when the prompt shows nothing.
 */
export function metadataText(content: ContentPart[]): string {
  const pieces = content.flatMap((part) => {
    if (part.type === 'text') return [part.text];
    if (part.type === 'image' || part.type === 'video') return [`[${part.type}]`];
    return [];
  });
  return redact(pieces.join('\n')).replace(controlsAndSpace, ' ').trim().slice(0, METADATA_TEXT_CHARS);
}
