/** Options that make git write a file named in the line: `git log` could overwrite git's own configuration. */

const LONG = ['--output', '--output-directory'];
/** Git's commands whose `-o` is such an option. */
const WITH_SHORT = new Set(['archive', 'bugreport', 'diagnose', 'format-patch']);
const SHORT = /^-[A-Za-z0-9]*o/;

/** A variable, which may expand to an empty text. */
const VARIABLE = /\$(?:\{\w+\}|\w+|[@*#?$!-])/g;
const BRACES = /\{[^{}]*(?:,|\.\.)/;

/**
 * Whether git may parse a word (quotes removed) as such an option. Git accepts abbreviations of long options, which the
 * shell may complete by expanding braces.
 */
export function isOutputOption(word: string): boolean {
  const text = word.replace(VARIABLE, '');
  const [name = ''] = text.split('=');
  if (name.length > 2 && LONG.some((option) => option.startsWith(name))) return true;
  if (!BRACES.test(text)) return false;
  const start = text.slice(0, text.indexOf('{'));
  return start === '' ? text.includes('-') : LONG.some((option) => option.startsWith(start));
}

/** Whether a git command, its words joined by blanks, may write a file that it names. */
export function writesOutput(command: string): boolean {
  const words = command.split(/\s+/);
  if (words.some(isOutputOption)) return true;
  return words.some((word) => WITH_SHORT.has(word)) && words.some((word) => SHORT.test(word.replace(VARIABLE, '')));
}
