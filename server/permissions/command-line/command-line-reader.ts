/** Parses Bash lines for permission rules. */
import type { Logger } from '#server/logging/log.ts';
import { headDirectory, isPlainCommand, needsNoRule } from './builtins.ts';
import { guardedTexts } from './guarded.ts';
import { loadTreeParser, stopwatch } from './parser.ts';
import type { SyntaxTree, TreeParser } from './parser.ts';
import { MAX_LINE_CHARS, readPlainLine } from './reader.ts';
import type { PlainCommand, PlainWord } from './reader.ts';
import { plainNames } from './tree.ts';

export interface CommandReading {
  /** Whether reader and tree both accept the whole line and agree: `commands` are all its simple commands. */
  plain: boolean;
  /**
   * Simple commands in order, as allow rules match them: name and words joined by one blank. Excludes those that need
   * no rule (`true`, `pwd`, `set -e` …) and the `cd` at the start. Empty unless plain.
   */
  commands: string[];
  /** Directory of a `cd <dir> &&` at the start of a plain line, unquoted; the caller has to check its location. */
  cd: string | undefined;
  /** Every text that a deny or ask rule is matched against: the whole line first, then all spellings. */
  guarded: string[];
  /**
   * Whether deny and ask rules could not be checked fully: a syntax error, too long, over time, no parser, or a command
   * whose name is no literal text.
   */
  unreadable: boolean;
}

export interface CommandLineReader {
  read(line: string): Promise<CommandReading>;
}

interface Options {
  log?: Logger;
  /** Default: the process's parser. Called for the first line. */
  loadParser?: (onBroken: (error: unknown) => void) => Promise<TreeParser>;
}

/** Limit for a line and all its nested lines (`sh -c '…'`) together. */
const MAX_PARSES_MS = 100;
const REMEMBERED_LINES = 8;
/** Longer lines are not cached. */
const MAX_REMEMBERED_CHARS = MAX_LINE_CHARS;

/** A quoted word whose quotes have no effect. */
const NEEDLESS_QUOTES = /^(['"])([A-Za-z0-9_%+,./:=@-]+)\1$/;
const ruleWord = ({ source }: PlainWord) => NEEDLESS_QUOTES.exec(source)?.[2] ?? source;
const ruleText = ({ name, words }: PlainCommand) => [name, ...words.map(ruleWord)].join(' ');

/** Returns the line's commands when reader and tree both accept it as plain and agree on the names. */
function readPlain(line: string, tree: SyntaxTree | undefined): Pick<CommandReading, 'plain' | 'commands' | 'cd'> {
  const opaque = { plain: false, commands: [], cd: undefined };
  const commands = tree && readPlainLine(line);
  const names = tree && plainNames(tree, line);
  if (!commands || !names || names.length !== commands.length) return opaque;
  if (!commands.every(({ name }, index) => name === names[index])) return opaque;
  const cd = headDirectory(commands);
  const ruled = cd === undefined ? commands : commands.slice(1);
  if (!ruled.every(isPlainCommand)) return opaque;
  return { plain: true, commands: ruled.filter((command) => !needsNoRule(command)).map(ruleText), cd };
}

/** Creates a reader that loads the grammar for the first line. */
export function createCommandLineReader({ log, loadParser = loadTreeParser }: Options = {}): CommandLineReader {
  const remembered = new Map<string, CommandReading>();
  let parser: Promise<TreeParser | undefined> | undefined;

  const loaded = () =>
    (parser ??= loadParser((err) => log?.error('the command line parser broke and is not used again', { err })).catch(
      (err: unknown) => {
        log?.error('the command line parser did not load', { err });
        return undefined;
      },
    ));

  return {
    async read(line) {
      const known = remembered.get(line);
      if (known) return known;
      const tree = await loaded();
      const trees = new Map<string, SyntaxTree | undefined>();
      const isOver = stopwatch(MAX_PARSES_MS);
      const parse = (text: string) => {
        if (text.length > MAX_LINE_CHARS || isOver()) return undefined;
        if (!trees.has(text)) trees.set(text, tree?.parse(text));
        return trees.get(text);
      };
      const { texts, unreadable } = guardedTexts(line, parse);
      const plain = readPlain(line, parse(line));
      const reading = { ...plain, guarded: [...new Set([...texts, ...plain.commands])], unreadable };
      if (line.length <= MAX_REMEMBERED_CHARS) {
        if (remembered.size >= REMEMBERED_LINES) remembered.delete([...remembered.keys()][0] ?? '');
        remembered.set(line, reading);
      }
      return reading;
    },
  };
}
