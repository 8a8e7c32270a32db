/** Every text of a line that a deny or ask rule may mean. */
import type { SyntaxTree } from './parser.ts';
import { cutPieces } from './pieces.ts';
import { MAX_LINE_CHARS } from './reader.ts';
import { allCommands, type CommandInput } from './tree.ts';
import { unquote } from '#server/processes/shell-words.ts';
import type { Unquoted } from '#server/processes/shell-words.ts';
import type { Inner } from './wrappers.ts';
import { baseName, heldCommands, innerOf, withoutLeading } from './inner.ts';

/** `sh -c` in `sh -c` …: deeper lines are not read. */
const MAX_SCRIPT_DEPTH = 5;
/** Of all spellings together, the line itself apart: lines that nest what they run would make it square. */
const MAX_SPELLED_CHARS = 500_000;
/** Cutting costs little, but above this nothing is gained: such a line counts as unreadable. */
const MAX_CUT_CHARS = 30_000;
/** For the lines inside one line, all together. */
const MAX_SCRIPTS = 50;

interface Guarded {
  texts: string[];
  unreadable: boolean;
}

/** `parse` gives undefined for a line that it cannot read in time. */
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

  /** `found.input` is known of commands that the tree has found. */
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
      // A name that is no literal text may be any program; `{}` is what xargs or find put there.
      if (words[0]?.literal === false || name === '{}') unreadable = true;
      const inner = innerOf(words);
      // What gets further words is no shell that reads its input.
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

  // A map takes in what is added while it is gone through.
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
        // Pieces cut out of quotes have names that are none: only the tree says that a name is no literal.
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
