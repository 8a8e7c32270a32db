/** Detection of text and its encoding, and the ends of characters. */
import { describe, expect, it } from 'vitest';
import { characterEnd, decodeUtf8, fileEncoding, LEGACY_SAMPLE_BYTES, toUtf8 } from '#server/files/file-text.ts';

const bytes = (...values: number[]) => Uint8Array.from(values);
const text = (content: string, encoding: BufferEncoding = 'utf8') => Buffer.from(content, encoding);
const repeated = (value: number, times: number) => new Uint8Array(times).fill(value);

describe('fileEncoding', () => {
  it.each([
    ['nothing', bytes(), 'utf-8'],
    ['plain words', text('plain'), 'utf-8'],
    ['UTF-8 with its mark', text('\uFEFFé'), 'utf-8'],
    ['a mark of UTF-16 LE', bytes(0xff, 0xfe), 'utf-16le'],
    ['a mark of UTF-16 BE', bytes(0xfe, 0xff, 0, 0), 'utf-16be'],
    ['zeros at odd places', text('abc', 'utf16le'), 'utf-16le'],
    ['zeros at even places', text('abc', 'utf16le').swap16(), 'utf-16be'],
    ['one zero', bytes(97, 0, 98, 99), 'binary'],
    ['zeros anywhere', bytes(0, 97, 98, 0), 'binary'],
    ['a zero behind the first 512 bytes', Buffer.concat([repeated(97, 600), bytes(0)]), 'binary'],
    ['a zero behind the sample', Buffer.concat([repeated(97, 4096), bytes(0)]), 'utf-8'],
    ['30 % control characters', Buffer.concat([repeated(97, 70), repeated(1, 30)]), 'utf-8'],
    ['more of them', Buffer.concat([repeated(97, 69), repeated(127, 31)]), 'binary'],
    ['C1 control characters', text('a\u0080\u0081'), 'binary'],
    ['the last C1 control characters', text('a\u009F\u009F'), 'binary'],
    ['characters after them', text('a\u00A0\u00A0'), 'utf-8'],
    ['control characters and Latin-1', Buffer.concat([repeated(0xe4, 60), repeated(1, 40)]), 'binary'],
    ['one control character and Latin-1', Buffer.concat([repeated(0xe4, 60), repeated(1, 1)]), 'binary'],
    ['the first byte of a mark', bytes(0xff, 0x41), 'windows-1252'],
    ['the second byte of a mark', bytes(0x41, 0xfe), 'windows-1252'],
    ['the bytes of a mark as a part', bytes(0x41, 0xff, 0xfe), 'windows-1252'],
    ['two zeros', text('ab', 'utf16le'), 'utf-16le'],
    ['a zero of each kind', bytes(97, 0, 0, 97), 'binary'],
    [
      'a character cut at the end of a file of the length of the sample',
      text(`${'a'.repeat(4094)}中`).subarray(0, 4096),
      'windows-1252',
    ],
    ['tabs and line ends', text('\t\r\n\t\r\n'), 'utf-8'],
    ['a character cut at the end of the sample', text('中'.repeat(1366)), 'utf-8'],
    ['a character cut at the end of the file', text('中文').subarray(0, 5), 'windows-1252'],
    ['Latin-1', text('ÄÖÜ ß', 'latin1'), 'windows-1252'],
    ['what windows-1252 has not', bytes(0x61, 0x81, 0x62), 'binary'],
    ['a form feed in it', bytes(0xe4, 0x0c, 0x61, 0x62), 'windows-1252'],
  ])('%s', async (_name, head, expected) => {
    expect(await fileEncoding(head.subarray(0, LEGACY_SAMPLE_BYTES))).toBe(expected);
  });

  it.each([
    [
      'gb18030',
      'xOO6w6OsysC956Gj1eLKx9K7uPbTw9PasuLK1LHgwuu87LLitcTOxLz+o6zA78Pm09DX47m7tuC1xNbQzsTX1rf7o6zS1LHjv8nS1L/Jv7+12Mq2sfChow==',
      '你好，世界。这是一个用于测试编码检测的文件，里面有足够多的中文字符，以便可以可靠地识别。',
    ],
    [
      'shift_jis',
      'grGC8YLJgr+CzYFBkKKKRYFCgrGC6oLNlbaOmoNSgVuDaILMjJ+Pb4Lwjo6Ct4K9gt+CzIN0g0CDQ4OLgsWCt4FCgtCC54KqgsiCxoNKg16DSoNpgsaKv46agqqNrIK0gsGCxIKigtyCt4FC',
      'こんにちは、世界。これは文字コードの検出を試すためのファイルです。ひらがなとカタカナと漢字が混ざっています。',
    ],
    [
      'euc-jp',
      'pLOk86TLpMGkz6GiwKSzpqGjpLOk7KTPyri7+qWzobylyaTOuKG90KTyu+6kuaS/pOGkzqXVpaGlpKXrpMekuaGjpNKk6aSspMqkyKWrpb+lq6XKpMi0wbv6pKy6rqS2pMOkxqSkpN6kuaGj',
      'こんにちは、世界。これは文字コードの検出を試すためのファイルです。ひらがなとカタカナと漢字が混ざっています。',
    ],
    [
      'big5',
      'p0GmbqFBpUCsyaFDs2+sT6RArdOlzqnztPq41b1zvVjAy7T6qrrAya7XoUG4zK2xprOorLD3pmiquqSkpOWmcqS4oUGlSKtLpWmlSKVpvmGmYcPRp0+lWKjToUM=',
      '你好，世界。這是一個用於測試編碼檢測的檔案，裡面有足夠多的中文字元，以便可以可靠地識別出來。',
    ],
    [
      'euc-kr',
      'vsiz58fPvLy/5CwgvLyw6C4gwMywzcC6ILmuwNogwM7E2rX5ILCowfa4piC9w8fox8+x4iDAp8fRIMbEwM/A1LTPtNkuIMPmutDI9yC4ucC6IMfRsdvAzCC16b7uIMDWvcC0z7TZLg==',
      '안녕하세요, 세계. 이것은 문자 인코딩 감지를 시험하기 위한 파일입니다. 충분히 많은 한글이 들어 있습니다.',
    ],
  ])('%s', async (encoding, base64, content) => {
    const head = Buffer.from(base64, 'base64');
    const found = await fileEncoding(head);
    expect(found).toBe(encoding);
    if (found !== 'binary' && found !== 'utf-8') expect((await toUtf8(head, found)).toString()).toBe(content);
  });
});

