/**
 * The files that a command line in git's configuration may name, read with suspicion: as it is written, and as a shell
 * would pass its words on.
 */
import { join, normalize, resolve } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import { unquote } from '#server/processes/shell-words.ts';
import { expandPath } from './configuration.ts';

export interface NamedPaths {
  /** Paths end with one of them: where the directory before it leads is known to the shell alone. */
  ends: string[];
  /** Sources of regular expressions that paths match, of words with globs or expansions. */
  patterns: string[];
  /** Those ends and patterns that may be anywhere, not only below the top. */
  unplaced: string[];
  /** Where the words lead when the shell runs at the top of the work tree. */
  paths: string[];
}

/** Lines in lines (`sh -c '…'`): deeper ones are not read. */
const MAX_DEPTH = 5;

/** The text between the places where a word of a command line may begin or end. */
const WORDS = /[^\s'"`;&|()<>{}=,]+/g;
/** A word with its quotes and escapes. */
const SHELL_WORD = /(?:\\[\s\S]|\$'(?:[^'\\]|\\[\s\S])*'|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|[^\s'"\\`;&|()<>])+/g;

/** Stands for a text that only the shell knows. No value of git's configuration holds it. */
const UNKNOWN = '\0';
const EXPANSION = /\$\{[^{}]*\}|\$\([^()]*\)|`[^`]*`|\$\w+|\$[@*#?$!-]|\{[^{}\s'"]*(?:,|\.\.)[^{}\s'"]*\}/g;
const GLOB = /\[[^\]]*\]|[*?\0]/g;

/** The line, and the texts that a shell makes of its words, quotes removed. */
function* spellings(line: string, depth = 0): Generator<string> {
  yield line;
  if (depth === MAX_DEPTH) return;
  for (const [source] of line.matchAll(SHELL_WORD)) {
    const { text } = unquote(source);
    if (text !== source) yield* spellings(text, depth + 1);
  }
}

/** The line with expansions and substitutions replaced, from the inside out. */
function withoutExpansions(line: string): string {
  let text = line;
  for (let depth = 0; depth < MAX_DEPTH; depth++) text = text.replace(EXPANSION, UNKNOWN);
  return text;
}

function wordsOf(line: string): Set<string> {
  const words = new Set<string>();
  for (const text of spellings(line)) {
    for (const form of [text, withoutExpansions(text)]) for (const word of form.match(WORDS) ?? []) words.add(word);
  }
  return words;
}

/** The source of an expression for paths that end with the text. */
function patternOf(end: string): string {
  let source = '';
  let at = 0;
  const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  for (const found of end.matchAll(GLOB)) {
    source += literal(end.slice(at, found.index)) + (found[0] === UNKNOWN ? '.*' : found[0] === '*' ? '[^/]*' : '[^/]');
    at = found.index + found[0].length;
  }
  return `${source}${literal(end.slice(at))}$`;
}

/**
 * The files that a command line may name. A word with a slash names every path that ends with it, another one a file at
 * the top, where git runs it.
 */
export function namedPaths(line: string, top: string, home: string): NamedPaths {
  const moves = /\bcd\b/.test(line);
  const named: NamedPaths = { ends: [], patterns: [], unplaced: [], paths: [] };
  for (const word of wordsOf(line)) {
    // Where a variable leads is not known; options and placeholders of git lead nowhere.
    const [start = ''] = /^(?:\$\w*|\0)/.exec(word) ?? [];
    const path = normalize(word.startsWith('~') ? expandPath(word, top, home) : word.slice(start.length));
    const rest = path.replace(/^(?:\.\.?\/)+/, '');
    if (/^[-%]|^(?:\.{0,2}|\/)$/.test(rest)) continue;
    const isPattern = rest.search(GLOB) !== -1;
    // Most globs without a letter are no file names but regular expressions.
    if (isPattern && !/[A-Za-z0-9]/.test(rest.replace(GLOB, ''))) continue;
    const isName = !word.includes('/') && !moves && !rest.includes(UNKNOWN) && start === '';
    const joined = start === UNKNOWN && !rest.startsWith('/');
    const end = isName ? join(top, rest) : rest.startsWith('/') ? rest : `/${rest}`;
    const text = isPattern || joined ? patternOf(joined ? rest : end) : end;
    (isPattern || joined ? named.patterns : named.ends).push(text);
    const place = resolve(top, path);
    const isPlaced = start === '' && !(moves && !rest.startsWith('/')) && !rest.includes(UNKNOWN);
    if (!isPlaced || (isPattern && !isInside(place, top))) named.unplaced.push(text);
    if (!isPattern && !joined) named.paths.push(place);
  }
  return named;
}
