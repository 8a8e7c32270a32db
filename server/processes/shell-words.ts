/** Removes quotes from words of a command line, for rules that treat doubtful words as unsafe. */

export interface Unquoted {
  text: string;
  /** True if the text does not depend on expansions by Bash. */
  literal: boolean;
}

const CONTROL_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const ANSI_ESCAPE = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))/gs;

/** Decodes the text between `$'` and `'`. */
const decodeAnsi = (body: string): string =>
  body.replace(ANSI_ESCAPE, (_found, byte?: string, short?: string, long?: string, octal?: string, char?: string) => {
    const digits = byte ?? short ?? long;
    if (digits === undefined && octal === undefined) return CONTROL_ESCAPES[char ?? ''] ?? char ?? '';
    const code = digits === undefined ? Number.parseInt(octal ?? '', 8) & 0xff : Number.parseInt(digits, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });

/** Alternatives in order: `'…'`, `$'…'`, `"…"` or `$"…"`, an escape, other text. */
const PART = /'([^']*)'|\$'((?:[^'\\]|\\.)*)'|\$?"((?:[^"\\]|\\.)*)"|\\(.)|[^'"\\$]+|./gs;
const VARIABLE_OR_COMMAND = /\$[A-Za-z0-9_{([!@#?*$-]|`/;
const GLOB_OR_BRACE = /[*?[]|\{[^}]*(?:,|\.\.)|[<>]\(/;

/** The word after quote removal, as Bash passes it on; expansions are left as written. */
export function unquote(source: string): Unquoted {
  let text = '';
  let bare = '';
  let literal = true;
  for (const [part, single, ansi, double, escaped] of source.matchAll(PART)) {
    const quoted = single ?? (ansi === undefined ? undefined : decodeAnsi(ansi));
    if (quoted !== undefined) text += quoted;
    else if (double !== undefined) {
      text += double.replace(/\\([$`"\\\n])/g, (_found, char: string) => (char === '\n' ? '' : char));
      literal &&= !VARIABLE_OR_COMMAND.test(double.replace(/\\./gs, ' '));
    } else if (escaped !== undefined) text += escaped === '\n' ? '' : escaped;
    else {
      text += part;
      bare += part;
      continue;
    }
    // Separates the text on both sides of a quoted part, which must not match as one pattern.
    bare += ' ';
  }
  return { text, literal: literal && !VARIABLE_OR_COMMAND.test(bare) && !GLOB_OR_BRACE.test(bare) };
}
