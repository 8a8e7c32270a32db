/** Programs that run a command from their arguments, and the index where it begins. Only for deny and ask rules. */
import type { Unquoted } from '#server/processes/shell-words.ts';

interface Wrapper {
  /** Short options that take the next word, or the rest of their word, as a value. */
  withValue: string;
  /** Long options that take the next word as a value. Without a list both interpretations are tried. */
  longWithValue?: ReadonlySet<string>;
  /** Words between the options and the command. */
  operands?: number;
  /** Whether the operands may be missing: both interpretations are tried. */
  optional?: boolean;
  /** Options may also follow operands. */
  permutes?: boolean;
  /** Options whose value is a command line; after the operands such an option may also replace the command. */
  lines?: readonly string[];
  /** Whether the words from the command on are joined to one command line. */
  joins?: boolean;
  /** Whether a word `-` is an option. */
  dash?: boolean;
  /** Short options with which the program runs no command. */
  showsOnly?: string;
  /** The program starts a shell if there is no command: always (empty), or with one of these options. */
  shell?: string;
  /** Whether the program appends words to the command. */
  extends?: boolean;
}

const LINES = ['c', '--command', '--session-command'];

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ['sudo', { withValue: 'ughpCDRrtT', shell: 'si' }],
  ['doas', { withValue: 'uC', shell: 's' }],
  ['env', { withValue: 'uCS', lines: ['S', '--split-string'], dash: true }],
  ['timeout', { withValue: 'ks', operands: 1 }],
  ['nice', { withValue: 'n' }],
  ['ionice', { withValue: 'cn' }],
  ['xargs', { withValue: 'adEILnPs', extends: true }],
  ['stdbuf', { withValue: 'ioe' }],
  ['time', { withValue: 'fo' }],
  ['exec', { withValue: 'a' }],
  ['coproc', { withValue: '' }],
  ['command', { withValue: '', showsOnly: 'vV' }],
  ['builtin', { withValue: '' }],
  ['nohup', { withValue: '' }],
  ['setsid', { withValue: '' }],
  ['busybox', { withValue: '' }],
  ['flock', { withValue: 'wEc', operands: 1, lines: LINES }],
  ['su', { withValue: 'csgGwT', operands: 1, permutes: true, lines: LINES, dash: true, shell: '' }],
  ['runuser', { withValue: 'cusgGwT', operands: 1, optional: true, permutes: true, lines: LINES, dash: true }],
  ['script', { withValue: 'cEIOBTmo', operands: 1, permutes: true, lines: LINES }],
  ['unshare', { withValue: 'SGRw', shell: '' }],
  ['taskset', { withValue: '', operands: 1 }],
  ['chrt', { withValue: 'TPD', operands: 1, optional: true }],
  ['prlimit', { withValue: 'po' }],
  ['strace', { withValue: 'abeEIoOpPsSuUX' }],
  ['ltrace', { withValue: 'aADeFlnopsuwxX' }],
  ['setpriv', { withValue: '' }],
  ['nsenter', { withValue: 'tSGW', shell: '' }],
  ['watch', { withValue: 'nqs', joins: true }],
  ['chroot', { withValue: '', operands: 1, shell: '' }],
  ['parallel', { withValue: 'jNLnaSIdCsPE', joins: true, shell: '', extends: true }],
  ['unbuffer', { withValue: '' }],
  ['caffeinate', { withValue: 'tw' }],
]);

const GIT: Wrapper = {
  withValue: 'Cc',
  longWithValue: new Set(
    ['git-dir', 'work-tree', 'namespace', 'exec-path', 'config-env', 'super-prefix', 'attr-source'].map(
      (name) => `--${name}`,
    ),
  ),
};
const ALIAS = /^alias\..+?=(!?)(.*)$/is;

const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;

export const isAssignment = (text: string): boolean => ASSIGNMENT.test(text);

/** More candidate positions than real options produce: with more the command is unreadable. */
const MAX_STARTS = 20;

/** The commands and lines that a command runs in turn. */
export interface Inner {
  /** Words of each command that it runs. */
  commands: Unquoted[][];
  /** Command lines that it executes. */
  lines: string[];
  /** Whether it is a shell that reads its lines from its input. */
  readsInput?: boolean;
  /** Whether the commands get further words. */
  extends?: boolean;
  /** Whether it runs something that the line does not contain. */
  unreadable?: boolean;
}

