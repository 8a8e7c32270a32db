/** What a command runs besides itself: commands in its words, lines that it reads. Only for rules that apply in doubt. */
import { SHELLS, builtinCommands, shellCommands } from './shells.ts';
import type { Unquoted } from './words.ts';
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

/** What the command runs, one level deep. */
export function innerOf(words: readonly Unquoted[]): Inner {
  const name = baseName(words[0]?.text ?? '');
  const wrapped = wrappedCommands(name, words);
  if (wrapped) return wrapped;
  if (SHELLS.has(name)) return shellCommands(words);
  if (name === 'git') return gitCommands(words);
  return name === 'find' ? findCommands(words) : builtinCommands(name, words);
}

const LEADING = new Set(['if', 'then', 'elif', 'else', 'while', 'until', 'do', 'time', '!', '{', '}', 'coproc', '']);

/** The words without those that only lead up to a command: reserved words, a function's name, assignments. */
export function withoutLeading(words: readonly Unquoted[]): readonly Unquoted[] {
  let at = 0;
  for (; at < words.length; at++) {
    const text = words[at]?.text ?? '';
    if (text === 'function') at++;
    else if (text === 'coproc' && words[at + 2]?.text === '{') at++;
    else if (!LEADING.has(text) && !isAssignment(text)) break;
  }
  return words.slice(at);
}
