/**
 * Strict parser of Bash lines. It accepts only lines of simple commands and consumes every character by a positive
 * rule; a character without a rule makes the whole line opaque. It does not depend on the rest of Bash's syntax.
 */

export const MAX_LINE_CHARS = 10_000;

/** A word after a command's name. */
export interface PlainWord {
  /** The source of the word. */
  source: string;
  /** Quotes removed; variables omitted. */
  text: string;
  /** Contains a variable, quoted or not. */
  hasVariable: boolean;
  /** Whether Bash may expand it to other or more words: an unquoted variable, glob, brace or tilde. */
  expands: boolean;
}

type Operator = ';' | '\n' | '&' | '&&' | '||' | '|' | '|&';

export interface PlainCommand {
  name: string;
  words: PlainWord[];
  negated: boolean;
  hasAssignments: boolean;
  hasRedirections: boolean;
  /** The operator after the command; undefined after the last. */
  operator: Operator | undefined;
}

/** Neither visible nor a blank, tab or line feed: other controls and spaces, format characters, surrogates. */
const INVISIBLE = /[^\t\n -~\p{L}\p{M}\p{N}\p{P}\p{S}]|[\p{Default_Ignorable_Code_Point}\u2800]/u;

const RESERVED = new Set(
  'if then elif else fi case esac for select while until do done in function time coproc'.split(' '),
);

// The end of a word: any other character right after it would be part of it, or make it a redirection's descriptor.
const END = '(?=[ \\t\\n;&|]|$)';
const NAME = new RegExp(`(?:[A-Za-z0-9_./][A-Za-z0-9_./+@%:,-]*|:)${END}`, 'y');
const OPERATOR = /&&|\|\||\|&|[;\n&|]/y;
const REDIRECTION = new RegExp(
  `(?:\\d{0,4}(?:[<>]&(?:\\d{1,4}|-)|(?:>>?|<)[ \\t]*/dev/null)|&>>?[ \\t]*/dev/null)${END}`,
  'y',
);
/** Variables that only control a program's output or name; any other may name a program to run. */
const ASSIGNMENT_NAME =
  'CI|DEBUG|NODE_ENV|FORCE_COLOR|NO_COLOR|CLICOLOR|TERM|LANG|LC_[A-Z]+|TZ|RUST_LOG|RUST_BACKTRACE';
