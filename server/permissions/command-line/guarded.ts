/** Collects every text of a line that a deny or ask rule may match. */
import type { SyntaxTree } from './parser.ts';
import { cutPieces } from './pieces.ts';
import { MAX_LINE_CHARS } from './reader.ts';
import { allCommands, type CommandInput } from './tree.ts';
import { unquote } from '#server/processes/shell-words.ts';
import type { Unquoted } from '#server/processes/shell-words.ts';
import type { Inner } from './wrappers.ts';
import { baseName, heldCommands, innerOf, withoutLeading } from './inner.ts';

/** Limit of nesting `sh -c` in `sh -c` …: deeper lines are not read. */
const MAX_SCRIPT_DEPTH = 5;
/** Limit of all texts together, without the line itself: deeply nested lines would make the total quadratic. */
const MAX_SPELLED_CHARS = 500_000;
/** Limit of lines that are cut: a longer line is unreadable, so its pieces would not change the outcome. */
const MAX_CUT_CHARS = 30_000;
/** Limit of nested lines in one line, in total. */
const MAX_SCRIPTS = 50;

interface Guarded {
  texts: string[];
  unreadable: boolean;
}

/** Collects the texts; `parse` returns undefined for a line that it cannot parse in time. */
export function guardedTexts(line: string, parse: (line: string) => SyntaxTree | undefined): Guarded {
  const texts = new Set([line]);
  const scripts = new Map<string, number>([[line, 0]]);
  let spelled = 0;
  let unreadable = false;

  function add(text: string): boolean {
    if (text === '' || texts.has(text)) return true;
    spelled += text.length;
    if (spelled > MAX_SPELLED_CHARS) {
      unreadable = true;
      return false;
    }
    texts.add(text);
    return true;
  }

  /** `found.input` is defined for commands that the tree has found. */
  function addCommand(found: { words: readonly Unquoted[]; input?: CommandInput }, depth: number): void {
    const waiting = [found];
    const seen = new Set<string>();
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { words, input } = next;
      const text = words.map((word) => word.text).join(' ');
      if (seen.has(text)) continue;
      seen.add(text);
      if (!add(text)) return;
      const name = words[0]?.text ?? '';
      const base = baseName(name);
      if (base !== name && base !== '') add(base + text.slice(name.length));
      // A name that is no literal text may be any program; xargs or find replace `{}`.
      if (words[0]?.literal === false || name === '{}') unreadable = true;
      const inner = innerOf(words);
      // A command that gets further words is not a shell that reads its input.
      waiting.push(...inner.commands.map((command) => ({ words: command, ...(inner.extends ? {} : { input }) })));
      waiting.push(...heldCommands(words).map((command) => ({ words: command, input })));
      addLines(inner, input, depth + 1);
    }
  }

  function addLines(inner: Inner, input: CommandInput | undefined, depth: number): void {
    const own = inner.readsInput ? (input?.lines() ?? []) : [];
    const unknown = inner.readsInput && input !== undefined && own.length === 0 && !input.fromFile;
    if (inner.unreadable || unknown) unreadable = true;
    for (const line of [...inner.lines, ...own].filter(Boolean)) {
      if (scripts.size <= MAX_SCRIPTS && !scripts.has(line)) scripts.set(line, depth);
    }
  }

  // Iterating over a map includes entries added during the iteration.
  for (const [script, depth] of scripts) {
    if (depth > MAX_SCRIPT_DEPTH || scripts.size > MAX_SCRIPTS) {
      unreadable = true;
      break;
    }
    add(script);
    if (script.length <= MAX_CUT_CHARS) {
      for (const { source, words } of cutPieces(script)) {
        add(source);
        const unquoted = words.map(unquote);
        if (!add(unquoted.map(({ text }) => text).join(' '))) break;
        // Pieces cut out of quotes may begin with any text: only the tree shows that a name is no literal.
        addCommand({ words: withoutLeading(unquoted.map(({ text }) => ({ text, literal: true }))) }, depth);
      }
    }
    const tree = script.length <= MAX_LINE_CHARS ? parse(script) : undefined;
    unreadable ||= !tree || tree.hasError;
    if (!tree) continue;
    for (const { words, input } of allCommands(tree, script)) addCommand({ words: words.map(unquote), input }, depth);
  }
  return { texts: [...texts], unreadable };
}
