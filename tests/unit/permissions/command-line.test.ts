import { describe, expect, test } from 'vitest';
import { otherSpellings, splitCommandLine } from '#server/permissions/command-line.ts';

describe('splitting', () => {
  test.each([
    ['git status', ['git status']],
    ['a; b && c || d | e & f', ['a', 'b', 'c', 'd', 'e', 'f']],
    ['a\nb\n\nc', ['a', 'b', 'c']],
    ['a |& b;;c', ['a', 'b', 'c']],
    ['(a; b)', ['a', 'b']],
    [`echo "a; b" 'c && d' e\\;f`, [`echo "a; b" 'c && d' e\\;f`]],
    ['echo "a\\"; b"', ['echo "a\\"; b"']],
    ['a # c; d\nb', ['a', 'b']],
    ["a # don't\nb", ['a', 'b']],
    ['a#b; c', ['a#b', 'c']],
    ['echo $# "#x"', ['echo $# "#x"']],
    ['a \\\n b', ['a \\\n b']],
    ["a \\\n# '\nb # '", ['a', 'b']],
    ['a 2>&1', ['a 2>&1']],
    ['a >/dev/null 2>&1', ['a >/dev/null 2>&1']],
    ['a &>/dev/null', ['a &>/dev/null']],
    ['a <in', ['a <in']],
    ['a <&3', ['a <&3']],
    ['echo ${HOME} $x', ['echo ${HOME} $x']],
    ['  ', []],
    ['# only', []],
  ])('%j', (line, commands) => {
    const { commands: found, opaque } = splitCommandLine(line);
    // A continued line in front of a comment leaves its backslash behind.
    expect(found.map((command) => command.replace(/\s*\\$/, ''))).toEqual(commands);
    expect(opaque).toBe(false);
  });

  test.each([
    'echo $(rm x)',
    'echo "$(rm x)"',
    'echo `rm x`',
    'diff <(a) b',
    'tee >(a)',
    'cat <<X\nrm\nX',
    'cat <<<x',
    'a > f',
    'a >> f',
    'a >| f',
    'a 2> f',
    'a &> f',
    'a &>> f',
    'a >& f',
    'a >&1f',
    'a <> f',
    'a >/dev/nullx',
    'a > "/dev/null"',
    'a >',
    "a 'open",
    'a "open',
    "a $'x'",
    'a ${x:-y}',
    'a "${x:-"y"}"',
    '((x = 1))',
    'a $[1]',
    "a 'x\n",
  ])('sees no further: %j', (line) => {
    expect(splitCommandLine(line).opaque).toBe(true);
  });

  test('a quote after a comment or a continuation hides nothing', () => {
    for (const line of [
      "git log # '\nrm -rf / # '",
      "git log \\\n# '\nrm -rf / # '",
      "git log;# '\nrm -rf /\n#'",
      "git log <#'\nrm -rf /\n#'",
    ]) {
      expect(splitCommandLine(line).commands).toContain('rm -rf /');
    }
  });

  test('commands inside substitutions are found', () => {
    for (const line of [
      'echo $(rm -rf x)',
      'echo "a $(rm -rf x) b"',
      'echo `rm -rf x`',
      'echo "`rm -rf x`"',
      'a <(rm -rf x)',
      'echo "$(a "$(rm -rf x)")"',
    ]) {
      expect(splitCommandLine(line).commands).toContain('rm -rf x');
    }
  });
});

test.each([
  [`"rm"  -r'f' /`, 'rm -rf /'],
  ['r\\m -rf /', 'rm -rf /'],
  ['then rm -rf /', 'rm -rf /'],
  ['A=1 B="x y" rm -rf /', 'rm -rf /'],
  ['! { rm -rf *', 'rm -rf *'],
  ['rm \\\n-rf /', 'rm -rf /'],
])('%j is also read as %j', (command, spelling) => {
  expect(otherSpellings(command)).toContain(spelling);
});

test('an expansion that never closes has no other spelling', () => {
  expect(otherSpellings('echo ${')).toEqual([]);
});
