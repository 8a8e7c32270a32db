/** Markdown rules of formulas: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`. They are drawn later, where the DOM is. */
import type { MarkdownIt } from 'markdown-it';

/** Longer ones stay text: laying them out would block the page. */
const MAX_CHARS = 2000;

const CLOSERS = { $$: '$$', $: '$', '\\(': '\\)', '\\[': '\\]' } as const;
type Opener = keyof typeof CLOSERS;

const isWordCharacter = (text: string) => /[\p{L}\p{N}_]/u.test(text);

function openerAt(text: string, at: number): Opener | undefined {
  const two = text.slice(at, at + 2);
  if (two === '$$' || two === '\\(' || two === '\\[') return two;
  return two.startsWith('$') ? '$' : undefined;
}

/** Index of the closing delimiter; -1 if the text is no formula. Amounts of money and names of variables are none. */
function closerOf(text: string, opener: Opener, start: number, end: number): number {
  const closer = CLOSERS[opener];
  if (opener === '$' && (/\s/.test(text[start] ?? ' ') || isWordCharacter(text[start - 2] ?? ''))) return -1;
  for (let at = start; at < Math.min(end, start + MAX_CHARS); at += 1) {
    if (text.startsWith(closer, at)) {
      if (at === start) return -1;
      if (opener !== '$') return at;
      const isAmount = /\s/.test(text[at - 1] ?? '') || isWordCharacter(text[at + 1] ?? '') || text[at + 1] === '$';
      return isAmount ? -1 : at;
    }
    if (text[at] === '\\') at += 1;
  }
  return -1;
}

export function addFormulas(md: MarkdownIt): void {
  md.inline.ruler.before('escape', 'formula', (state, silent) => {
    const { src, pos, posMax } = state;
    const opener = openerAt(src, pos);
    if (!opener) return false;
    const start = pos + opener.length;
    const end = closerOf(src, opener, start, posMax);
    if (end === -1) return false;
    if (!silent) {
      const token = state.push('formula', 'span', 0);
      token.content = src.slice(start, end).trim();
      token.meta = { isDisplayed: opener === '$$' || opener === '\\[' };
    }
    state.pos = end + CLOSERS[opener].length;
    return true;
  });

  // Formulas on lines of their own, which may contain empty lines.
  md.block.ruler.before(
    'fence',
    'formula_block',
    (state, startLine, endLine, silent) => {
      const from = (state.bMarks[startLine] ?? 0) + (state.tShift[startLine] ?? 0);
      const opener = openerAt(state.src, from);
      if (opener !== '$$' && opener !== '\\[') return false;
      const closer = CLOSERS[opener];
      for (let line = startLine; line < endLine; line += 1) {
        const start = line === startLine ? from + opener.length : (state.bMarks[line] ?? 0);
        const text = state.src.slice(start, state.eMarks[line]);
        const at = text.indexOf(closer);
        if (at === -1) continue;
        // Text after it: a paragraph that contains a formula.
        if (text.slice(at + closer.length).trim() !== '' || start + at - from > MAX_CHARS) return false;
        if (silent) return true;
        const token = state.push('formula_block', 'div', 0);
        token.content = state.src.slice(from + opener.length, start + at).trim();
        token.map = [startLine, line + 1];
        state.line = line + 1;
        return true;
      }
      // While it is being written, its source is drawn.
      const text = state.src.slice(from + opener.length, state.eMarks[endLine - 1]);
      if (!text.startsWith('\n') || text.length > MAX_CHARS) return false;
      if (silent) return true;
      const token = state.push('formula_source', 'div', 0);
      token.content = text.trim();
      token.map = [startLine, endLine];
      state.line = endLine;
      return true;
    },
    { alt: ['paragraph', 'blockquote', 'list'] },
  );

  const { escapeHtml } = md.utils;
  const drawn = (tag: string, name: string, tex: string) =>
    `<${tag} class="${name}" data-tex="${escapeHtml(tex)}">${escapeHtml(tex)}</${tag}>`;
  md.renderer.rules['formula'] = (tokens, at) =>
    drawn('span', isDisplayed(tokens[at]?.meta) ? 'formula displayed' : 'formula', tokens[at]?.content ?? '');
  md.renderer.rules['formula_source'] = (tokens, at) =>
    `<div class="formula displayed">${escapeHtml(tokens[at]?.content ?? '')}</div>\n`;
  md.renderer.rules['formula_block'] = (tokens, at) =>
    `${drawn('div', 'formula displayed', tokens[at]?.content ?? '')}\n`;
}

const isDisplayed = (meta: unknown): boolean =>
  typeof meta === 'object' && meta !== null && 'isDisplayed' in meta && meta.isDisplayed === true;
