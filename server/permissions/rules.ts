/** Whether a permission rule's pattern fits a call (engine.md §6.3). */
import { homedir } from 'node:os';
import { isAbsolute, posix, sep } from 'node:path';
import type { RuleSubject } from '#server/tools/tool.ts';
import { otherSpellings, splitCommandLine } from './command-line.ts';
import { escapeGlob, pathGlob, textGlob, unescapeGlob } from '#server/files/globs.ts';
import type { Pattern } from './patterns.ts';

/** What rules see of a call. */
export interface RuledCall {
  toolName: string;
  subject: RuleSubject;
  cwd: string;
  /** Resolves the links of a path, as `Runtime` does. */
  realpath(path: string): Promise<string>;
}

/** `block`: deny and ask rules, which apply when in doubt. `allow`: which apply only without one. */
type Use = 'allow' | 'block';

const toSlashes = (path: string) => (sep === '\\' ? path.replaceAll('\\', '/') : path);
const escapedPath = (path: string) => escapeGlob(toSlashes(path));

/** The pattern's absolute form: `./` stripped, `~` expanded, joined to `cwd`. */
function absolutePattern(args: string, cwd: string): string {
  const stripped = args.replace(/^(\.\/)+/, '');
  if (stripped === '~') return escapedPath(homedir());
  if (stripped.startsWith('~/')) return posix.join(escapedPath(homedir()), stripped.slice(2));
  return isAbsolute(stripped) ? posix.normalize(stripped) : posix.join(escapedPath(cwd), stripped);
}

/** The same pattern with the links in its fixed part resolved, to be held against real paths. */
async function realPattern(pattern: string, realpath: RuledCall['realpath']): Promise<string> {
  const segments = pattern.split('/');
  const open = segments.findIndex((segment) => /[*?[{]/.test(segment.replace(/\\./gs, '')));
  const fixed = open === -1 ? segments : segments.slice(0, open);
  const real = escapedPath(await realpath(unescapeGlob(fixed.join('/')) || '/'));
  return open === -1 ? real : posix.join(real, ...segments.slice(open));
}

/**
 * The path is tried as named and with its links resolved. A block rule applies when either fits; an allow rule only
 * when both do, so that a link cannot lead out of what was allowed. Negation turns that around.
 */
async function pathFits(
  { args, negated }: { args: string; negated: boolean },
  path: string,
  { cwd, realpath }: RuledCall,
  use: Use,
) {
  const absolute = absolutePattern(args, cwd);
  const globs = [absolute, ...(args.startsWith('**') ? [args] : [])].map(pathGlob);
  const realGlobs = [...globs, pathGlob(await realPattern(absolute, realpath))];
  const real = toSlashes(await realpath(path));
  const asNamed = globs.some((glob) => glob(toSlashes(path)));
  const resolved = realGlobs.some((glob) => glob(real));
  const both = (use === 'allow') !== negated;
  return (both ? asNamed && resolved : asNamed || resolved) !== negated;
}

function commandBlocked(args: string, negated: boolean, line: string): boolean {
  const matches = textGlob(args);
  const { commands } = splitCommandLine(line);
  const units = commands.map((command) => [command, ...otherSpellings(command)]);
  // The whole line counts for what it holds, not for what it does not.
  if (!negated || units.length === 0) units.push([line]);
  return units.some((spellings) => spellings.some((text) => matches(text)) !== negated);
}

const isLiteral = ({ args, negated }: Pattern, text: string) =>
  !negated && (args === text || args === escapeGlob(text));

/** Whether a deny or ask rule applies to the call. */
export async function blocks(pattern: Pattern, call: RuledCall): Promise<boolean> {
  const { toolName, subject } = call;
  const { args, negated } = pattern;
  if (!pattern.matchesTool(toolName)) return false;
  if (args === undefined) return true;
  if (subject.text === undefined) return false;
  if (subject.match === 'path') return pathFits({ args, negated }, subject.text, call, 'block');
  if (subject.match === 'command') return commandBlocked(args, negated, subject.text);
  if (subject.match === 'literal') return isLiteral(pattern, subject.text);
  return textGlob(args)(subject.text) !== negated;
}

/** Whether the allow rules together approve the call: for a command line every simple command needs one. */
export async function allows(patterns: readonly Pattern[], call: RuledCall): Promise<boolean> {
  const { toolName, subject } = call;
  const { text } = subject;
  const fitting = patterns.filter((pattern) => pattern.matchesTool(toolName));
  if (fitting.some(({ args }) => args === undefined)) return true;
  if (text === undefined) return false;
  if (subject.match === 'command') return commandAllowed(fitting, text);
  for (const pattern of fitting) {
    const { args, negated } = pattern;
    if (args === undefined) continue;
    if (subject.match === 'literal' && isLiteral(pattern, text)) return true;
    if (subject.match === 'path' && (await pathFits({ args, negated }, text, call, 'allow'))) return true;
    if (subject.match === 'glob' && textGlob(args)(text) !== negated) return true;
  }
  return false;
}

function commandAllowed(patterns: readonly Pattern[], line: string): boolean {
  if (patterns.some((pattern) => isLiteral(pattern, line))) return true;
  const { commands, opaque } = splitCommandLine(line);
  if (opaque || commands.length === 0) return false;
  const matchers = patterns.flatMap(({ args, negated }) =>
    args === undefined ? [] : [{ matches: textGlob(args), negated }],
  );
  return commands.every((command) => matchers.some(({ matches, negated }) => matches(command) !== negated));
}
