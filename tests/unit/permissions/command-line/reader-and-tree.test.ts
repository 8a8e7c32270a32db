/** Reader and tree each refuse a line on their own: an error of one is no hole as long as the other refuses. */
import { beforeAll, describe, expect, test } from 'vitest';
import { loadTreeParser, type TreeParser } from '#server/permissions/command-line/parser.ts';
import { readPlainLine } from '#server/permissions/command-line/reader.ts';
import { plainNames } from '#server/permissions/command-line/tree.ts';

let parser: TreeParser;
beforeAll(async () => {
  parser = await loadTreeParser(() => undefined);
});

/** Names of the commands in the tree of a line; undefined when it is opaque. */
function inTree(line: string): string[] | undefined {
  const tree = parser.parse(line);
  return tree && plainNames(tree, line);
}
const inReader = (line: string) => readPlainLine(line)?.map(({ name }) => name);

describe('both accept', () => {
  test.each([
    ['ls a', ['ls']],
    ['ls \\\n \\\n\ta', ['ls']],
    ['! ls a', ['ls']],
    ['ls |& wc; git status && make || true', ['ls', 'wc', 'git', 'make', 'true']],
    ['CI=1 ls > /dev/null 2>&1 # why\nwc', ['ls', 'wc']],
    ['echo "${a} $b" a{b,c}', ['echo']],
  ])('%j', (line, names) => {
    expect(inTree(line)).toEqual(names);
    expect(inReader(line)).toEqual(names);
  });
});

describe('the tree refuses', () => {
  test.each([
    // Other spaces between the parts of a command, or between a command and its redirection.
    'ls\fa',
    'ls a \r b',
    'ls \\\r\n a',
    'CI=1\rls',
    'ls a\r> /dev/null',
    'ls >\r/dev/null',
    // Incomplete lines, of which the commands were found all the same.
    'ls &&',
    'ls |',
    'echo "',
    // Other syntax.
    '(ls)',
    'echo $(ls)',
    'echo ${a-b}',
    'if a; then b; fi',
    'ls <<a\na',
  ])('%j', (line) => expect(inTree(line)).toBeUndefined());
});

describe('the reader refuses', () => {
  test.each([
    // A command of that name, which the grammar reads as one, too.
    '!ls',
    '!ls -l',
    // An exclamation mark may not follow a pipe.
    'ls | ! wc',
    'ls |& ! wc',
    // Incomplete lines.
    'ls &&',
    'ls ||',
    'ls |',
    'ls |&',
    'ls |& # why\n',
    '',
    '# ls',
    'ls\\\n a',
    'ls a > x',
    'A=1 ls',
  ])('%j', (line) => expect(inReader(line)).toBeUndefined());
});
