/** Bash's grammar under tree-sitter, with limits: a hostile line must neither take long nor break the parser. */
import { readFile } from 'node:fs/promises';
import type { Parser } from 'web-tree-sitter';

const MAX_PARSE_MS = 25;

/** A node of the tree, in source order. */
export interface SyntaxNode {
  type: string;
  /** Whether a named rule of the grammar matched; false for literal tokens. */
  named: boolean;
  start: number;
  end: number;
  children: SyntaxNode[];
}

export interface SyntaxTree {
  root: SyntaxNode;
  /** Whether some of the text could not be parsed, or a token is missing. */
  hasError: boolean;
}

export interface TreeParser {
  /** Undefined when the line takes too long or the parser has failed. */
  parse(line: string): SyntaxTree | undefined;
}

/** The members of web-tree-sitter's parser that are used. */
export type WasmParser = Pick<Parser, 'parse' | 'reset'>;

interface Options {
  maxMs?: number;
  /** Called a single time, when the parser fails and is no longer used. */
  onBroken?: (error: unknown) => void;
}

/**
 * Returns a function that reports whether the time is over, both by the clock and by this process's CPU time, so that
 * ordinary lines stay readable on a busy machine.
 */
export function stopwatch(maxMs: number): () => boolean {
  const deadline = performance.now() + maxMs;
  const used = process.cpuUsage();
  return () => {
    if (performance.now() <= deadline) return false;
    const { user, system } = process.cpuUsage(used);
    return (user + system) / 1000 > maxMs;
  };
}

export function createTreeParser(parser: WasmParser, { maxMs = MAX_PARSE_MS, onBroken }: Options = {}): TreeParser {
  let broken = false;

  function parse(line: string): SyntaxTree | undefined {
    const isOver = stopwatch(maxMs);
    // Polled between steps: for some crafted lines one step takes longer, which only the limit of their length bounds.
    const tree = parser.parse(line, null, { progressCallback: isOver });
    if (!tree) {
      // Otherwise the next parse would resume with the rest of this line.
      parser.reset();
      return undefined;
    }
    try {
      const cursor = tree.walk();
      const read = (): SyntaxNode => ({
        type: cursor.nodeType,
        named: cursor.nodeIsNamed,
        start: cursor.startIndex,
        end: cursor.endIndex,
        children: [],
      });
      const root = read();
      // The path from the root to the current node.
      const path = [root];
      let hasError = tree.rootNode.hasError;
      try {
        for (;;) {
          if (!cursor.gotoFirstChild()) {
            while (!cursor.gotoNextSibling()) {
              if (!cursor.gotoParent()) return { root, hasError };
              path.pop();
            }
            path.pop();
          }
          const node = read();
          hasError ||= cursor.nodeIsMissing;
          path.at(-1)?.children.push(node);
          path.push(node);
        }
      } finally {
        cursor.delete();
      }
    } finally {
      tree.delete();
    }
  }

  return {
    parse(line) {
      // No line with a NUL reaches Bash, and tree-sitter takes seconds to parse one.
      if (broken || line.includes('\0')) return undefined;
      try {
        return parse(line);
      } catch (error) {
        // The parser's memory is in an unknown state: its results can no longer be trusted.
        broken = true;
        onBroken?.(error);
        return undefined;
      }
    },
  };
}

// The built output bundles this module into the entry, and the folder is copied next to it.
const grammarUrl = () => new URL('./grammar/tree-sitter-bash.wasm', import.meta.url);

async function load(onBroken: (error: unknown) => void): Promise<TreeParser> {
  const { Language, Parser } = await import('web-tree-sitter');
  const [grammar] = await Promise.all([readFile(grammarUrl()), Parser.init()]);
  const parser = new Parser();
  parser.setLanguage(await Language.load(grammar));
  // The first parse takes longer than the limit of a line.
  parser.parse('true')?.delete();
  return createTreeParser(parser, { onBroken });
}

let loading: Promise<TreeParser> | undefined;

/** Memoized: the wasm module is shared by the whole process, and so is its failure. */
export const loadTreeParser = (onBroken: (error: unknown) => void): Promise<TreeParser> => (loading ??= load(onBroken));