interface Options {
  /** Candidate indexes of the command, after options and operands. */
  starts: Set<number>;
  /** Possible values of options: short ones by letter, long ones with their dashes. */
  values: [option: string, value: string][];
  /** Letters of the short options. */
  letters: string;
}

function readOptions(words: readonly Unquoted[], wrapper: Wrapper): Options {
  const { operands = 0, optional, permutes } = wrapper;
  const options: Options = { starts: new Set(), values: [], letters: '' };
  const seen = new Set<number>();
  const places = [1];
  const addStart = (at: number) => {
    options.starts.add(at + operands);
    if (optional) options.starts.add(at);
  };
  const addValue = (option: string, value: string | undefined) => {
    if (value !== undefined) options.values.push([option, value]);
  };
  for (let at = places.pop(); at !== undefined && options.starts.size < MAX_STARTS; at = places.pop()) {
    const text = words[at]?.text;
    if (text === undefined || seen.has(at)) continue;
    seen.add(at);
    if (text === '--') addStart(skipAssignments(words, at + 1));
    else if (text.startsWith('--')) {
      const [name, value] = splitOnce(text);
      const takesNext = value === undefined ? wrapper.longWithValue?.has(name) : false;
      addValue(name, value ?? words[at + 1]?.text);
      if (takesNext !== true) places.push(at + 1);
      if (takesNext !== false) places.push(at + 2);
    } else if (text.startsWith('-') && text.length > 1) {
      if (wrapper.showsOnly && Array.from(text).some((char) => wrapper.showsOnly?.includes(char))) continue;
      const letter = Array.from(text).findIndex((char, index) => index > 0 && wrapper.withValue.includes(char));
      const attached = letter > 0 && letter < text.length - 1;
      options.letters += text.slice(1, letter > 0 ? letter + 1 : undefined);
      if (letter > 0) addValue(text.charAt(letter), attached ? text.slice(letter + 1) : words[at + 1]?.text);
      places.push(letter > 0 && !attached ? at + 2 : at + 1);
    } else if ((wrapper.dash && text === '-') || (isAssignment(text) && !wrapper.joins)) places.push(at + 1);
    else {
      addStart(at);
      if (permutes) places.push(at + 1);
    }
  }
  return options;
}

function skipAssignments(words: readonly Unquoted[], start: number): number {
  let at = start;
  while (isAssignment(words[at]?.text ?? '')) at++;
  return at;
}

function splitOnce(text: string): [name: string, value: string | undefined] {
  const at = text.indexOf('=');
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** Returns what a program of the table runs; undefined for other programs. */
export function wrappedCommands(name: string, words: readonly Unquoted[]): Inner | undefined {
  const wrapper = WRAPPERS.get(name);
  if (!wrapper) return undefined;
  const { starts, values, letters } = readOptions(words, wrapper);
  const commands = [...starts].map((at) => words.slice(at)).filter(({ length }) => length > 0);
  const lines = values.flatMap(([option, value]) => (wrapper.lines?.includes(option) ? [value] : []));
  // `flock <file> -c <line>`: after the operands the option replaces the command.
  for (const [option, value] of commands) {
    if (value && wrapper.lines?.includes(option?.text.replace(/^-(?=[^-])/, '') ?? '')) lines.push(value.text);
  }
  if (wrapper.joins) lines.push(...commands.map((command) => command.map(({ text }) => text).join(' ')));
  const { shell } = wrapper;
  const startsShell = shell !== undefined && (shell === '' || Array.from(shell).some((char) => letters.includes(char)));
  const readsInput = startsShell && commands.length === 0 && lines.length === 0;
  // `parallel ::: <line> <line>`: each argument is a line.
  const unreadable = starts.size >= MAX_STARTS || commands.some(([first]) => first?.text.startsWith(':::'));
  return { commands, lines, readsInput, unreadable, extends: wrapper.extends === true };
}

/** Returns a git command without git's global options, and the lines of aliases defined by its options. */
export function gitCommands(words: readonly Unquoted[]): Inner {
  const { starts, values } = readOptions(words, GIT);
  return {
    commands: [...starts].filter((at) => at > 1).map((at) => [...words.slice(0, 1), ...words.slice(at)]),
    lines: values.flatMap(([letter, value]) => {
      const [, shell, text] = (letter === 'c' && ALIAS.exec(value)) || [];
      return text === undefined ? [] : [shell ? text : `git ${text}`];
    }),
  };
}
