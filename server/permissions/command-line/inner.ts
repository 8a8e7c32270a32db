/** Extracts what a command runs in turn: commands in its words, lines that it reads. Only for deny and ask rules. */
import { SHELLS, builtinCommands, shellCommands } from './shells.ts';
import type { Unquoted } from '#server/processes/shell-words.ts';
import { gitCommands, isAssignment, wrappedCommands, type Inner } from './wrappers.ts';

const FIND_ACTIONS = new Set(['-exec', '-execdir', '-ok', '-okdir']);

export const baseName = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

function findCommands(words: readonly Unquoted[]): Inner {
  const commands: Unquoted[][] = [];
  for (let at = 0; at < words.length; at++) {
    if (!FIND_ACTIONS.has(words[at]?.text ?? '')) continue;
    const start = at + 1;
    while (at < words.length && !(at > start && [';', '+'].includes(words[at]?.text ?? ''))) at++;
    commands.push(words.slice(start, at));
  }
  return { commands: commands.filter(({ length }) => length > 0), lines: [] };
}

/** Returns what the command runs, one level deep. */
export function innerOf(words: readonly Unquoted[]): Inner {
  const name = baseName(words[0]?.text ?? '');
  const wrapped = wrappedCommands(name, words);
  if (wrapped) return wrapped;
  if (SHELLS.has(name)) return shellCommands(words);
  if (name === 'git') return gitCommands(words);
  return name === 'find' ? findCommands(words) : builtinCommands(name, words);
}

const LEADING = new Set(['if', 'then', 'elif', 'else', 'while', 'until', 'do', 'time', '!', '{', '}', 'coproc', '']);

/**
 * Returns the words without the first one if it only precedes a command: a reserved word, a function's name, an
 * assignment. Undefined when it is the command's name.
 */
function withoutFirst(words: readonly Unquoted[]): readonly Unquoted[] | undefined {
  const text = words[0]?.text;
  if (text === undefined) return undefined;
  if (text === 'function' || (text === 'coproc' && words[2]?.text === '{')) return words.slice(2);
  return LEADING.has(text) || isAssignment(text) ? words.slice(1) : undefined;
}

/** Returns the words of a command, starting with its name. */
export function withoutLeading(words: readonly Unquoted[]): readonly Unquoted[] {
  for (let rest = words; ;) {
    const next = withoutFirst(rest);
    if (!next) return rest;
    rest = next;
  }
}

/** Returns the command within the words of another: the grammar parses `time { a` as a command of that name. */
export function heldCommands(words: readonly Unquoted[]): Unquoted[][] {
  const next = withoutFirst(words);
  return next ? [[...next]] : [];
}
