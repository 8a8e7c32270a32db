import { expect, test } from 'vitest';
import { createLineScanner } from '#server/files/line-scanner.ts';

const scan = (pieces: string[], window = { start: 1, count: 10 }) => {
  const scanner = createLineScanner({ ...window, maxChars: 5 });
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

test.each([
  [{ start: 1, count: 2 }, [1, 2]],
  [{ start: 3, count: 2 }, [3, 4]],
  [{ start: 4, count: 9 }, [4, 5]],
  [{ start: 6, count: 1 }, []],
  [{ start: -1, count: 9 }, [5]],
  [{ start: -3, count: 2 }, [3, 4]],
  [{ start: -4, count: 9 }, [2, 3, 4, 5]],
  [{ start: -9, count: 2 }, [1, 2]],
])('the window %j of five lines', (window, numbers) => {
  const { lines, total } = scan(['1\n2\n', '3\n4\n5'], window);
  expect(lines).toEqual(numbers.map((number) => ({ number, text: `${number}`, cut: false })));
  expect(total).toBe(5);
});

test('empty lines count, an end of line at the end begins none', () => {
  expect(scan(['\n\na\n'])).toEqual({
    total: 3,
    endings: 'lf',
    lines: ['', '', 'a'].map((text, index) => ({ number: index + 1, text, cut: false })),
  });
});

test('carriage returns within a line, and a doubled one, are mixed line ends', () => {
  for (const pieces of [['a\rb\r\n'], ['a\r\r\n'], ['a\r', '\r\n'], ['\r', 'a\r\n']]) {
    expect(scan(pieces).endings).toBe('mixed');
  }
  expect(scan(['a\r\n', '\r\n', 'b']).endings).toBe('crlf');
});
