/**
 * Allowlist of Bash's builtins in plain lines. Many builtins evaluate text that they receive as data (`eval`, `trap`,
 * `test -v 'a[$(…)]'`) or set a variable that changes the meaning of the next name, so only these forms are accepted.
 */
import type { PlainCommand, PlainWord } from './reader.ts';

const FORBIDDEN = new Set(
  (
    '. [ alias bg bind break builtin caller cd chdir compgen complete compopt continue declare dirs disown enable eval ' +
    'exec export fc fg getopts hash history let local logout mapfile popd pushd read readarray readonly return ' +
    'shift shopt source suspend trap typeset ulimit unalias unset'
  ).split(' '),
);
/** Special builtins: assignments before them persist when Bash runs as `sh`. */
const SPECIAL = new Set([':', 'exit', 'set', 'times']);
/** A conversion of printf that only prints; `%n` would set a variable, for example PATH. */
const CONVERSION = /%[-+ 0#'.*\d]*[diouxXeEfFgGaAcsbq%]/g;

const isLiteral = ({ expands, hasVariable }: PlainWord) => !expands && !hasVariable;
const isOperand = (word: PlainWord) => isLiteral(word) && !word.text.startsWith('-');

function isPlainPrintf([format]: readonly PlainWord[]): boolean {
  if (!format) return true;
  return isOperand(format) && !format.text.replace(CONVERSION, '').includes('%');
}

/** `-v` and `-R` evaluate subscripts; a variable could expand to one of them or to an empty word. */
function isPlainTest(words: readonly PlainWord[]): boolean {
  return words.every(({ text, expands, hasVariable }) => {
    if (expands) return false;
    return hasVariable ? !text.startsWith('-') : text !== '-v' && text !== '-R';
  });
}

/** Accepts only `-e`, `-u` and `-o pipefail`, combined or separate. */
function isPlainSet(words: readonly PlainWord[]): boolean {
  return words.length > 0 && /^(?:-(?:[eu]+|[eu]*o pipefail) ?)+$/.test(words.map(({ source }) => source).join(' '));
}

/** Whether the command is a program, or a builtin in a form without hidden effects. */
export function isPlainCommand({ name, words, hasAssignments }: PlainCommand): boolean {
  if (hasAssignments && SPECIAL.has(name)) return false;
  switch (name) {
    case 'printf':
      return isPlainPrintf(words);
    case 'test':
      return isPlainTest(words);
    case 'wait':
    case 'jobs':
      return words.every(isOperand);
    case 'command':
      return words.length === 2 && words[0]?.source === '-v' && words.slice(1).every(isOperand);
    case 'set':
      return isPlainSet(words);
    default:
      return !FORBIDDEN.has(name);
  }
}

const RULELESS = new Set(['true', 'false', ':', 'pwd', 'set']);

/** Whether a plain command may run without any rule: it changes nothing and reveals nothing. */
export const needsNoRule = ({ name }: PlainCommand): boolean => RULELESS.has(name);

/**
 * Returns the directory of a `cd <directory> &&` at the start of a line, only where every later command depends on it:
 * after `;`, `||` or `&` commands would run in the old directory after a `cd` that failed on purpose.
 */
export function headDirectory(commands: readonly PlainCommand[]): string | undefined {
  const [head, ...rest] = commands;
  if (head?.name !== 'cd' || head.operator !== '&&' || rest.length === 0) return undefined;
  if (head.negated || head.hasAssignments || head.hasRedirections) return undefined;
  const [directory, ...more] = head.words;
  if (!directory || more.length > 0 || !isOperand(directory) || directory.text === '') return undefined;
  const dependent = rest.every(({ operator }) => !operator || ['&&', '|', '|&'].includes(operator));
  return dependent ? directory.text : undefined;
}
