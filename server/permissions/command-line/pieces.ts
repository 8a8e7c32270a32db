/**
 * Cuts any text into possible commands: at unquoted separators, inside substitutions, groups and loops. Never fails,
 * and may find commands where there are none; only deny and ask rules use them.
 */

interface Piece {
  source: string;
  /** Words as written, without redirections and their targets. */
  words: string[];
}

/** A section of the text inside the brackets or backticks of one substitution or group. */
interface Frame {
  closer: ')' | '`' | undefined;
  doubleQuoted: boolean;
  pieceStart: number;
  wordStart: number | undefined;
  words: string[];
  /** Whether the next word is a redirection's target. */
  atTarget: boolean;
}

/** Deeper nesting is cut without tracking its closing bracket. */
const MAX_DEPTH = 50;
const REDIRECTION = /\d*(?:&>>?|<<<|<<-?|<>|<&|>&|>>|>\||<(?!\()|>(?!\())/y;
const SUBSTITUTION = /[$<>]\(/y;
const ANSI_QUOTED = /\$'(?:[^'\\]|\\.)*'/sy;

export function cutPieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  const frames: Frame[] = [];
  let frame = openFrame(undefined, 0);
  let at = 0;

  function openFrame(closer: Frame['closer'], pieceStart: number): Frame {
    const opened = { closer, doubleQuoted: false, pieceStart, wordStart: undefined, words: [], atTarget: false };
    frames.push(opened);
    return opened;
  }

  function matchLength(expression: RegExp): number {
    expression.lastIndex = at;
    return expression.exec(text)?.[0].length ?? 0;
  }

  function endWord(): void {
    if (frame.wordStart === undefined) return;
    if (frame.atTarget) frame.atTarget = false;
    else frame.words.push(text.slice(frame.wordStart, at));
    frame.wordStart = undefined;
  }

  function cut(): void {
    endWord();
    if (frame.words.length > 0) pieces.push({ source: text.slice(frame.pieceStart, at).trim(), words: frame.words });
    frame.words = [];
    frame.atTarget = false;
  }

  function enter(closer: ')' | '`', length: number): void {
    if (frames.length === MAX_DEPTH) cut();
    at += length;
    if (frames.length < MAX_DEPTH) frame = openFrame(closer, at);
    else frame.pieceStart = at;
  }

  /** Returns to the enclosing frame after a closing bracket or backtick. */
  function leave(closer: ')' | '`'): void {
    cut();
    at++;
    if (frame.closer === closer && frames.length > 1) {
      frames.pop();
      frame = frames.at(-1) ?? frame;
    }
    if (frame.wordStart === undefined && frame.words.length === 0) frame.pieceStart = at;
  }

  function inDoubleQuotes(char: string): void {
    if (char === '\\') at += 2;
    else if (char === '"') {
      frame.doubleQuoted = false;
      at++;
    } else if (text.startsWith('$(', at)) enter(')', 2);
    else if (char === '`') backtick();
    else at++;
  }

  function backtick(): void {
    if (frames.some(({ closer }) => closer === '`')) {
      while (frame.closer !== '`' && frames.length > 1) {
        cut();
        frames.pop();
        frame = frames.at(-1) ?? frame;
      }
      leave('`');
    } else enter('`', 1);
  }

  function outside(char: string): void {
    if (char === ' ' || char === '\t') {
      endWord();
      at++;
      return;
    }
    if (char === '\\') {
      if (text[at + 1] !== '\n') frame.wordStart ??= at;
      at += 2;
      return;
    }
    if (char === '#' && frame.wordStart === undefined) {
      while (at < text.length && text[at] !== '\n') at++;
      return;
    }
    const mayRedirect = frame.wordStart === undefined ? /[\d<>&]/ : /[<>&]/;
    const redirection = mayRedirect.test(char) ? matchLength(REDIRECTION) : 0;
    if (redirection > 0) {
      endWord();
      at += redirection;
      frame.atTarget = true;
      return;
    }
    if (/[;&|\n]/.test(char)) {
      cut();
      at++;
      frame.pieceStart = at;
      return;
    }
    if (char === ')') {
      leave(')');
      return;
    }
    if (char === '(') {
      cut();
      enter(')', 1);
      return;
    }
    frame.wordStart ??= at;
    if (char === '"') {
      frame.doubleQuoted = true;
      at++;
    } else if (char === "'") {
      const end = text.indexOf("'", at + 1);
      // An unclosed quote may be part of a here-document: the text after it is cut all the same.
      at = end === -1 ? at + 1 : end + 1;
    } else if (char === '`') backtick();
    else if (matchLength(SUBSTITUTION) > 0) enter(')', 2);
    else at += matchLength(ANSI_QUOTED) || 1;
  }

  while (at < text.length) {
    const char = text.charAt(at);
    if (frame.doubleQuoted) inDoubleQuotes(char);
    else outside(char);
  }
  at = Math.min(at, text.length);
  while (frames.length > 0) {
    frame = frames.at(-1) ?? frame;
    cut();
    frames.pop();
  }
  return pieces;
}
