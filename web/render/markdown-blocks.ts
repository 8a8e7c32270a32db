/**
 * A growing Markdown text as blocks: only the last one can still change, so a longer text parses from its start. Long
 * blocks (lists, tables, code) have parts, so that few of them are drawn again.
 */
import type { Env, Token } from 'markdown-it';
import { highlightOrEscape } from './highlight.ts';
import { codeFrame, languageIn, textParser } from './markdown-parser.ts';

export interface Block {
  /** HTML before and after the parts. If `open` is not empty, it contains the element with the attribute `data-parts`. */
  open: string;
  close: string;
  /** Each is a single element, unless `open` is empty. */
  parts: readonly string[];
}

/** The change of a text's blocks. */
export interface BlockChange {
  /** Number of first blocks that are unchanged. */
  kept: number;
  /** The next block has the same `open` and `close`, and so many first parts are unchanged; default: it is replaced. */
  keptParts?: number;
  /** The following blocks; of the first one only the changed parts, if `keptParts` is present. */
  blocks: readonly Block[];
}

/** Lines of code of one part. */
const PART_LINES = 40;

/** Lines of highlighted code; elements that span several lines are closed and opened again. */
export function htmlLines(html: string): string[] {
  const open: string[] = [];
  return html.split('\n').map((line) => {
    const start = open.join('');
    for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g)) {
      if (tag === '</span>') open.pop();
      else open.push(tag);
    }
    return start + line + '</span>'.repeat(open.length);
  });
}

function codeBlock(token: Token): Block {
  const code = token.content;
  const language = token.type === 'fence' ? languageIn(token.info) : '';
  const lines = htmlLines(highlightOrEscape(code.replace(/\n$/, ''), language));
  const parts: string[] = [];
  for (let at = 0; at < lines.length; at += PART_LINES) {
    parts.push(`<span class="code-lines">${lines.slice(at, at + PART_LINES).join('\n')}\n</span>`);
  }
  return { ...codeFrame(language), parts };
}

const withParts = (html: string) => html.replace(/<(ul|ol|tbody)(?=[\s>])(?![\s\S]*<\1[\s>])/, '<$1 data-parts');

export interface BlockReader {
  /** Accepts the whole text, which usually continues the former one; returns what has changed. */
  read(text: string): BlockChange;
}

/** Creates a reader of one growing text. */
export function createBlockReader(): BlockReader {
  const { options, renderer } = textParser;
  /** The link references of the blocks before the last one, which later blocks may use. */
  let references: Env = {};
  let env: Env = {};
  let text = '';
  /** Start of the last block, and the blocks before it. */
  let start = 0;
  let fixed = 0;
  let blocks: Block[] = [];

  const html = (tokens: Token[]) => renderer.render(tokens, options, env);

  function blockOf(tokens: Token[]): Block {
    const [first] = tokens;
    const last = tokens.at(-1);
    if (tokens.length === 1 && first && (first.type === 'fence' || first.type === 'code_block'))
      return codeBlock(first);
    if (first && last && /^(?:bullet|ordered)_list_open$/.test(first.type)) {
      return { open: withParts(html([first])), close: html([last]), parts: pieces(tokens.slice(1, -1)).map(html) };
    }
    const body = tokens.findIndex(({ type }) => type === 'tbody_open');
    if (first?.type === 'table_open' && body !== -1) {
      const end = tokens.findLastIndex(({ type }) => type === 'tbody_close');
      return {
        open: withParts(html(tokens.slice(0, body + 1))),
        close: html(tokens.slice(end)),
        parts: pieces(tokens.slice(body + 1, end)).map(html),
      };
    }
    return { open: '', close: '', parts: [html(tokens)] };
  }

  return {
    read(next) {
      if (!next.startsWith(text)) {
        [references, start, fixed] = [{}, 0, 0];
        blocks = [];
      }
      text = next;
      const tail = text.slice(start);
      env = structuredClone(references);
      const tops = pieces(textParser.parse(tail, env));
      const before = blocks.slice(fixed);
      const read = tops.map(blockOf);
      const change = changeOf(before, read);
      blocks = [...blocks.slice(0, fixed), ...read];
      const line = tops.at(-1)?.[0]?.map?.[0];
      const result = { ...change, kept: fixed + change.kept };
      if (line !== undefined && tops.length > 1) {
        const offset = offsetOf(tail, line);
        const ended = tail.slice(0, offset);
        if (/^ {0,3}\[/m.test(ended)) textParser.parse(ended, references);
        start += offset;
        fixed = blocks.length - 1;
      }
      return result;
    },
  };
}

/** Splits tokens into the blocks of their outermost level. */
function pieces(tokens: readonly Token[]): Token[][] {
  const found: Token[][] = [];
  let depth = 0;
  for (const token of tokens) {
    if (depth === 0) found.push([]);
    found.at(-1)?.push(token);
    depth += token.nesting;
  }
  return found;
}

function offsetOf(text: string, line: number): number {
  let at = 0;
  for (let count = 0; count < line; count += 1) at = text.indexOf('\n', at) + 1;
  return at;
}

function changeOf(before: readonly Block[], blocks: readonly Block[]): BlockChange {
  let kept = 0;
  while (kept < blocks.length && isSame(before[kept], blocks[kept])) kept += 1;
  const [former, first, ...rest] = [before[kept], ...blocks.slice(kept)];
  if (!former || !first || first.open === '' || former.open !== first.open || former.close !== first.close) {
    return { kept, blocks: blocks.slice(kept) };
  }
  let keptParts = 0;
  while (keptParts < first.parts.length && former.parts[keptParts] === first.parts[keptParts]) keptParts += 1;
  return { kept, keptParts, blocks: [{ ...first, parts: first.parts.slice(keptParts) }, ...rest] };
}

function isSame(one: Block | undefined, other: Block | undefined): boolean {
  return (
    one !== undefined &&
    other !== undefined &&
    one.open === other.open &&
    one.close === other.close &&
    one.parts.length === other.parts.length &&
    one.parts.every((part, at) => part === other.parts[at])
  );
}
