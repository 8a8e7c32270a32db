/** What stands behind programs that run the command they are given. Only for rules that apply in doubt. */
import type { Unquoted } from './words.ts';

interface Wrapper {
  /** Short options that take the next word, or the rest of theirs, for a value. */
  withValue: string;
  /** Words between the options and the command. */
  operands?: number;
  /** Options whose value is a command line itself. */
  script?: string;
  /** With one of these it runs nothing. */
  showsOnly?: string;
}

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map([
  ['sudo', { withValue: 'ughpCDRrtT' }],
  ['doas', { withValue: 'uC' }],
  ['env', { withValue: 'uCS', script: 'S' }],
  ['timeout', { withValue: 'ks', operands: 1 }],
  ['nice', { withValue: 'n' }],
  ['ionice', { withValue: 'cn' }],
  ['xargs', { withValue: 'adEILnPs' }],
  ['stdbuf', { withValue: 'ioe' }],
  ['time', { withValue: 'fo' }],
  ['exec', { withValue: 'a' }],
  ['coproc', { withValue: '' }],
  ['command', { withValue: '', showsOnly: 'vV' }],
  ['builtin', { withValue: '' }],
  ['nohup', { withValue: '' }],
  ['setsid', { withValue: '' }],
  ['busybox', { withValue: '' }],
]);
const SHELLS = new Set(['sh', 'bash', 'dash', 'ash', 'ksh', 'zsh']);
const FIND_ACTIONS = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;

/** More places than any real options leave open. */
const MAX_STARTS = 20;

interface Inner {
  /** Words of commands that it runs. */
  commands: Unquoted[][];
  /** Command lines that it reads. */
  scripts: string[];
}

export const baseName = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

/**
 * Places where the wrapped command may begin. A long option may or may not take the next word: both places count.
 */
function commandStarts(words: readonly Unquoted[], wrapper: Wrapper, inner: Inner): Set<number> {
  const starts = new Set<number>();
  const seen = new Set<number>();
  const places = [1];
  for (let at = places.pop(); at !== undefined && starts.size < MAX_STARTS; at = places.pop()) {
    const text = words[at]?.text;
    if (text === undefined || seen.has(at)) continue;
    seen.add(at);
    if (text === '--') starts.add(skipAssignments(words, at + 1 + (wrapper.operands ?? 0)));
    else if (text.startsWith('--')) {
      places.push(at + 1);
      if (!text.includes('=')) places.push(at + 2);
      else if (wrapper.script && text.startsWith('--split-string='))
        inner.scripts.push(text.slice(text.indexOf('=') + 1));
      if (wrapper.script && text === '--split-string') inner.scripts.push(words[at + 1]?.text ?? '');
    } else if (text.startsWith('-') && text.length > 1) {
      const letter = Array.from(text).findIndex((char, index) => index > 0 && wrapper.withValue.includes(char));
      if (wrapper.showsOnly && Array.from(text).some((char) => wrapper.showsOnly?.includes(char))) continue;
      const attached = letter > 0 && letter < text.length - 1;
      if (letter > 0 && wrapper.script?.includes(text.charAt(letter))) {
        inner.scripts.push(attached ? text.slice(letter + 1) : (words[at + 1]?.text ?? ''));
      }
      places.push(letter > 0 && !attached ? at + 2 : at + 1);
    } else if (ASSIGNMENT.test(text)) places.push(at + 1);
    else starts.add(at + (wrapper.operands ?? 0));
  }
  return starts;
}

function skipAssignments(words: readonly Unquoted[], start: number): number {
  let at = start;
  while (ASSIGNMENT.test(words[at]?.text ?? '')) at++;
  return at;
}

/** The line that `sh -c` runs: its first operand, when one of the options in front holds a `c`. */
function shellScript(words: readonly Unquoted[]): string | undefined {
  let runsScript = false;
  for (let at = 1; at < words.length; at++) {
    const text = words[at]?.text ?? '';
    if (text === '--rcfile' || text === '--init-file') at++;
    else if (text === '--') continue;
    else if (/^[-+][A-Za-z]/.test(text)) {
      runsScript ||= text.startsWith('-') && text.includes('c');
      if (/[oO]$/.test(text)) at++;
    } else if (!text.startsWith('--')) return runsScript ? text : undefined;
  }
  return undefined;
}

function findCommands(words: readonly Unquoted[]): Unquoted[][] {
  const commands: Unquoted[][] = [];
  for (let at = 0; at < words.length; at++) {
    if (!FIND_ACTIONS.has(words[at]?.text ?? '')) continue;
    const start = at + 1;
    while (at < words.length && !(at > start && [';', '+'].includes(words[at]?.text ?? ''))) at++;
    commands.push(words.slice(start, at));
  }
  return commands;
}

/** What a command that wraps others runs; nothing for any other command. */
export function innerOf(words: readonly Unquoted[]): Inner {
  const inner: Inner = { commands: [], scripts: [] };
  const name = baseName(words[0]?.text ?? '');
  const wrapper = WRAPPERS.get(name);
  if (wrapper) {
    for (const start of commandStarts(words, wrapper, inner)) inner.commands.push(words.slice(start));
  } else if (name === 'find') inner.commands.push(...findCommands(words));
  else if (name === 'eval')
    inner.scripts.push(
      words
        .slice(1)
        .map(({ text }) => text)
        .join(' '),
    );
  else if (SHELLS.has(name)) inner.scripts.push(shellScript(words) ?? '');
  return { commands: inner.commands.filter(({ length }) => length > 0), scripts: inner.scripts.filter(Boolean) };
}

const LEADING = new Set(['if', 'then', 'elif', 'else', 'while', 'until', 'do', 'time', '!', '{', '}', 'coproc', '']);

/** The words without those that only lead up to a command: reserved words, a function's name, assignments. */
export function withoutLeading(words: readonly Unquoted[]): readonly Unquoted[] {
  let at = 0;
  for (; at < words.length; at++) {
    const text = words[at]?.text ?? '';
    if (text === 'function') at++;
    else if (text === 'coproc' && words[at + 2]?.text === '{') at++;
    else if (!LEADING.has(text) && !ASSIGNMENT.test(text)) break;
  }
  return words.slice(at);
}
