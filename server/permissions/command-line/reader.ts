/**
 * The strict reader of Bash lines. It knows only lines of simple commands and consumes every character by a positive
 * rule; what no rule takes makes the whole line opaque. It never has to know what else Bash can do.
 */

export const MAX_LINE_CHARS = 10_000;

/** A word behind a command's name. */
export interface PlainWord {
  /** As written. */
  source: string;
  /** Quotes removed; variables left out. */
  text: string;
  /** Holds a variable, quoted or not. */
  hasVariable: boolean;
  /** Bash may make other or more words of it: an unquoted variable, glob, brace or tilde. */
  expands: boolean;
}

type Operator = ';' | '\n' | '&' | '&&' | '||' | '|' | '|&';

export interface PlainCommand {
  name: string;
  words: PlainWord[];
  negated: boolean;
  hasAssignments: boolean;
  hasRedirections: boolean;
  /** The operator behind it; none behind the last. */
  operator: Operator | undefined;
}

/**
 * Neither a visible character nor blank, tab or line feed: other controls and spaces, format characters, surrogates.
 */
const INVISIBLE = /[^\t\n -~\p{L}\p{M}\p{N}\p{P}\p{S}]|[\p{Default_Ignorable_Code_Point}\u2800]/u;

const RESERVED = new Set(
  'if then elif else fi case esac for select while until do done in function time coproc'.split(' '),
);

// What ends a word: everything else right behind it would be part of it, or turn it into a redirection's descriptor.
const END = '(?=[ \\t\\n;&|]|$)';
const NAME = new RegExp(`(?:[A-Za-z0-9_./][A-Za-z0-9_./+@%:,-]*|:)${END}`, 'y');
const OPERATOR = /&&|\|\||\|&|[;\n&|]/y;
const REDIRECTION = new RegExp(
  `(?:\\d{0,4}(?:[<>]&(?:\\d{1,4}|-)|(?:>>?|<)[ \\t]*/dev/null)|&>>?[ \\t]*/dev/null)${END}`,
  'y',
);
/** Variables that only tell a program how to show things or what to call itself; any other may name a program to run. */
const ASSIGNMENT_NAME =
  'CI|DEBUG|NODE_ENV|FORCE_COLOR|NO_COLOR|CLICOLOR|TERM|LANG|LC_[A-Z]+|TZ|RUST_LOG|RUST_BACKTRACE';
/** Scripts calculate with these, and Bash runs substitutions within what it calculates with. */
const NUMBER_NAME = 'PORT|COLUMNS|LINES';
/** Nothing in a value means anything where a script evaluates it. */
const VALUE_CHARACTER = 'A-Za-z0-9_%+,./:=@-';
const ASSIGNMENT = new RegExp(
  `(?:(?:${NUMBER_NAME})=(?:\\d|'\\d*'|"\\d*")*|` +
    `(?:${ASSIGNMENT_NAME})=(?:[${VALUE_CHARACTER}]|'[ ${VALUE_CHARACTER}]*'|"[ ${VALUE_CHARACTER}]*")*)(?=[ \\t])`,
  'y',
);
/** `$_` is left out: it carries any word of the command before to where a variable is taken for harmless. */
const VARIABLE = /\$(?:(?!_\b)[A-Za-z_]\w*|\{(?!_\})[A-Za-z_]\w*\}|[0-9?$!#@*-])/y;
/** A dollar sign inside double quotes that stands for itself. */
const LONE_DOLLAR = /\$(?=["|)/., ])/y;
const WORD_CHARACTER = /[A-Za-z0-9_%+,./:=@^~*?[\]{}!#-]|[^\0-\x7f]/y;
const EXPANDING = new Set(['*', '?', '[', '{', '~']);

/** The simple commands of a plain line, in order; undefined when it is opaque. */
export function readPlainLine(line: string): PlainCommand[] | undefined {
  if (line.length > MAX_LINE_CHARS || INVISIBLE.test(line)) return undefined;
  let at = 0;

  /** The text that the expression takes at this place; the place moves behind it. */
  function take(expression: RegExp): string | undefined {
    expression.lastIndex = at;
    const found = expression.exec(line)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  }

  /** Blanks, and continued lines where no word can be cut in two. Returns whether a word may begin here. */
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

  /** Blanks, comments and empty lines in front of a command. */
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

  /** What stands between double quotes, the quotes included. */
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
