/** Converts model text to safe HTML: Markdown without raw HTML, highlighted code, nothing loaded from other origins. */
import DOMPurify, { type Config } from 'dompurify';
import { visibleText } from '@service-code/client/text';
import { reviewParser, textParser } from './markdown-parser.ts';

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
});

const OPTIONS = {
  ADD_ATTR: ['target'],
  FORBID_TAGS: ['style', 'form', 'img', 'svg', 'math'],
} satisfies Config;

/** Safe HTML of Markdown text. `isReviewed`: a person consents to it, so hidden characters are marked escapes. */
export function renderMarkdown(text: string, isReviewed = false): string {
  return DOMPurify.sanitize(isReviewed ? reviewParser.render(visibleText(text)) : textParser.render(text), OPTIONS);
}

/** Safe nodes of HTML that the parser has created elsewhere. */
export const safeFragment = (html: string): DocumentFragment =>
  DOMPurify.sanitize(html, { ...OPTIONS, RETURN_DOM_FRAGMENT: true });
