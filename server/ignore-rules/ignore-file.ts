/**
 * Parser for one ignore file. Matching takes at most pattern length times name length: projects supply these files, and
 * a regular expression for `*a*a*a*` could backtrack for hours.
 */
import { onlyBelow } from '#server/files/entry-globs.ts';
import { fileGlob, globFault, nameGlob, type Matcher } from '#server/files/globs.ts';

export interface IgnoreFile {
  /**
   * True if the last matching pattern ignores the entry, false if it re-includes it, undefined if none matches. `path`
   * is relative to the file's directory; `name` is its last segment.
   */
  match(path: string, name: string, isDirectory: boolean): boolean | undefined;
}

interface Rule {
  ignores: boolean;
  directoriesOnly: boolean;
  /** Matched against the name instead of the path. */
  ofName: boolean;
  matches: Matcher;
}

const SPECIAL = /[\\*?[\]{}]/;

/** Fast paths for literal names and `*.ext`, the most common patterns. */
function nameMatcher(pattern: string): Matcher {
  if (!SPECIAL.test(pattern)) return (name) => name === pattern;
  const [star, rest] = [pattern[0], pattern.slice(1)];
  if (star === '*' && rest !== '' && !SPECIAL.test(rest)) return (name) => name.endsWith(rest);
  return nameGlob(literalBraces(pattern));
}

const pathMatcher = (pattern: string): Matcher => fileGlob(literalBraces(onlyBelow(pattern.replace(/^\//, ''))));

/** Braces are literal in ignore files. */
const literalBraces = (pattern: string) =>
  pattern.replace(/\\[\s\S]|[{}]/g, (part) => (part.length > 1 ? part : `\\${part}`));

const asBytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

/** `?` and a bracket match one byte, as in git and ripgrep; other pattern syntax does not depend on it. */
function byteWise(pattern: string, compile: (pattern: string) => Matcher): Matcher {
  if (!/[?[]/.test(pattern)) return compile(pattern);
  const matches = compile(asBytes(pattern));
  return (text) => matches(asBytes(text));
}

/** Strips trailing spaces unless a backslash escapes them. */
function trimmed(line: string): string {
  const bare = line.replace(/ +$/, '');
  return bare === line || !/(^|[^\\])(\\\\)*\\$/.test(bare) ? bare : `${bare} `;
}

function parseLine(line: string): Rule | undefined {
  if (line.startsWith('#')) return undefined;
  let pattern = trimmed(line);
  const ignores = !pattern.startsWith('!');
  if (!ignores) pattern = pattern.slice(1);
  const directoriesOnly = pattern.endsWith('/');
  if (directoriesOnly) pattern = pattern.slice(0, -1);
  if (pattern === '' || pattern === '/' || globFault(pattern.replace(/[{}]/g, '')) !== undefined) return undefined;
  const ofName = !pattern.includes('/');
  try {
    const matches = ofName ? byteWise(pattern, nameMatcher) : byteWise(pattern, pathMatcher);
    return { ignores, directoriesOnly, ofName, matches };
  } catch {
    // A reversed range matches no entry.
    return undefined;
  }
}

/** Undefined for a file without patterns. */
export function parseIgnoreFile(text: string): IgnoreFile | undefined {
  const rules: Rule[] = [];
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const rule = line === '' ? undefined : parseLine(line);
    if (rule) rules.push(rule);
  }
  if (rules.length === 0) return undefined;
  return {
    match(path, name, isDirectory) {
      for (let at = rules.length - 1; at >= 0; at--) {
        const rule = rules[at];
        if (!rule || (rule.directoriesOnly && !isDirectory)) continue;
        if (rule.matches(rule.ofName ? name : path)) return rule.ignores;
      }
      return undefined;
    },
  };
}
