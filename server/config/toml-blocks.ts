/** Splits the text of a TOML file at its table headers, so that an edit of one table leaves the other lines unchanged. */

/** Lines of consecutive tables with one path. */
export interface TomlBlock {
  /** First one or two keys of the header; empty for the lines before the first header. */
  path: string[];
  /** From the header to the last line with content. */
  text: string;
  /** Blank lines and comments that follow. */
  gap: string;
}

/**
 * Returns blocks whose texts and gaps result in the whole text; undefined for a header that cannot be read. Paths of
 * the tables in `recordTables` have two keys, all others one.
 */
export function splitBlocks(text: string, recordTables: readonly string[]): TomlBlock[] | undefined {
  const blocks: TomlBlock[] = [];
  const starts = headerStarts(text);
  for (const [index, start] of [0, ...starts].entries()) {
    const part = text.slice(start, starts[index] ?? text.length);
    const keys = index === 0 ? [] : headerKeys(part);
    if (!keys) return undefined;
    const path = keys.slice(0, recordTables.includes(keys[0] ?? '') ? 2 : 1);
    const end = contentEnd(part);
    const block = { path, text: part.slice(0, end), gap: part.slice(end) };
    const last = blocks.at(-1);
    if (last && index > 1 && last.path.length === path.length && path.every((key, at) => key === last.path[at])) {
      last.text += last.gap + block.text;
      last.gap = block.gap;
    } else blocks.push(block);
  }
  return blocks;
}

/** Positions of the lines that are table headers, outside of strings and arrays. */
function headerStarts(text: string): number[] {
  const starts: number[] = [];
  for (let at = 0; at < text.length;) {
    const content = skipSpaces(text, at);
    if (text[content] === '[') starts.push(at);
    at = text[content] === '[' ? lineEnd(text, content) : statementEnd(text, content);
  }
  return starts;
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at;
}

/** The position after the line. */
function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end + 1;
}

/** The position after the line on which a value ends that may have several lines. */
function statementEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    switch (text[at]) {
      case '\n':
        if (depth <= 0) return at + 1;
        break;
      case '#':
        at = lineEnd(text, at) - 1;
        if (depth <= 0) return at + 1;
        break;
      case '[':
      case '{':
        depth += 1;
        break;
      case ']':
      case '}':
        depth -= 1;
        break;
      case '"':
      case "'":
        at = stringEnd(text, at);
    }
  }
  return text.length;
}

/** The position of the last quote of the string that starts at `from`. */
function stringEnd(text: string, from: number): number {
  const quote = text[from] ?? '';
  const isLong = text.startsWith(quote.repeat(3), from);
  const closing = isLong ? quote.repeat(3) : quote;
  for (let at = from + closing.length; at < text.length; at += 1) {
    if (text[at] === '\\' && quote === '"') at += 1;
    else if (text.startsWith(closing, at)) {
      at += closing.length - 1;
      // Up to two quotes may precede the closing ones of a string of several lines.
      while (isLong && text[at + 1] === quote) at += 1;
      return at;
    } else if (!isLong && text[at] === '\n') return at - 1;
  }
  return text.length;
}

const KEY = /^\s*(?:([A-Za-z0-9_-]+)|"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(\.|\])/;

/** The keys of a header such as `[models."a/b".overrides]` or `[[hooks]]`. */
function headerKeys(block: string): string[] | undefined {
  const keys: string[] = [];
  let rest = block.trimStart().replace(/^\[\[?/, '');
  for (;;) {
    const match = KEY.exec(rest);
    if (!match) return undefined;
    const [whole, bare, basic, literal, end] = match;
    const key = bare ?? literal ?? unescaped(basic ?? '');
    if (key === undefined) return undefined;
    keys.push(key);
    if (end === ']') return keys;
    rest = rest.slice(whole.length);
  }
}

/** Undefined for escapes that JSON has not. */
function unescaped(text: string): string | undefined {
  if (!text.includes('\\')) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return undefined;
  }
}

/** The end of the last line that is neither blank nor a comment. Lines of a string count as content. */
function contentEnd(block: string): number {
  let end = 0;
  for (let at = 0; at < block.length;) {
    const content = skipSpaces(block, at);
    const isHeader = block[content] === '[';
    const next = isHeader ? lineEnd(block, content) : statementEnd(block, content);
    if (!/^(?:#|\r?\n|$)/.test(block.slice(content, content + 2))) end = next;
    at = next;
  }
  return end;
}

const STATEMENT_KEY = /^(?:([A-Za-z0-9_-]+)|"((?:[^"\\]|\\.)*)"|'([^']*)')/;

/** Removes the statements that assign one of the keys, or a member of its value, from lines without headers. */
export function withoutKeys(text: string, keys: ReadonlySet<string>): string {
  const kept: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = statementEnd(text, at);
    const [, bare, basic, literal] = STATEMENT_KEY.exec(text.slice(skipSpaces(text, at), end)) ?? [];
    const key = bare ?? literal ?? (basic === undefined ? undefined : unescaped(basic));
    if (key === undefined || !keys.has(key)) kept.push(text.slice(at, end));
    at = end;
  }
  return kept.join('');
}
