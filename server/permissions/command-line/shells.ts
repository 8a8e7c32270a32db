/** Shells and builtins that execute command lines from a word, from their input, or from a file. */
import type { Inner } from './wrappers.ts';
import type { Unquoted } from '#server/processes/shell-words.ts';

export const SHELLS: ReadonlySet<string> = new Set('sh bash dash ash ksh mksh zsh rbash yash csh tcsh fish'.split(' '));

/** Whether the path is a device file of the command's input. */
export const isInputDevice = (path: string): boolean => /^\/dev\/(?:stdin|fd\/)|^\/proc\/[^/]+\/fd\//.test(path);

/** Whether the operand is the output of another command or the input: the lines are not in the words. */
const isInput = (operand: string) => operand.startsWith('<(') || isInputDevice(operand);

const NOTHING: Inner = { commands: [], lines: [] };
const UNREADABLE: Inner = { ...NOTHING, unreadable: true };

/** Parses `sh -c <line>`, `sh <file>`, or `sh` without operand, which reads its input. */
export function shellCommands(words: readonly Unquoted[]): Inner {
  let runsLine = false;
  let readsInput = false;
  let operand: string | undefined;
  for (let at = 1; at < words.length && operand === undefined; at++) {
    const text = words[at]?.text ?? '';
    if (text === '--version' || text === '--help') return NOTHING;
    if (text === '--rcfile' || text === '--init-file') at++;
    else if (text === '--' || text === '-') {
      operand = words[at + 1]?.text;
      break;
    } else if (/^[-+][A-Za-z]/.test(text)) {
      runsLine ||= text.startsWith('-') && text.includes('c');
      readsInput ||= text.startsWith('-') && text.includes('s');
      if (/[oO]$/.test(text)) at++;
    } else if (!text.startsWith('--')) operand = text;
  }
  if (runsLine) return operand === undefined ? NOTHING : { commands: [], lines: [operand] };
  if (readsInput || operand === undefined) return { ...NOTHING, readsInput: true };
  return isInput(operand) ? UNREADABLE : NOTHING;
}

/** Returns the values of a builtin's option, attached or as the next word. */
const valuesOf = (words: readonly Unquoted[], letter: string): string[] =>
  words.flatMap(({ text }, at) => {
    const value = new RegExp(`^-[A-Za-z]*?${letter}(.*)$`, 's').exec(text)?.[1];
    return value === undefined ? [] : [value === '' ? (words[at + 1]?.text ?? '') : value];
  });

const operandsOf = (words: readonly Unquoted[]) => words.slice(1).filter(({ text }) => !/^-./.test(text));

/** Returns the lines and commands that a builtin executes from its arguments; empty for other commands. */
export function builtinCommands(name: string, words: readonly Unquoted[]): Inner {
  switch (name) {
    case 'eval': {
      const [, first] = words;
      const texts = words.slice(first?.text === '--' ? 2 : 1).map(({ text }) => text);
      return { commands: [], lines: [texts.join(' ')] };
    }
    case 'trap': {
      // `-` and an empty word remove a trap.
      const [action] = operandsOf(words);
      return { commands: [], lines: action === undefined || action.text === '-' ? [] : [action.text] };
    }
    case 'mapfile':
    case 'readarray':
    case 'compgen':
    case 'complete':
      return { commands: [], lines: valuesOf(words, 'C') };
    case 'hash':
      // After it, the name runs another program.
      return valuesOf(words, 'p').length > 0 ? UNREADABLE : NOTHING;
    case '.':
    case 'source':
      return isInput(operandsOf(words)[0]?.text ?? '') ? UNREADABLE : NOTHING;
    default:
      return NOTHING;
  }
}
