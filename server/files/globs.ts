/**
 * Globs of permission rules and of the Glob tool: one dialect for paths and one for other text. Matching takes at most
 * text length times pattern length, for any input; a regular expression could backtrack.
 */

export type Matcher = (text: string) => boolean;

const MAX_ALTERNATIVES = 256;

/** Escapes all characters that have a meaning in a rule's glob. */
export const escapeGlob = (text: string): string => text.replace(/[\\*?[\]{}()|!]/g, '\\$&');

export const unescapeGlob = (pattern: string): string => pattern.replace(/\\(.)/gs, '$1');

/** End of the group that opens at `open` and the commas between its members; undefined if it is not closed. */
function findGroup(pattern: string, open: number): { close: number; commas: number[] } | undefined {
  const commas: number[] = [];
  let depth = 0;
  for (let at = open; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === '\\') at++;
    else if (char === '{') depth++;
    else if (char === ',' && depth === 1) commas.push(at);
    else if (char === '}' && --depth === 0) return { close: at, commas };
  }
  return undefined;
}

/** `a{b,c}` becomes `ab` and `ac`; braces without a comma are literal. Throws above `MAX_ALTERNATIVES`. */
function expandBraces(pattern: string): string[] {
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === '{') {
      const group = findGroup(pattern, at);
      if (!group || group.commas.length === 0) continue;
      const cuts = [at, ...group.commas, group.close];
      const members = cuts.slice(1).map((end, index) => pattern.slice((cuts[index] ?? at) + 1, end));
      const rests = expandBraces(pattern.slice(group.close + 1));
      const heads = members.flatMap(expandBraces);
      if (heads.length * rests.length > MAX_ALTERNATIVES) throw new Error(`more than ${MAX_ALTERNATIVES} alternatives`);
      return heads.flatMap((head) => rests.map((rest) => pattern.slice(0, at) + head + rest));
    }
  }
  return [pattern];
}

const STAR = Symbol('star');
type Token = Matcher | typeof STAR;

/** Normalizes a character for comparison. */
type Fold = (char: string) => string;
const keepCase: Fold = (char) => char;
const ignoreCase: Fold = (char) => char.toLowerCase();

const CLASS = /\[([!^]?)((?:\\[\s\S]|[^\\])(?:\\[\s\S]|[^\\\]])*)\]/y;

/** The bracket expression that begins at `open`; undefined if it is not closed. */
function findClass(pattern: string, open: number): { negated: boolean; body: string; end: number } | undefined {
  CLASS.lastIndex = open;
  const found = CLASS.exec(pattern);
  return found ? { negated: found[1] !== '', body: found[2] ?? '', end: CLASS.lastIndex - 1 } : undefined;
}

/** `[a-z]`, `[!a]`, `[^a]`; undefined if the bracket is not closed and therefore literal. */
function readClass(pattern: string, open: number, fold: Fold): { matches: Matcher; end: number } | undefined {
  const found = findClass(pattern, open);
  if (!found) return undefined;
  const body = unescapeGlob(found.body).replace(/[\\\]^[&~]/g, '\\$&');
  const expression = new RegExp(`^[${found.negated ? '^' : ''}${body}]$`, fold === ignoreCase ? 'is' : 's');
  return { matches: (char) => expression.test(char), end: found.end };
}

function tokenize(pattern: string, fold: Fold): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at);
    const group = char === '[' ? readClass(pattern, at, fold) : undefined;
    if (char === '*') {
      if (tokens.at(-1) !== STAR) tokens.push(STAR);
    } else if (char === '?') tokens.push(() => true);
    else if (group) {
      tokens.push(group.matches);
      at = group.end;
    } else {
      const literal = fold(char === '\\' && at + 1 < pattern.length ? pattern.charAt(++at) : char);
      tokens.push((other) => fold(other) === literal);
    }
  }
  return tokens;
}

