/** Marks a line in highlighted code. */

/** The spans that are open at the end of a part. */
function openSpans(html: string): string[] {
  const open: string[] = [];
  for (const [tag] of html.matchAll(/<[^>]*>/g)) {
    if (tag === '</span>') open.pop();
    else open.push(tag);
  }
  return open;
}

const close = (spans: readonly string[]) => '</span>'.repeat(spans.length);

/**
 * Wraps a line, from 1, with its line break in `<mark>`. `html` has spans and text only, as `highlightOrEscape` returns
 * it; those that cross an end of the line are closed and opened again. Unchanged if it has fewer lines.
 */
export function markLine(html: string, line: number): string {
  let start = 0;
  for (let number = 1; number < line; number += 1) {
    start = html.indexOf('\n', start) + 1;
    if (start === 0) return html;
  }
  if (start === html.length) return html;
  const lineBreak = html.indexOf('\n', start);
  const end = lineBreak === -1 ? html.length : lineBreak + 1;
  const [before, after] = [openSpans(html.slice(0, start)), openSpans(html.slice(0, end))];
  const marked = `<mark>${before.join('')}${html.slice(start, end)}${close(after)}</mark>`;
  return `${html.slice(0, start)}${close(before)}${marked}${after.join('')}${html.slice(end)}`;
}
