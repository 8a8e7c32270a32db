/** The text of benign and hostile pages in many encodings, extracted in a worker thread. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OUTPUT_MAX_CHARS } from '#server/text/truncate.ts';
import { decodeBeginning, encodingOf } from '#server/web/body.ts';
import { EXTRACTION_MS, extractText } from '#server/web/extraction.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const never = new AbortController().signal;

let clock: ManualClock;
beforeEach(() => {
  clock = manualClock();
});
/** No timer of a page remains after its extraction. */
afterEach(() => expect(clock.waits()).toEqual([]));

const extract = (html: string, signal = never) => extractText(bytesOf(html), 'utf-8', { signal, clock });
const sentence = 'The engine turns, the wheels follow, and nobody looks back. ';

describe('extracts', () => {
  test('the main part, with its headings, lists, tables and code, without the text around it', async () => {
    const page = `<!doctype html><html><head><title> The
      engine &amp; co </title><style>p{}</style><script>var secret = '<p>no</p>'</script></head><body>
      <nav><ul><li><a href="/">Home</a></li><li><a href="/about">About</a></li></ul></nav>
      <div id="content"><h2>How it works</h2><p>${sentence.repeat(12)}</p><p>It has <b>two</b>
      <i>parts</i>:</p><ul><li>a wheel</li><li>a belt</li></ul><pre>let a = 1;
  a += 1;</pre><table><tr><th>Part</th><th>Size</th></tr><tr><td>wheel</td><td>4</td></tr></table><p>${sentence.repeat(12)}</p></div>
      <footer>All rights reserved</footer></body></html>`;
    const { title, text } = await extract(page);
    expect(title).toBe('The engine & co');
    expect(text).toContain('## How it works\n\nThe engine turns');
    expect(text).toContain(
      'It has two parts:\n\n- a wheel\n- a belt\n\nlet a = 1;\n  a += 1;\n\nPart | Size\nwheel | 4',
    );
    for (const around of ['Home', 'rights', 'secret', 'p{}']) expect(text).not.toContain(around);
  });

  test.each<[string, string, string]>([
    ['a piece of a page', 'Hello <b>you</b><br>there<template>b</template><noscript>c</noscript>', 'Hello you\nthere'],
    ['nothing but a comment', '<!-- <html> -->', ''],
  ])('%s', async (_what, html, text) => {
    expect((await extract(html)).text).toBe(text);
  });

  test('slightly more than the output limit, of a longer page', async () => {
    const { text } = await extract(`<body>${`<p>${sentence.repeat(20)}</p>`.repeat(60)}</body>`);
    expect(text.length).toBeGreaterThan(OUTPUT_MAX_CHARS);
    expect(text.length).toBeLessThan(OUTPUT_MAX_CHARS + 2000);
  });
});

describe('hostile pages', () => {
  /** Without a search for the main part, the only article is used, or an element with the role main. */
  const article = `around <main>m <article>${sentence}</article></main>`;
  const articles = `around <main><article>1</article> <article>2</article></main>`;

  test.each<[string, string, string]>([
    ['deep', `${article}${'<div>'.repeat(10_000)}deep`, sentence.trim()],
    ['wide', `${articles}${'<i>a</i>'.repeat(21_000)}`, '1\n\n2'],
    ['full of what does not end', `engine<!--${'<!--'.repeat(10_000)}--> ${'<'.repeat(1000)}`, 'engine'],
  ])('%s', async (_what, html, begins) => {
    let turns = 0;
    const turn = () => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    const { text } = await extract(html).finally(() => clearImmediate(next));
    expect(text.slice(0, begins.length + 1).trim()).toBe(begins);
    // The event loop was not blocked meanwhile.
    expect(turns).toBeGreaterThan(5);
  });

  test('a page that takes too long is given up, and its thread terminated', async () => {
    const reading = extract('<p>a');
    clock.advance(EXTRACTION_MS);
    await expect(reading).rejects.toThrow('too large or too deep');
  });

  test('an abort terminates the thread', async () => {
    const controller = new AbortController();
    const reading = extract('<p>a', controller.signal);
    controller.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
    await expect(extract('<p>a', controller.signal)).rejects.toThrow('enough');
  });
});

describe('encodings', () => {
  const text = 'Grüße';
  const latin1 = Buffer.from(text, 'latin1');
  const utf16 = Buffer.from(text, 'utf16le');
  const page = (head: string, body: Uint8Array) => Buffer.concat([Buffer.from(head), body]);

  test.each<[string, Uint8Array, string | null, string]>([
    ['UTF-8 unless something else is said', Buffer.from(text), null, text],
    ['what can be no UTF-8', latin1, 'text/html', text],
    ['the type', latin1, 'text/html; charset=ISO-8859-1', text],
    ['the type, quoted', latin1, 'text/html;charset="latin1"; x=y', text],
    ['an unknown name', Buffer.from(text), 'text/html; charset=klingon', text],
    ['a name that is dangerous elsewhere', Buffer.from('+ADw-b+AD4-'), 'text/html; charset=utf-7', '+ADw-b+AD4-'],
    ['the page', page('<meta charset=iso-8859-1>', latin1), 'text/html', `<meta charset=iso-8859-1>${text}`],
    [
      'the page, in the older way',
      page('<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">', latin1),
      null,
      `<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">${text}`,
    ],
    [
      'the document',
      page('<?xml version="1.0" encoding="iso-8859-1"?>', latin1),
      null,
      `<?xml version="1.0" encoding="iso-8859-1"?>${text}`,
    ],
    [
      'the page, where the type says something',
      page('<meta charset=koi8-r>', latin1),
      'a/b; charset=latin1',
      `<meta charset=koi8-r>${text}`,
    ],
    [
      'UTF-16 that a page of bytes claims',
      page('<meta charset=utf-16>', Buffer.from(text)),
      null,
      `<meta charset=utf-16>${text}`,
    ],
    ['a mark, against the type', page('\ufeff', Buffer.from(text)), 'text/html; charset=latin1', text],
    ['a mark of UTF-16', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]), 'text/html; charset=latin1', text],
    [
      'a mark of UTF-16, the other way',
      Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()]),
      null,
      text,
    ],
    ['Shift_JIS', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), 'text/html; charset=Shift_JIS', '日本'],
    ['GBK', Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), 'text/html; charset=gbk', '你好'],
  ])('%s', (_what, bytes, contentType, decoded) => {
    expect(decodeBeginning(bytes, encodingOf(bytes, contentType))).toBe(decoded);
  });

  test('the thread decodes, too', async () => {
    const bytes = new Uint8Array(page('<p>', latin1));
    expect(await extractText(bytes, 'windows-1252', { signal: never, clock })).toEqual({ title: '', text });
  });
});