/** Greedy matching that backtracks only to the last star; `items` are characters of a text or segments of a path. */
function matchTokens(tokens: readonly Token[], items: ArrayLike<string>): boolean {
  let at = 0;
  let next = 0;
  let star = -1;
  let starAt = 0;
  while (at < items.length) {
    const token = tokens[next];
    if (token === STAR) {
      star = next++;
      starAt = at;
    } else if (token?.(items[at] ?? '')) {
      next++;
      at++;
    } else if (star >= 0) {
      next = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (tokens[next] === STAR) next++;
  return next === tokens.length;
}

/**
 * Matcher for commands, URLs, queries, names and ids: `*` matches any characters, including `/` and line breaks. Throws
 * for an invalid range such as `[z-a]` and for too many alternatives.
 */
export function textGlob(pattern: string): Matcher {
  const alternatives = expandBraces(pattern).map((alternative) => tokenize(alternative, keepCase));
  return (text) => alternatives.some((tokens) => matchTokens(tokens, text));
}

/** The literal suffix of a segment. */
const LITERAL_END = /[^\\*?[\]]*$/;

function segmentToken(segment: string, fold: Fold): Token {
  if (segment === '**') return STAR;
  // Case-insensitive matching folds each character, which is not the same as folding the whole text.
  const [end = ''] = fold === keepCase ? (LITERAL_END.exec(segment) ?? []) : [];
  if (fold === keepCase && end === segment) return (name) => name === segment;
  const tokens = tokenize(segment, fold);
  // A star matches a name or part of it, never an empty segment between two slashes.
  return (name) => (name !== '' || tokens.length === 0) && name.endsWith(end) && matchTokens(tokens, name);
}

/** `a/**` also matches `a`, but `*\/**` only paths below: otherwise it would match every name. */
function pathTokens(pattern: string, fold: Fold): Token[] {
  const segments = pattern.split('/').filter((segment, index, all) => segment !== '**' || all[index - 1] !== '**');
  const tokens = segments.map((segment) => segmentToken(segment, fold));
  const belowStar = segments.at(-1) === '**' && /(^|[^\\])\*$/.test(segments.at(-2) ?? '');
  return belowStar ? tokens.toSpliced(-1, 0, () => true) : tokens;
}

const pathAlternatives = (pattern: string, fold: Fold) =>
  expandBraces(pattern).map((alternative) => pathTokens(alternative, fold));

let lastPath = '';
let lastSegments = [''];

/** Memoizes the last path: many patterns are tested against the same one. */
function segmentsOf(path: string): readonly string[] {
  if (path !== lastPath) {
    lastSegments = path.split('/');
    lastPath = path;
  }
  return lastSegments;
}

function pathMatcher(pattern: string, fold: Fold): Matcher {
  const alternatives = pathAlternatives(pattern, fold);
  return (path) => {
    const segments = segmentsOf(path);
    return alternatives.some((tokens) => matchTokens(tokens, segments));
  };
}

/**
 * Matcher for paths with `/` between segments: `*` and `?` do not match `/`; `**` as a whole segment matches any number
 * of segments, including none; hidden names are not special. Extended globs are not supported, so parentheses and bars
 * are literal. Throws like `textGlob`.
 */
export const fileGlob = (pattern: string): Matcher => pathMatcher(pattern, keepCase);

/** Like `fileGlob`, for names without a `/`. */
export function nameGlob(pattern: string): Matcher {
  const alternatives = pathAlternatives(pattern, keepCase);
  return (name) => alternatives.some((tokens) => matchTokens(tokens, [name]));
}

/** True if a path below the directory with these segments could match. */
function reachesBelow(tokens: readonly Token[], segments: readonly string[]): boolean {
  const add = (next: Set<number>, place: number) => {
    for (let at = place; !next.has(at); at++) {
      next.add(at);
      if (tokens[at] !== STAR) break;
    }
  };
  let places = new Set<number>();
  add(places, 0);
  for (const segment of segments) {
    const next = new Set<number>();
    for (const place of places) {
      const token = tokens[place];
      if (token === STAR) add(next, place);
      else if (token?.(segment)) add(next, place + 1);
    }
    places = next;
  }
  return [...places].some((place) => place < tokens.length);
}

/** True if a path below the given directory could match `fileGlob`. */
export function fileGlobBelow(pattern: string): Matcher {
  const alternatives = pathAlternatives(pattern, keepCase);
  return (directory) => {
    const segments = directory.split('/');
    return alternatives.some((tokens) => reachesBelow(tokens, segments));
  };
}

/** Reason why a strict reader rejects the glob, which is otherwise literal; undefined for a valid one. */
export function globFault(pattern: string): string | undefined {
  let braces = 0;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === '\\' && ++at === pattern.length) return 'nothing follows the last backslash';
    if (char === '{') braces++;
    else if (char === '}' && braces > 0) braces--;
    else if (char === '[') {
      const found = findClass(pattern, at);
      if (!found) return 'a bracket is never closed';
      at = found.end;
    }
  }
  return braces > 0 ? 'a brace is never closed' : undefined;
}

/** Like `fileGlob` but case-insensitive; permission rules match paths with it. */
export const pathGlob = (pattern: string): Matcher => pathMatcher(pattern, ignoreCase);
