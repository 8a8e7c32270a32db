/**
 * Translates ripgrep's regular expressions into JavaScript's, for hosts without ripgrep. Syntax without an equivalent
 * is refused.
 */
import { errorMessage, invalidField } from '#server/errors/service-error.ts';
import type { GrepRequest } from '#schema/rest/grep.ts';

const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u200c\\u200d';
const SPACE = '\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
/** Bodies of character classes, which ripgrep defines by Unicode. */
const CLASSES: Record<string, string> = { d: '\\p{Nd}', w: WORD, s: SPACE };
const NEGATED: Record<string, string> = { D: '\\P{Nd}', W: `[^${WORD}]`, S: `[^${SPACE}]` };
const BOUNDARY = `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`;
const NO_BOUNDARY = `(?:(?<=[${WORD}])(?=[${WORD}])|(?<![${WORD}])(?![${WORD}]))`;

const escapeText = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

const refuse = (why: string) => invalidField('pattern', why);

/** Throws `validation.failed`. */
function translate(pattern: string): string {
  let translated = '';
  let inClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at);
    if (char === '\\') {
      const next = pattern.charAt(++at);
      if (/[1-9k]/.test(next)) throw refuse('regex parse error: backreferences are not supported');
      if (next === 'b' && !inClass) translated += BOUNDARY;
      else if (next === 'B' && !inClass) translated += NO_BOUNDARY;
      else if (CLASSES[next] !== undefined) translated += inClass ? CLASSES[next] : `[${CLASSES[next]}]`;
      else if (next === 'A' && !inClass) translated += '^';
      else if (next === 'z' && !inClass) translated += '$';
      else if (NEGATED[next] !== undefined) {
        if (inClass && next !== 'D') throw refuse(`regex parse error: \\${next} in brackets needs ripgrep`);
        translated += NEGATED[next];
      } else if (/[\s#&~%@"'`<>=!:;,_-]/.test(next)) translated += inClass && next === '-' ? '\\-' : next;
      else translated += char + next;
      continue;
    }
    if (inClass) {
      if (char === ']') inClass = false;
      else if (char === '[' || /^(&&|--|~~)/.test(pattern.slice(at))) {
        throw refuse('regex parse error: brackets in brackets and operators there need ripgrep');
      }
    } else if (char === '[') {
      inClass = true;
      // In ripgrep a leading closing bracket is literal.
      const first = /^\[\^?\]/.exec(pattern.slice(at))?.[0];
      if (first) {
        translated += `${first.slice(0, -1)}\\]`;
        at += first.length - 1;
        continue;
      }
    } else if (char === '(' && pattern[at + 1] === '?') {
      if (/^\(\?<?[=!]/.test(pattern.slice(at))) throw refuse('regex parse error: look-around is not supported');
      const named = /^\(\?P?<(?![=!])/.exec(pattern.slice(at))?.[0];
      if (named) {
        translated += '(?<';
        at += named.length - 1;
        continue;
      }
      if (!pattern.startsWith('(?:', at)) throw refuse('regex parse error: flags in the pattern need ripgrep');
    } else if (char === '.') {
      translated += '[^\\n\\r]';
      continue;
    }
    translated += char;
  }
  return translated;
}

/** Throws `validation.failed`. */
export function ownPattern(request: Pick<GrepRequest, 'pattern' | 'regex' | 'case_sensitive'>): RegExp {
  const { pattern, regex, case_sensitive } = request;
  const source = regex ? translate(pattern) : escapeText(pattern);
  try {
    return new RegExp(source, case_sensitive ? 'u' : 'iu');
  } catch (error) {
    throw refuse(`regex parse error: ${errorMessage(error)}`);
  }
}
