/** Generates random command lines from a seed: concatenated and damaged fragments that shells interpret differently. */

import { pick, seeded } from '#support/random.ts';

/** Names of no program, so Bash reports each that it would start. Those in payloads are not used elsewhere. */
const NAMES = ['c1', 'c2', 'c3', 'c4', 'c5'];
/** Excludes `kill` and `cd`, because a reader's bug could run them with arbitrary arguments. */
const BUILTINS =
  'echo|printf|printf %s|test|test -f|test "$x"|true|:|pwd|set -e|set -o pipefail|command -v|type|wait|jobs|umask|help|exit|times|set -eu'.split(
    '|',
  );
const FORBIDDEN =
  'eval|export|declare -n|let|read|mapfile -C|unset|[|[[|exec|source|.|time|coproc|function|if|then|{|}|!|((|trap|alias|builtin|command|command -p|hash -p|compgen -C|jobs -x|wait -n -p|printf -v|printf %n|test -v|true -v|{c6,a}|\\c6|"c6"|c6\\ b|c\\\n6|$x c6|~c6|*|c6=|c6+=|RANDOM=|x=|PATH='.split(
    '|',
  );
const WORDS =
  "a|b c|-v|-n|-R|x=1|a=~b|==|=~|=|[|]|{|}|{a,b}|{-v,q}|{1..3}|*|?|[a-c]|~|~/x|#a|a#b|!|!!|^|%s|%n|@|+|-|--|\\a|\\ |\\\\|\\#|\\;|\\$|\\'|\\\"|\\`|'a b'|'a\nb'|'\"'|\"a b\"|\"'\"|\"a\\\"b\"|\"a\nb\"|\"\"|''|'a[$(c8)]'|\"a[\\$(c8)]\"|a\\[\\$\\(c8\\)\\]|'\\044(c8)'|'`c8`'|é|日本|😀|2|1".split(
    '|',
  );
const VARIABLES = '$x|${x}|$y|"$y"|"${y}"|$1|$?|$$|$!|$#|$@|$*|$-|"$@"|"a$y$"|"$ "|$_|"$_"|${_}|${y}c6'.split('|');
const PAYLOADS =
  '$(c7)|`c7`|"$(c7)"|"`c7`"|${x:-$(c7)}|"${x:=$(c7)}"|${!x}|${y@P}|$((c7))|$[c7]|<(c7)|>(c7)|$\'c7\'|$"c7"|(c7)|{ c7; }|<<<c7|<<E\nc7\nE|\n$(c7)'.split(
    '|',
  );
const OPERATORS =
  '; |\n|&|&&|\u0001|\u0001&| ; | && | \u0001\u0001 | \u0001 | & |;\n|\\\n&|!|;;|&&\n|\u0001\n| # c7\n|#c7\n|;#\n'
    .split('|')
    .map((text) => text.replaceAll('\u0001', '|'));
const REDIRECTIONS =
  '2>&1|>/dev/null|> /dev/null|2>/dev/null|&>/dev/null|&>>/dev/null|</dev/null|>&2|2>&-|<&3|>|>>|<|>&|>/dev/nullx|2>&1c6|{x}>&1|>& /dev/null|<>/dev/null|>\\\n/dev/null'.split(
    '|',
  );
const GAPS = [
  ' ',
  ' ',
  ' ',
  ' ',
  ' ',
  '  ',
  '\t',
  ' \\\n',
  ' \\\n ',
  '\\\n',
  '\n',
  '\r',
  ' \\\r\n',
  '\v',
  '\f',
  '\u00a0',
  '\u2003',
  '\u200b',
  '\u2028',
  '',
  '\\',
];
const ASSIGNMENTS = [
  'CI=1 ',
  'LANG=C ',
  "TERM='a b' ",
  'CI= ',
  'LC_ALL="C" ',
  'FOO=1 ',
  'CI=$x ',
  'CI=a[$(c7)] ',
  "RANDOM='a[$(c7)]' ",
  'CI+=1 ',
  'CI=~ ',
];
/** Each would start a program that the line does not name, if the line were plain. */
const ATTACKS = [
  "test -v 'a[$(c8)]'",
  "test '-v' 'a[$(c8)]'",
  'test "-v$x" \'a[$(c8)]\'',
  'test "-$x""v" \'a[$(c8)]\'',
  "test {-v,'a[$(c8)]'}",
  "test 1 -a -v 'a[$(c8)]'",
  "test ! -v 'a[$(c8)]'",
  'true -v; test "$_" \'a[$(c8)]\'',
  "[ -v 'a[$(c8)]' ]",
  "printf -v 'a[$(c8)]' 1",
  "printf {-v,'a[$(c8)]'} 1",
  "printf '-v' 'a[$(c8)]' 1",
  "printf $x -v 'a[$(c8)]' 1",
  "printf -v x 'a[\\x24(c8)]'; echo ${!x}",
  "echo '\\044(c8)'; echo ${_@P}",
  "wait -p 'a[$(c8)]' -n",
  "unset 'a[$(c8)]'",
  "read 'a[$(c8)]'",
  "let 'a[$(c8)]'",
  "declare 'a[$(c8)]=1'",
  "export 'a[$(c8)]=1'",
  "RANDOM='a[$(c8)]'; echo hi",
  'eval c8',
  'exec c8',
  'command c8',
  'command -p c8',
  'command {-p,c8}',
  'builtin eval c8',
  'jobs -x c8',
  "jobs '-x' c8",
  'compgen -C c8',
  "trap 'c8' EXIT",
  'alias c1=c8',
  'time c8',

  'coproc c8',
  '{c8,a}',
  'echo a\n\\c8',
  'echo ==\nc8',
  'c\\\n8 a',
  'echo a\\\n;c8',
];
const CHARACTERS = Array.from(' \t\n\\\'"`$(){}[]<>|&;#!*?~=%^-_.,:/@+a1c\r\v\u00a0é');

export function createLineGenerator(seed: number): () => string {
  const random = seeded(seed);
  const chance = (share: number) => random() < share;
  const one = (choices: readonly string[]): string => pick(random, choices);

  const gap = () => (chance(0.93) ? ' ' : one(GAPS));
  function word(): string {
    const kind = random();
    if (kind < 0.72) return one(WORDS) + (chance(0.1) ? one(WORDS) : '');
    if (kind < 0.88) return one(VARIABLES) + (chance(0.1) ? one(WORDS) : '');
    if (kind < 0.9) return one(PAYLOADS);
    if (kind < 0.97) return one(REDIRECTIONS.slice(0, 10));
    return one(REDIRECTIONS);
  }
  function command(): string {
    if (chance(0.12)) return one(ATTACKS);
    const kind = random();
    let text = kind < 0.66 ? one(NAMES) : kind < 0.93 ? one(BUILTINS) : one(FORBIDDEN);
    if (chance(0.05)) text = one(ASSIGNMENTS) + text;
    if (chance(0.04)) text = `! ${text}`;
    for (let count = Math.floor(random() * 4); count > 0; count--) text += gap() + word();
    return text;
  }
  function damaged(text: string): string {
    const at = Math.floor(random() * (text.length + 1));
    const removed = chance(0.5) ? 1 : 0;
    return text.slice(0, at) + (chance(0.7) ? one(CHARACTERS) : '') + text.slice(at + removed);
  }

  return () => {
    let line = command();
    for (let count = Math.floor(random() * 3); count > 0; count--) line += one(OPERATORS) + command();
    while (chance(0.25)) line = damaged(line);
    return line;
  };
}
