import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { unifiedLines } from '../../../web/render/unified-diff.ts';

it('draws the output of git', () => {
  const root = mkdtempSync(join(tmpdir(), 'service-code-diff-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const side of ['old', 'new']) mkdirSync(join(root, side));
  writeFileSync(join(root, 'old/a'), 'same\n-- gone\n');
  writeFileSync(join(root, 'new/a'), 'same\n++ came');
  const git = (...args: string[]) =>
    spawnSync('git', ['diff', '--no-index', ...args], { cwd: root, encoding: 'utf8' }).stdout;
  expect(unifiedLines(git('old/a', 'new/a'))).toEqual([
    { kind: 'place', text: '@@ -1,2 +1,2 @@' },
    { kind: 'same', text: 'same' },
    { kind: 'removed', text: '-- gone' },
    { kind: 'added', text: '++ came' },
    { kind: 'place', text: 'No newline at end of file' },
  ]);
  writeFileSync(join(root, 'old/b'), Buffer.from([0, 1]));
  writeFileSync(join(root, 'new/b'), Buffer.from([0, 2]));
  const both = unifiedLines(git('old', 'new'));
  expect(both.filter(({ kind }) => kind === 'place').map(({ text }) => text)).toEqual([
    'a/old/a b/new/a',
    '@@ -1,2 +1,2 @@',
    'No newline at end of file',
    'a/old/b b/new/b',
    expect.stringMatching(/^Binary files/),
  ]);
  expect(unifiedLines('')).toEqual([]);
  expect(unifiedLines('@@ -1 +1 @@\n a\r\n-b\r\n')).toEqual([
    { kind: 'place', text: '@@ -1 +1 @@' },
    { kind: 'same', text: 'a' },
    { kind: 'removed', text: 'b' },
  ]);
  expect(unifiedLines('@@ -1 +1 @@\n-a\n+a\r\n').at(-1)).toEqual({ kind: 'added', text: 'a\r' });
});
