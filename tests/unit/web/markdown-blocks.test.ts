/** A growing Markdown text as blocks: only the last one is read again, and only its changed parts are drawn again. */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { BlockChange } from '../../../web/render/markdown-blocks.ts';

// Links are compared with the address of the page.
vi.stubGlobal('location', new URL('http://127.0.0.1:1/'));
let createBlockReader: typeof import('../../../web/render/markdown-blocks.ts').createBlockReader;
let render: (text: string) => string;
beforeAll(async () => {
  ({ createBlockReader } = await import('../../../web/render/markdown-blocks.ts'));
  const { textParser } = await import('../../../web/render/markdown-parser.ts');
  render = (text) => textParser.render(text);
});

/** Applies changes as the page does. */
function createDrawing() {
  const drawn: { open: string; close: string; parts: string[] }[] = [];
  return {
    apply({ kept, keptParts, blocks }: BlockChange) {
      const former = keptParts === undefined ? undefined : drawn[kept];
      drawn.splice(kept);
      for (const [at, { parts, ...block }] of blocks.entries()) {
        const before = at === 0 && former ? former.parts.slice(0, keptParts) : [];
        drawn.push({ ...block, parts: [...before, ...parts] });
      }
    },
    html: () => drawn.map(({ open, parts, close }) => open + parts.join('') + close).join(''),
  };
}

const plain = (html: string) =>
  html
    .replace(/ data-parts|<span(?: class="(?:hljs|code-lines)[^>]*)?>|<\/span>/g, '')
    .replace(/\s+/g, ' ')
    .replace(/> </g, '><')
    .replace(/ <\/code>/g, '</code>');

const texts = {
  prose: '[x]: https://x.test/\n\nOne *two*\nthree\n\n# Head\n\nMore `code` and [a link][x].\n\nLast [x].',
  list: 'Before\n\n- one\n- two\n\n  more of two\n- three\n  1. nested\n  2. list\n\nAfter',
  table: '| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n\nAfter',
  fence: `Code:\n\n\`\`\`ts\n${'const a = `x\n\ny`;\n'.repeat(30)}\`\`\`\n\nAfter`,
  quote: '> one\n> - two\n\nLast',
  formula: 'It costs $5 and $6, so $x^2$.\n\n$$\na\n\nb\n$$\n\nEnd \\(y\\)',
};

describe.each(Object.entries(texts))('%s', (_, text) => {
  it('is the same in the end, however it has grown', () => {
    for (const size of [1, 7, 40, text.length]) {
      const reader = createBlockReader();
      const drawing = createDrawing();
      for (let end = size; end < text.length + size; end += size) drawing.apply(reader.read(text.slice(0, end)));
      expect(plain(drawing.html())).toBe(plain(render(text)));
    }
  });
});

describe('a change', () => {
  it('contains the last block only', () => {
    const reader = createBlockReader();
    reader.read('One\n\nTwo\n\nThr');
    expect(reader.read('One\n\nTwo\n\nThree')).toMatchObject({ kept: 2, blocks: [{ parts: ['<p>Three</p>\n'] }] });
  });

  it.each([
    ['items of a list', '- one\n- two\n- th', 'ree', 2, ['<li>three</li>\n']],
    ['rows of a table', '| a |\n|---|\n| 1 |\n| 2 |\n', '| 3 |', 2, ['<tr>\n<td>3</td>\n</tr>\n']],
  ])('contains the new %s only', (_, before, added, keptParts, parts) => {
    const reader = createBlockReader();
    reader.read(before);
    expect(reader.read(before + added)).toMatchObject({ kept: 0, keptParts, blocks: [{ parts }] });
  });

  it('contains the new lines of code only', () => {
    const reader = createBlockReader();
    const lines = (count: number) => `\`\`\`\n${'line\n'.repeat(count)}`;
    reader.read(lines(200));
    const { keptParts, blocks } = reader.read(lines(201));
    expect([keptParts, blocks.length, blocks[0]?.parts.length]).toEqual([5, 1, 1]);
  });

  it('is everything when the text is another one', () => {
    const reader = createBlockReader();
    reader.read('One\n\nTwo\n\nThree');
    expect(reader.read('Other')).toMatchObject({ kept: 0, blocks: [{ parts: ['<p>Other</p>\n'] }] });
  });
});

it('closes and opens the elements that span several lines of code', async () => {
  const { htmlLines } = await import('../../../web/render/markdown-blocks.ts');
  expect(htmlLines('a<span class="s">b\nc</span>d')).toEqual([
    'a<span class="s">b</span>',
    '<span class="s">c</span>d',
  ]);
});

describe('formulas', () => {
  it.each([
    ['$5 and $6'],
    ['US$5, then $6'],
    ['$HOME/$USER'],
    ['a $ b $ c'],
    ['`$x$`'],
    ['\\$x\\$'],
    ['$$'],
    [`$${'x'.repeat(3000)}$`],
  ])('%j is text', (text) => {
    expect(render(text)).not.toContain('data-tex');
  });

  it.each([
    ['$x$', 'x'],
    ['($x_1$)', 'x_1'],
    ['\\(a<b\\)', 'a&lt;b'],
    ['\\[a\\]', 'a'],
    ['$$a$$', 'a'],
    ['$$\na\n\nb\n$$', 'a\n\nb'],
    ['$a \\$ b$', 'a \\$ b'],
  ])('%j is the formula %j', (text, tex) => {
    expect(render(text)).toContain(`data-tex="${tex}"`);
  });
});

describe('places in files', () => {
  it.each([
    ['See src/main.ts:12.', 'src/main.ts', '12'],
    ['`main.ts:12:3`', 'main.ts', '12'],
    ['[here](src/a%20b.ts#L7)', 'src/a b.ts', '7'],
    ['/work/app/x.go:1', '/work/app/x.go', '1'],
  ])('%j opens a file', (text, path, line) => {
    expect(render(text)).toContain(`data-path="${path}" data-line="${line}"`);
  });

  it.each([
    ['example.com:443'],
    ['https://x.test/a.ts:12'],
    ['12:30'],
    ['`a:b`'],
    ['`1.2.3.4:80`'],
    ['[x](javascript:1)'],
  ])('%j is none', (text) => {
    expect(render(text)).not.toContain('data-path');
  });
});
