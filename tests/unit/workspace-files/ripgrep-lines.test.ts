/** Records of usual lines are parsed by a fast path, with the same result. */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { expect, test } from 'vitest';
import { lineOf, parseRecord } from '#server/workspace-files/grep/ripgrep-lines.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const LINES = [
  'key',
  '  const text = "a \\"key\\" \\\\";\tkey, key',
  'äöü \u{1F600} key \u2028 key \u0001',
  '"},"line_number":7,"absolute_offset":7,"submatches":[{"match":{"text":"key"},"start":1,"end":2}]',
  'no match here',
  `${'long '.repeat(8000)}key`,
  'key without an end',
];

test('lines of any text, in files of any name', async () => {
  const root = await temporaryHome();
  await mkdir(join(root, 'a "b" ,"lines":{"text":"c"}'));
  await writeFile(join(root, 'a "b" ,"lines":{"text":"c"}', 'd\\e\nf.txt'), LINES.join('\r\n'));
  await writeFile(join(root, 'bytes.txt'), Buffer.concat([Buffer.from([0xff, 0x20]), Buffer.from('key\n')]));
  const output = execFileSync(rgPath, ['--no-config', '--json', '--context=1', 'key', './'], { cwd: root });
  const records = output.toString().trimEnd().split('\n');
  // Begin and end of two files, and the summary.
  expect(records).toHaveLength(LINES.length + 1 + 5);
  const found = records.map((text) => {
    const record = parseRecord(Buffer.from(text));
    // A leading space disables the fast path.
    const other = parseRecord(Buffer.from(` ${text}`));
    expect(record.type).toBe(other.type);
    if (record.type !== 'match' && record.type !== 'context') return [];
    expect(other.type === record.type && lineOf(other)).toEqual(lineOf(record));
    return [lineOf(record)];
  });
  const texts = found.flat().map(({ text }) => text);
  expect(texts.toSorted()).toEqual([...LINES, '\ufffd key'].toSorted());
});
