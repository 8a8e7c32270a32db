/** Converts model text to safe HTML: Markdown without raw HTML, highlighted code, nothing loaded from other origins. */
import DOMPurify from 'dompurify';
import MarkdownIt, { type Token } from 'markdown-it';
import { visibleText } from '#server/text/visible-text.ts';
import { highlightOrEscape } from './highlight.ts';
import { linkTarget, namesTarget } from './link-target.ts';
import { isRightToLeft, reviewHtml } from './review-html.ts';

const attribute = (token: Token | undefined, name: string) => String(token?.attrGet(name) ?? '');

/** `draw` returns safe HTML of a text, `highlight` of code in a language. */
function createParser(draw: (text: string) => string, highlight: (code: string, language: string) => string) {
  const md = new MarkdownIt({ html: false, linkify: true, highlight });
  // Otherwise `README.md` and `main.rs` would lead to hosts of Moldova and Serbia.
  md.linkify.set({ fuzzyLink: false });
  const { escapeHtml } = md.utils;
  const { rules } = md.renderer;

  const fence = rules.fence;
  rules.fence = (tokens, index, options, env, self) => {
    const language = tokens[index]?.info.trim().split(/\s+/)[0] ?? '';
    const body = fence?.(tokens, index, options, env, self) ?? '';
    const bar = `<div class="code-bar"><span>${draw(language)}</span><button type="button" data-copy>Copy</button></div>`;
    return `<div class="code">${bar}${body}</div>`;
  };

  const opening = (href: string) =>
    linkTarget(href, location.href).opens ? `<a href="${escapeHtml(href)}">` : '<span class="label">';

  /** The end of a link: its target is visible where the label does not name it. */
  function closing(href: string, label: string): string {
    const { opens, shown } = linkTarget(href, location.href);
    const target = namesTarget(label, href) ? '' : ` <span class="target">(${escapeHtml(shown)})</span>`;
    return `${opens ? '</a>' : '</span>'}${target}`;
  }

  rules.link_open = (tokens, at) => opening(attribute(tokens[at], 'href'));
  rules.link_close = (tokens, at) => {
    const start = tokens.findLastIndex(({ type }, before) => before < at && type === 'link_open');
    const label = tokens.slice(start + 1, at).map(({ content }) => content);
    return closing(attribute(tokens[start], 'href'), label.join(''));
  };

  // An image would be fetched from any address that the model writes, so the address is drawn instead.
  rules.image = (tokens, at) => {
    const href = attribute(tokens[at], 'src');
    const label = tokens[at]?.content || href;
    return `${opening(href)}${draw(label)}${closing(href, label)}`;
  };
  return md;
}

const review = (text: string) => reviewHtml(text, { hasEscapes: true });
const reviewCode = (code: string, language = '') =>
  `<code class="review-text">${reviewHtml(code, { language, hasEscapes: true })}</code>`;

/** A parser of text that a person consents to: each block is drawn in its own direction, code from left to right. */
function createReviewParser() {
  const md = createParser(review, (code, language) => `<pre>${reviewCode(code, language)}</pre>`);
  const { rules } = md.renderer;
  const contentOf = (token: Token | undefined) => token?.content ?? '';
  rules.text = (tokens, at) => review(contentOf(tokens[at]));
  rules.code_inline = (tokens, at) => reviewCode(contentOf(tokens[at]));
  rules.code_block = (tokens, at) => `<pre>${reviewCode(contentOf(tokens[at]))}</pre>`;
  // A line break becomes a newline, which the element preserves.
  rules.hardbreak = () => '\n';

  md.core.ruler.push('direction', ({ tokens, Token: NewToken }) => {
    let block: Token | undefined;
    for (const token of tokens) {
      if (token.nesting === 1 && !token.hidden) block = token;
      if (token.type !== 'inline' || !token.children) continue;
      const isRtl = isRightToLeft(token.children.map(({ content }) => content).join(''));
      block?.attrSet('dir', isRtl ? 'rtl' : 'ltr');
      const [start, end] = [new NewToken('review_open', 'span', 1), new NewToken('review_close', 'span', -1)];
      start.attrSet('class', isRtl ? 'review-rtl' : 'review-text');
      token.children = [start, ...token.children, end];
    }
  });
  return md;
}

const parser = createParser((text) => highlightOrEscape(text, ''), highlightOrEscape);
const reviewParser = createReviewParser();

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
});

/** Safe HTML of Markdown text. `isReviewed`: a person consents to it, so hidden characters are marked escapes. */
export function renderMarkdown(text: string, isReviewed = false): string {
  return DOMPurify.sanitize(isReviewed ? reviewParser.render(visibleText(text)) : parser.render(text), {
    ADD_ATTR: ['target', 'data-copy'],
    FORBID_TAGS: ['style', 'form', 'img'],
  });
}
