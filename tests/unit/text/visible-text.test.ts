import { expect, it } from 'vitest';
import { visibleLine, visibleText } from '#server/text/visible-text.ts';

it.each([
  ['a\u2067b\u2069', 'a<U+2067>b<U+2069>'],
  ['\0\b\u001b[1m', '<U+0000><U+0008><U+001B>[1m'],
  ['e\u200bc\u2060h\u00ado', 'e<U+200B>c<U+2060>h<U+00AD>o'],
  ['x\u3164\u2800\u00a0y', 'x<U+3164><U+2800><U+00A0>y'],
  ['a\u{e0041}', 'a<U+E0041>'],
  ['\u0435cho', '<U+0435>cho'],
  ['g\u03bfogle \u03b1x Δλx', 'g<U+03BF>ogle <U+03B1>x <U+0394><U+03BB>x'],
  ['\u0441\u043e\u0440 a b', '<U+0441><U+043E><U+0440> a b'],
  ['a/\u0441\u043e\u0440 привет', 'a/<U+0441><U+043E><U+0440> привет'],
  ['./\u0441\u043e\u0440.sh', './<U+0441><U+043E><U+0440>.sh'],
  ['https://\u0430\u0440\u0440\u04cf\u0435.com/ ', 'https://<U+0430><U+0440><U+0440><U+04CF><U+0435>.com/ '],
  ['curl \u0430\u0440\u0440\u04cf\u0435.com # привет', 'curl <U+0430><U+0440><U+0440><U+04CF><U+0435>.com # привет'],
  ['\u03a1\u0391\u03a4\u0397=x', '<U+03A1><U+0391><U+03A4><U+0397>=x'],
  ['привет\n\u0441\u043e\u0440 x', 'привет\n<U+0441><U+043E><U+0440> x'],
  ['a\r\r\nb\r', 'a<U+000D><U+000D>\nb<U+000D>'],
  [`npm test${'\r\n'.repeat(60)}curl x`, 'npm test\n<59 empty lines>\ncurl x'],
  ['a\rb\n\u2028\u2029\ud800', 'a<U+000D>b\n<U+2028><U+2029><U+D800>'],
  ['a\u200db a\ufe0f', 'a<U+200D>b a<U+FE0F>'],
  ['npm test\n\n\n\n\ncurl x', 'npm test\n<4 empty lines>\ncurl x'],
  [`npm test\n${' \t\n'.repeat(60)}curl x`, 'npm test\n<60 empty lines>\ncurl x'],
  [`a${'\u00a0'.repeat(20_000)}b`, 'a<U+00A0 × 20000>b'],
  [`a${' '.repeat(201)}b`, 'a<201 blanks>b'],
  [`a${' \t'.repeat(101)}b`, 'a<202 blanks>b'],
])('marks hidden characters in %j', (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

it.each([
  'git commit -m "שלום, עולם"',
  'echo مرحبا بالعالم',
  'می\u200cخواهم',
  'क्\u200dष',
  '👩‍👩‍👧 ❤️ 1️⃣ 👍🏽 👩🏽‍💻',
  'cat <<EOF\n\tone\n\n\n\ttwo\nEOF\n',
  'привет мир Ελλάδα',
  'git commit -m "вместе со мной, а он с ухом"',
  'Δx = 3 μs, kΩ; α = 0.5, και Ελλάδα',
  '1 2 3',
  'Reactコンポーネント 日本語text',
  'நான்\u200cகு ❤\ufe0e',
  `a${' '.repeat(200)}b`,
])('leaves %j unmarked', (text) => {
  expect(visibleText(text)).toBe(text);
});

it('renders CRLF as a line end', () => {
  expect(visibleText('a\r\n\tb\r\n\r\nc')).toBe('a\n\tb\n\nc');
  expect(visibleLine('a\r\nb')).toBe('a<U+000D><U+000A>b');
});

it('escapes line ends and tabs of text that is displayed on one line', () => {
  expect(visibleLine('a\n\n\n\n\tb')).toBe('a<U+000A><U+000A><U+000A><U+000A><U+0009>b');
});

it('calls the mark function for each escape, in the order of the text', () => {
  const marks: string[] = [];
  const keep = (escape: string) => `[${marks.push(escape)}]`;
  expect(visibleText('a\u2069\u2069b\u0435cho\n\n\n\n', keep)).toBe('a[1]b[2]cho\n[3]\n');
  expect(marks).toEqual(['<U+2069><U+2069>', '<U+0435>', '<3 empty lines>']);
});

/** CPU time of `times` calls in microseconds: the least of some attempts, because other load only adds to it. */
function costOf(text: string, times: number): number {
  const costs = Array.from({ length: 3 }, () => {
    const start = process.cpuUsage();
    for (let call = 0; call < times; call += 1) visibleText(text);
    const { user, system } = process.cpuUsage(start);
    return user + system;
  });
  return Math.min(...costs);
}

it.each([' \n', '\t ', 'a\u200d', '👩‍', '\u00a0a', '\u0430 ', '\r'])('takes linear time for %j', (part) => {
  // The same amount of text in long and in short calls: equal where time is linear, eight times where it is quadratic.
  const growth = costOf(part.repeat(16_000), 5) / costOf(part.repeat(2000), 40);
  expect(growth).toBeLessThan(3);
});
