/** Parses Markdown without raw HTML. Runs in a worker too, so it needs no DOM; its HTML must be sanitized. */
import MarkdownIt, { type Token } from 'markdown-it';
import { placeIn, placeInTarget, PLACE_IN_PROSE, type FilePlace } from './file-place.ts';
import { addFormulas } from './formula-rules.ts';
import { highlightOrEscape } from './highlight.ts';
import { linkTarget, namesTarget } from './link-target.ts';
import { isRightToLeft, reviewHtml } from './review-html.ts';

const attribute = (token: Token | undefined, name: string) => String(token?.attrGet(name) ?? '');
const contentOf = (token: Token | undefined) => token?.content ?? '';
export const languageIn = (info: string | undefined): string => info?.trim().split(/\s+/)[0] ?? '';

/** `draw` returns safe HTML of a text, `highlight` of code in a language. */
function createParser(draw: (text: string) => string, highlight: (code: string, language: string) => string) {
  const md = new MarkdownIt({ html: false, linkify: true, highlight });
  // Otherwise `README.md` and `main.rs` would lead to hosts of Moldova and Serbia.
  md.linkify.set({ fuzzyLink: false });
  const { escapeHtml } = md.utils;
  const { rules } = md.renderer;

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

/** HTML before and after the highlighted code of a block. */
export const codeFrame = (language: string): { open: string; close: string } => ({
  open:
    `<div class="code"><div class="code-bar"><span>${highlightOrEscape(language, '')}</span>` +
    '<button type="button" data-wrap aria-pressed="false">Wrap</button><button type="button" data-copy>Copy</button></div>' +
    '<pre tabindex="0"><code class="hljs" data-parts>',
  close: '</code></pre></div>',
});

/** A parser of the text of agents: with formulas, images of the project, and places in files. */
function createTextParser() {
  const md = createParser((text) => highlightOrEscape(text, ''), highlightOrEscape);
  addFormulas(md);
  const { escapeHtml } = md.utils;
  const { rules } = md.renderer;

  const placeHtml = ({ path, line }: FilePlace, html: string) =>
    `<button type="button" class="place" data-path="${escapeHtml(path)}"${line === undefined ? '' : ` data-line="${line}"`}>${html}</button>`;

  rules.fence = (tokens, at) => codeHtml(contentOf(tokens[at]), languageIn(tokens[at]?.info));
  rules.code_block = (tokens, at) => codeHtml(contentOf(tokens[at]), '');
  rules.code_inline = (tokens, at) => {
    const text = contentOf(tokens[at]);
    const place = placeIn(text);
    const html = escapeHtml(text);
    return `<code>${place ? placeHtml(place, html) : html}</code>`;
  };
  rules.text = (tokens, at) => {
    // The label of a link is no place: its own target counts.
    const isLabel =
      tokens.findLast(({ type }, before) => before < at && type.startsWith('link_'))?.type === 'link_open';
    const text = contentOf(tokens[at]);
    if (isLabel || !text.includes(':')) return escapeHtml(text);
    let [html, end] = ['', 0];
    for (const { 0: found, index } of text.matchAll(PLACE_IN_PROSE)) {
      const place = placeIn(found);
      if (!place) continue;
      html += escapeHtml(text.slice(end, index)) + placeHtml(place, escapeHtml(found));
      end = index + found.length;
    }
    return html + escapeHtml(text.slice(end));
  };

  const { image, link_open: linkOpen, link_close: linkClose } = rules;
  rules.image = (tokens, at, ...rest) => {
    const place = placeInTarget(attribute(tokens[at], 'src'));
    if (!place) return image?.(tokens, at, ...rest) ?? '';
    const label = contentOf(tokens[at]) || place.path;
    return `<span class="image" data-image="${escapeHtml(place.path)}">${escapeHtml(label)}</span>`;
  };
  const placeOf = (token: Token | undefined) => placeInTarget(attribute(token, 'href'));
  rules.link_open = (tokens, at, ...rest) => {
    const place = placeOf(tokens[at]);
    if (!place) return linkOpen?.(tokens, at, ...rest) ?? '';
    return placeHtml(place, '').replace(/<\/button>$/, '');
  };
  rules.link_close = (tokens, at, ...rest) => {
    const start = tokens.findLastIndex(({ type }, before) => before < at && type === 'link_open');
    const place = placeOf(tokens[start]);
    const end = linkClose?.(tokens, at, ...rest) ?? '';
    return place ? `</button>${end.replace(/^<\/span>/, '')}` : end;
  };
  return md;
}

function codeHtml(code: string, language: string): string {
  const { open, close } = codeFrame(language);
  return `${open}${highlightOrEscape(code, language)}${close}\n`;
}

const review = (text: string) => reviewHtml(text, { hasEscapes: true });
const reviewCode = (code: string, language = '') =>
  `<code class="review-text">${reviewHtml(code, { language, hasEscapes: true })}</code>`;

/** A parser of text that a person consents to: each block is drawn in its own direction, code from left to right. */
function createReviewParser() {
  const md = createParser(review, (code, language) => `<pre>${reviewCode(code, language)}</pre>`);
  const { rules } = md.renderer;
  const fence = rules.fence;
  rules.fence = (tokens, index, options, env, self) => {
    const language = languageIn(tokens[index]?.info);
    const body = fence?.(tokens, index, options, env, self) ?? '';
    const bar = `<div class="code-bar"><span>${review(language)}</span><button type="button" data-copy>Copy</button></div>`;
    return `<div class="code">${bar}${body}</div>`;
  };
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

export const textParser = createTextParser();
export const reviewParser = createReviewParser();