/** Variables that scripts use in arithmetic, where Bash evaluates substitutions. */
const NUMBER_NAME = 'PORT|COLUMNS|LINES';
/** Characters that have no meaning where a script evaluates the value. */
const VALUE_CHARACTER = 'A-Za-z0-9_%+,./:=@-';
const ASSIGNMENT = new RegExp(
  `(?:(?:${NUMBER_NAME})=(?:\\d|'\\d*'|"\\d*")*|` +
    `(?:${ASSIGNMENT_NAME})=(?:[${VALUE_CHARACTER}]|'[ ${VALUE_CHARACTER}]*'|"[ ${VALUE_CHARACTER}]*")*)(?=[ \\t])`,
  'y',
);
/** `$_` is excluded: it passes a word of the previous command to where a variable is treated as harmless. */
const VARIABLE = /\$(?:(?!_\b)[A-Za-z_]\w*|\{(?!_\})[A-Za-z_]\w*\}|[0-9?$!#@*-])/y;
/** A literal dollar sign inside double quotes. */
const LONE_DOLLAR = /\$(?=["|)/., ])/y;
const WORD_CHARACTER = /[A-Za-z0-9_%+,./:=@^~*?[\]{}!#-]|[^\0-\x7f]/y;
const EXPANDING = new Set(['*', '?', '[', '{', '~']);

/** Returns the simple commands of a plain line, in order; undefined when it is opaque. */
export function readPlainLine(line: string): PlainCommand[] | undefined {
  if (line.length > MAX_LINE_CHARS || INVISIBLE.test(line)) return undefined;
  let at = 0;

  /** Consumes the text that matches the expression at the current position, and returns it. */
  function take(expression: RegExp): string | undefined {
    expression.lastIndex = at;
    const found = expression.exec(line)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  }

  /** Skips blanks, and line continuations that cannot be inside a word. Returns whether a word may begin here. */
  function skipBlanks(behindOperator: boolean): boolean {
    let boundary = behindOperator;
    for (;;) {
      if (line[at] === ' ' || line[at] === '\t') at += 1;
      else if (boundary && line.startsWith('\\\n', at)) at += 2;
      else return boundary;
      boundary = true;
    }
  }

  function skipComment(): void {
    if (line[at] !== '#') return;
    while (at < line.length && line[at] !== '\n') at++;
  }

  /** Skips blanks, comments and empty lines before a command. */
  function skipToCommand(): void {
    let behindOperator = at > 0;
    for (;;) {
      skipBlanks(behindOperator);
      skipComment();
      if (line[at] !== '\n') return;
      at++;
      behindOperator = true;
    }
  }

  /** Consumes a double-quoted text, including the quotes. */
  function readDoubleQuoted(word: PlainWord): boolean {
    at++;
    while (at < line.length) {
      const char = line.charAt(at);
      if (char === '"') {
        at++;
        return true;
      }
      if (char === '\\') {
        const escaped = line.charAt(at + 1);
        if (!/[ -~]/.test(escaped)) return false;
        word.text += /[$`"\\]/.test(escaped) ? escaped : char + escaped;
        at += 2;
      } else if (char === '$') {
        if (take(VARIABLE) !== undefined) word.hasVariable = true;
        else if (take(LONE_DOLLAR) !== undefined) word.text += '$';
        else return false;
      } else if (char === '`') return false;
      else {
        word.text += char;
        at++;
      }
    }
    return false;
  }

  function readWord(): PlainWord | undefined {
    const start = at;
    const word: PlainWord = { source: '', text: '', hasVariable: false, expands: false };
    while (at < line.length && !/[ \t\n;&|]/.test(line.charAt(at))) {
      const char = line.charAt(at);
      if (char === '\\') {
        if (!/[ -~]/.test(line.charAt(at + 1))) return undefined;
        word.text += line.charAt(at + 1);
        at += 2;
      } else if (char === "'") {
        const end = line.indexOf("'", at + 1);
        if (end === -1) return undefined;
        word.text += line.slice(at + 1, end);
        at = end + 1;
      } else if (char === '"') {
        if (!readDoubleQuoted(word)) return undefined;
      } else if (char === '$') {
        if (take(VARIABLE) === undefined) return undefined;
        word.hasVariable = true;
        word.expands = true;
      } else {
        if (take(WORD_CHARACTER) === undefined) return undefined;
        word.text += char;
        word.expands ||= EXPANDING.has(char);
      }
    }
    word.source = line.slice(start, at);
    return word;
  }

  function readCommand(mayNegate: boolean): PlainCommand | undefined {
    let negated = false;
    if (mayNegate && line[at] === '!') {
      at++;
      if (!/[ \t]/.test(line.charAt(at))) return undefined;
      skipBlanks(false);
      negated = true;
    }
    let hasAssignments = false;
    while (take(ASSIGNMENT) !== undefined) {
      hasAssignments = true;
      skipBlanks(false);
    }
    const name = take(NAME);
    if (name === undefined || RESERVED.has(name)) return undefined;
    const words: PlainWord[] = [];
    let hasRedirections = false;
    while (skipBlanks(false)) {
      if (take(REDIRECTION) !== undefined) {
        hasRedirections = true;
        continue;
      }
      if (at >= line.length || /[\n;&|#]/.test(line.charAt(at))) break;
      const word = readWord();
      if (!word) return undefined;
      words.push(word);
    }
    skipComment();
    return { name, words, negated, hasAssignments, hasRedirections, operator: undefined };
  }

  const commands: PlainCommand[] = [];
  let pending: Operator | undefined;
  for (;;) {
    skipToCommand();
    const piped = pending === '|' || pending === '|&';
    if (at >= line.length) {
      const unfinished = piped || pending === '&&' || pending === '||';
      return unfinished || commands.length === 0 ? undefined : commands;
    }
    const command = readCommand(!piped);
    if (!command) return undefined;
    commands.push(command);
    if (at >= line.length) return commands;
    const operator = take(OPERATOR);
    if (operator === undefined) return undefined;
    command.operator = pending = asOperator(operator);
  }
}

const OPERATORS: readonly Operator[] = [';', '\n', '&', '&&', '||', '|', '|&'];
const asOperator = (text: string): Operator | undefined => OPERATORS.find((operator) => operator === text);
