import { expect, test } from 'vitest';
import { createLineScanner } from '#server/files/line-scanner.ts';

const scan = (pieces: string[]) => {
  const scanner = createLineScanner({ start: 1, count: 10, maxChars: 5 });
  for (const piece of pieces) scanner.write(piece);
  return scanner.end();
};

test.each([
  [['a\r', '\nb\r', '\n'], 'crlf', 2],
  [['a\r', 'b\n'], 'mixed', 1],
  [['a\r'], 'mixed', 1],
  [['a\r\n', 'b\n'], 'mixed', 2],
  [['a', '', '\nb'], 'lf', 2],
  [[''], 'lf', 0],
])('line ends of %j', (pieces, endings, total) => {
  expect(scan(pieces)).toMatchObject({ endings, total });
});

test('a line is truncated to the limit, for any chunks', () => {
  const whole = { number: 1, text: '12345', cut: false };
  expect(scan(['123', '45\n', '1234', '56']).lines).toEqual([whole, { number: 2, text: '12345', cut: true }]);
});