describe('toUtf8', () => {
  it('keeps characters that cross chunk boundaries whole, and drops the byte order mark', async () => {
    const content = `\uFEFFx${'\u{1F600}'.repeat(200_000)}`;
    const utf8 = await toUtf8(Buffer.from(content, 'utf16le'), 'utf-16le');
    expect(utf8.equals(Buffer.from(content.slice(1)))).toBe(true);
  });

  it('replaces a character that the end cuts off', async () => {
    expect((await toUtf8(Buffer.from('ab', 'utf16le').subarray(0, 3), 'utf-16le')).toString()).toBe('a\uFFFD');
    expect((await toUtf8(bytes(0x61, 0x82), 'shift_jis')).toString()).toBe('a\uFFFD');
  });
});

describe('decodeUtf8', () => {
  const decode = async (content: Uint8Array) => {
    const chunks: string[] = [];
    for await (const chunk of decodeUtf8(content)) chunks.push(chunk);
    return chunks;
  };

  it('keeps the byte order mark, and characters that cross chunk boundaries whole', async () => {
    const content = `\uFEFFx${'\u{1F600}'.repeat(200_000)}`;
    const chunks = await decode(text(content));
    expect(chunks.join('') === content).toBe(true);
    expect(chunks.length).toBeGreaterThan(3);
  });

  it('replaces invalid sequences, also one that the end cuts off', async () => {
    expect((await decode(bytes(0x61, 0xff, 0x62, 0xe4, 0xb8))).join('')).toBe('a\uFFFDb\uFFFD');
    expect((await decode(bytes())).join('')).toBe('');
  });
});

describe('characterEnd', () => {
  const sample = text('é中\u{1F600}a');
  it.each([
    [0, 0],
    [1, 2],
    [2, 2],
    [3, 5],
    [4, 5],
    [6, 9],
    [8, 9],
    [9, 9],
    [10, 10],
  ])('moves %i to %i', (at, end) => expect(characterEnd(sample, at)).toBe(end));

  it('skips at most the bytes of one character if they are not UTF-8', () => {
    expect(characterEnd(bytes(0x80, 0x80, 0x80, 0x80), 2)).toBe(2);
    expect(characterEnd(bytes(0xe4, 0x61), 1)).toBe(1);
    expect(characterEnd(bytes(0xf0, 0x80, 0x80, 0x80, 0x80), 4)).toBe(4);
    expect(characterEnd(bytes(0xe0, 0x80, 0x80), 1)).toBe(3);
    expect(characterEnd(bytes(0xc0, 0x80), 1)).toBe(2);
    expect(characterEnd(bytes(0x80, 0x80, 0x80), 1)).toBe(1);
    expect(characterEnd(bytes(0xe4, 0x80, 0x61), 1)).toBe(2);
    expect(characterEnd(bytes(0x61, 0x80, 0x80), 1)).toBe(1);
  });
});
