/** The text that represents a prompt in lists and titles. */
import { shownMessage } from '#server/journal/message-view.ts';
import { slashLine } from '#server/journal/typed-prompts.ts';
import type { ContentPart } from '#schema/rest/content.ts';
import type { ContextMessage } from '#schema/engine.ts';

const METADATA_TEXT_CHARS = 4000;
/** Only this much of a prompt is processed; redaction and collapsed white space may shorten it. */
const LOOKED_AT_CHARS = 4 * METADATA_TEXT_CHARS;
/** A word at the cut is omitted up to this length, so that no half of a secret remains. */
const HALVED_WORD_CHARS = 200;
export const TITLE_CHARS = 200;

/** Each pattern takes linear time: it matches words from their beginning only, or is bounded. */
const secrets: [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[redacted]'],
  [/\bBearer\s+[A-Za-z0-9._~+/=-]+/gi, 'Bearer [redacted]'],
  [/(?<![\w-])([\w-]*(?:key|token|secret|password)["']?\s*[:=]\s*)(?:"[^"]*"|'[^']*'|\S+)/gi, '$1[redacted]'],
  [/\bsk-[A-Za-z0-9_-]{12,}/g, '[redacted]'],
  [/\beyJ[\w-]{1,500}\.[\w-]+(?:\.[\w-]+)?/g, '[redacted]'],
];
const TOKEN_CHARS = 40;
const tokenWord = /[A-Za-z0-9_+=-]{40,}/g;
const goesOn = /^(?:\/|[.:][\w/])/;

/** Redacts a long unbroken word of token characters; parts of paths, URLs and dotted names are preserved. */
function redactedWord(word: string, offset: number, text: string): string {
  const end = offset + word.length;
  if (goesOn.test(text.slice(end, end + 2))) return word;
  const before = text[offset - 1];
  if (before !== '/' && before !== '.') return '[redacted]';
  const value = word.search(/[+=]/) + 1;
  return value > 0 && word.length - value >= TOKEN_CHARS ? `${word.slice(0, value)}[redacted]` : word;
}

// eslint-disable-next-line no-control-regex
const controlsAndSpace = /[\u0000-\u0020\u007f-\u00a0\u2028\u2029]+/g;

function redact(text: string): string {
  const hidden = secrets.reduce((current, [pattern, replacement]) => current.replace(pattern, replacement), text);
  return hidden.replace(tokenWord, redactedWord);
}

/** Returns the beginning of a text, without the word at the cut. */
function beginning(text: string): string {
  if (text.length <= LOOKED_AT_CHARS) return text;
  const word = /[\w.~+/=-]*$/.exec(text.slice(LOOKED_AT_CHARS - HALVED_WORD_CHARS, LOOKED_AT_CHARS))?.[0] ?? '';
  return text.slice(0, LOOKED_AT_CHARS - (word.length < HALVED_WORD_CHARS ? word.length : 0));
}

/**
 * Returns one line of at most 4000 characters: texts, media as `[image]` and `[video]`, secrets redacted, controls and
 * white space collapsed. Empty if the prompt has no visible content.
 */
export function metadataText(content: ContentPart[]): string {
  const pieces = content.flatMap((part) => {
    if (part.type === 'text') return [part.text];
    if (part.type === 'image' || part.type === 'video') return [`[${part.type}]`];
    return [];
  });
  return redact(beginning(pieces.join('\n')))
    .replace(controlsAndSpace, ' ')
    .trim()
    .slice(0, METADATA_TEXT_CHARS);
}

/** Like `metadataText`, of a prompt in the form that the model receives. */
export function promptText(prompt: ContextMessage): string {
  const line = slashLine(prompt.origin);
  return metadataText(line === undefined ? shownMessage(prompt).content : [{ type: 'text', text: line }]);
}
