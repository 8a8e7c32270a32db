/**
 * Splitting a shell command line into its simple commands (engine.md §6.3).
 *
 * The shell-quote library cannot do this alone: it drops line breaks, takes the rest of the text for a comment, and does
 * not keep the source text that rules are matched against. Here it only takes the quotes off a single command.
 */
import { parse } from 'shell-quote';

export interface CommandLine {
  /** Source text of the simple commands, comments left out. */
  commands: string[];
  /**
   * The line does more than its simple commands say, or cannot be read with certainty: substitutions, here-documents,
   * redirections into a file, quoting that shells disagree on. Allow rules do not see through it.
   */
  opaque: boolean;
}

const SEPARATORS = new Set([';', '&', '|', '(', ')', '\n']);
const WORD_ENDS = new Set([' ', '\t', '<', '>', ...SEPARATORS]);
const SIMPLE_EXPANSION = /^\$\{[#!]?[A-Za-z0-9_@*]+\}/;
/** Output thrown away, or one descriptor copied to another: no file is written. */
const HARMLESS_TARGET = /^&(\d+|-)$|^[|&]?[ \t]*\/dev\/null$/;

/** The characters of a redirection's target from `at` on, its operator's rest (`|`, `&`) included. */
function redirectionTarget(line: string, at: number): string {
  let end = /[|&]/.test(line.charAt(at)) ? at + 1 : at;
  while (line[end] === ' ' || line[end] === '\t') end++;
  while (end < line.length && !WORD_ENDS.has(line.charAt(end))) end++;
  return line.slice(at, end);
}

/** Splits at unquoted `;`, `&`, `|`, parentheses and line breaks. Reads what it can; `opaque` says when to trust nothing. */
export function splitCommandLine(line: string): CommandLine {
  const commands: string[] = [];
  let opaque = /\$\(|`|[<>]\(|\(\(|\$\[|\$'/.test(line);
  let piece = '';
  let wordStart = true;
  let at = 0;

  const cut = () => {
    const command = piece.trim();
    if (command) commands.push(command);
    piece = '';
  };
  const take = (count: number) => {
    piece += line.slice(at, at + count);
    at += count;
  };

  /** A substitution inside double quotes is still a command: deny rules shall find it. */
  function takeDoubleQuoted(): void {
    take(1);
    let depth = 0;
    while (at < line.length && line[at] !== '"') {
      if (line[at] === '\\') take(2);
      else if (line[at] === '`' || (line[at] === ')' && depth > 0)) {
        if (line[at] === ')') depth--;
        at++;
        cut();
      } else if (line.startsWith('$(', at)) {
        depth++;
        at += 2;
        cut();
      } else {
        if (line.startsWith('${', at) && !SIMPLE_EXPANSION.test(line.slice(at))) opaque = true;
        take(1);
      }
    }
    if (at >= line.length) opaque = true;
    take(1);
  }

  function takeQuoted(escapes: boolean): void {
    take(1);
    while (at < line.length && line[at] !== "'") take(escapes && line[at] === '\\' ? 2 : 1);
    if (at >= line.length) opaque = true;
    take(1);
  }

  function takeRedirection(): void {
    const input = line[at] === '<';
    if (input && /^<[<>]/.test(line.slice(at, at + 2))) opaque = true;
    if (!input) {
      const operator = line[at + 1] === '>' ? 2 : 1;
      if (!HARMLESS_TARGET.test(redirectionTarget(line, at + operator))) opaque = true;
      take(operator);
      if (/[|&]/.test(line.charAt(at))) take(1);
    } else {
      take(line[at + 1] === '&' ? 2 : 1);
    }
    wordStart = true;
  }

  while (at < line.length) {
    const char = line.charAt(at);
    const atWordStart: boolean = wordStart;
    wordStart = false;
    if (char === '\\') {
      // A continued line goes on where it was: `#` after it may still start a comment.
      wordStart = atWordStart && line[at + 1] === '\n';
      take(2);
    } else if (char === "'") takeQuoted(false);
    else if (line.startsWith("$'", at)) {
      take(1);
      takeQuoted(true);
    } else if (char === '"') takeDoubleQuoted();
    else if (char === '#' && atWordStart) {
      while (at < line.length && line[at] !== '\n') at++;
    } else if (char === '<' || char === '>') takeRedirection();
    else if (char === '&' && line[at + 1] === '>') take(1);
    else if (SEPARATORS.has(char) || char === '`') {
      at++;
      cut();
      wordStart = true;
    } else {
      if (line.startsWith('${', at) && !SIMPLE_EXPANSION.test(line.slice(at))) opaque = true;
      take(1);
      wordStart = char === ' ' || char === '\t';
    }
  }
  cut();
  return { commands, opaque };
}

const RESERVED = new Set(['if', 'then', 'elif', 'else', 'while', 'until', 'do', 'time', '!', '{', '}']);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

/**
 * Other spellings of a simple command: quotes taken off, and without the words that only lead up to it. Deny and ask
 * rules look at these too; allow rules do not.
 */
export function otherSpellings(command: string): string[] {
  let entries;
  try {
    entries = parse(command.replace(/\\\n/g, ''), (name) => `$${name}`);
  } catch {
    // shell-quote throws on an expansion that never closes; the shell refuses such a line too.
    return [];
  }
  const words = entries.map((entry) => {
    if (typeof entry === 'string') return entry;
    if ('comment' in entry) return `#${entry.comment}`;
    return entry.op === 'glob' ? entry.pattern : entry.op;
  });
  const start = words.findIndex((word) => !RESERVED.has(word) && !ASSIGNMENT.test(word));
  return [words.join(' '), ...(start > 0 ? [words.slice(start).join(' ')] : [])];
}
