/** Options with which git writes a file that the line names: `git log` could write git's own configuration. */

const LONG = ['--output', '--output-directory'];
/** Git's commands that have `-o` for it. */
const WITH_SHORT = new Set(['archive', 'bugreport', 'diagnose', 'format-patch']);
const SHORT = /^-[A-Za-z0-9]*o/;

/** The line may leave a variable empty. */
const VARIABLE = /\$(?:\{\w+\}|\w+|[@*#?$!-])/g;
const BRACES = /\{[^{}]*(?:,|\.\.)/;

/**
 * Whether git may take a word (quotes removed) for such an option. It accepts abbreviations of long options, which the
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

/** Whether a command of git, its words joined by blanks, may write a file that it names. */
export function writesOutput(command: string): boolean {
  const words = command.split(/\s+/);
  if (words.some(isOutputOption)) return true;
  return words.some((word) => WITH_SHORT.has(word)) && words.some((word) => SHORT.test(word.replace(VARIABLE, '')));
}
