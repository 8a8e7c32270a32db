/** Bash's grammar under tree-sitter, with bounds: a hostile line must cost neither time nor the parser. */
import { readFile } from 'node:fs/promises';
import type { Parser } from 'web-tree-sitter';

const MAX_PARSE_MS = 25;

/** A node of the tree, in source order. */
export interface SyntaxNode {
  type: string;
  /** Of the grammar's named rules; the others are its literal tokens. */
  named: boolean;
  start: number;
  end: number;
  children: SyntaxNode[];
}

export interface SyntaxTree {
  root: SyntaxNode;
  /** Some of the text could not be read, or something is missing. */
  hasError: boolean;
}

export interface TreeParser {
  /** Undefined when the line takes too long or the parser is gone. */
  parse(line: string): SyntaxTree | undefined;
}

/** The part of web-tree-sitter's parser that is used. */
export type WasmParser = Pick<Parser, 'parse' | 'reset'>;

interface Options {
  maxMs?: number;
  /** Told once, when the parser broke and is given up. */
  onBroken?: (error: unknown) => void;
}

/**
 * Tells when the time is over: by the clock and by what this process computed, so that a busy machine does not make
 * ordinary lines unreadable.
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
    // Asked between steps: on a few lines made for it one step takes longer, which only their length bounds.
    const tree = parser.parse(line, null, { progressCallback: isOver });
    if (!tree) {
      // Without it the next line would go on with the rest of this one.
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
      // The way from the root to the current node.
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
      // No line with a NUL reaches Bash, and tree-sitter takes seconds over them.
      if (broken || line.includes('\0')) return undefined;
      try {
        return parse(line);
      } catch (error) {
        // Its memory is in an unknown state: nothing that it says from now on can be believed.
        broken = true;
        onBroken?.(error);
        return undefined;
      }
    },
  };
}

// In the built output this module's place is the entry's, and the folder is copied beside it.
const grammarUrl = () => new URL('./grammar/tree-sitter-bash.wasm', import.meta.url);

async function load(onBroken: (error: unknown) => void): Promise<TreeParser> {
  const { Language, Parser } = await import('web-tree-sitter');
  const [grammar] = await Promise.all([readFile(grammarUrl()), Parser.init()]);
  const parser = new Parser();
  parser.setLanguage(await Language.load(grammar));
  // The first parse takes longer than any line may.
  parser.parse('true')?.delete();
  return createTreeParser(parser, { onBroken });
}

let loading: Promise<TreeParser> | undefined;

/** The process's parser: the wasm module is one for the whole process, and so is its ruin. */
export const loadTreeParser = (onBroken: (error: unknown) => void): Promise<TreeParser> => (loading ??= load(onBroken));
