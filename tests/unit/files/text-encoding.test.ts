import { describe, expect, it } from 'vitest';
import { decodeText, encodeText, NotTextError, sniffEncoding, type TextEncoding } from '#server/files/text-encoding.ts';

const bytes = (...values: number[]) => Uint8Array.from(values);
const utf16le = (text: string) => Buffer.from(text, 'utf16le');
const utf16be = (text: string) => utf16le(text).swap16();

describe('sniffEncoding', () => {
  it.each<[name: string, head: Uint8Array, encoding: TextEncoding]>([
    ['nothing', bytes(), 'utf-8'],
    ['one byte', bytes(0), 'utf-8'],
    ['a mark of UTF-8', bytes(0xef, 0xbb, 0xbf), 'utf-8'],
    ['a mark of UTF-16 LE', bytes(0xff, 0xfe), 'utf-16le'],
    ['that mark before Chinese', utf16le('\uFEFF中文'), 'utf-16le'],
    ['that mark before a line end of two bytes', bytes(0xff, 0xfe, 0, 0x4e), 'utf-16le'],
    ['that mark before a Latin character', bytes(0xff, 0xfe, 0x61, 0), 'utf-16le'],
    ['a mark of UTF-32 LE', bytes(0xff, 0xfe, 0, 0), 'utf-8'],
    ['a mark of UTF-16 BE', bytes(0xfe, 0xff), 'utf-16be'],
    ['that mark before Chinese', utf16be('\uFEFF中文'), 'utf-16be'],
    ['the first byte of a mark', bytes(0xff, 0x61), 'utf-8'],
    ['the second byte of a mark', bytes(0x61, 0xfe), 'utf-8'],
    ['the bytes of a mark apart', bytes(0xfe, 0x61, 0xff), 'utf-8'],
    ['Latin text in UTF-16 LE', utf16le('plain'), 'utf-16le'],
    ['Latin text in UTF-16 BE', utf16be('plain'), 'utf-16be'],
    ['40 % Latin in UTF-16 LE', utf16le('ab中文字'), 'utf-16le'],
    ['40 % Latin in UTF-16 BE', utf16be('ab中文字'), 'utf-16be'],
    ['less Latin in UTF-16 LE', utf16le('a中文字'), 'utf-8'],
    ['less Latin in UTF-16 BE', utf16be('a中文字'), 'utf-8'],
    ['Latin text and a first half of a character', Buffer.concat([utf16le('ab'), bytes(0x63)]), 'utf-16le'],
    ['a zero in the half that counts for neither', Buffer.concat([utf16le('ab'), bytes(0)]), 'utf-16le'],
    ['zeros in both halves', bytes(0x61, 0, 0, 0x61), 'utf-8'],
    ['plain words', Buffer.from('plain'), 'utf-8'],
  ])('%s', (_name, head, encoding) => expect(sniffEncoding(head)).toBe(encoding));
});

describe('decoding and encoding', () => {
  it.each<[encoding: TextEncoding, content: Buffer]>([
    ['utf-8', Buffer.from('\uFEFFé中\u{1F600}\r\n')],
    ['utf-16le', utf16le('\uFEFFé中\u{1F600}\r\n')],
    ['utf-16be', utf16be('\uFEFFé中\u{1F600}\r\n')],
  ])('%s lose nothing, also no byte order mark', (encoding, content) => {
    const text = decodeText(content, encoding);
    expect(text).toBe('\uFEFFé中\u{1F600}\r\n');
    expect(encodeText(text, encoding).equals(content)).toBe(true);
  });

  it('refuse what is not text', () => {
    for (const [content, encoding] of [
      [bytes(0xc3, 0x28), 'utf-8'],
      [bytes(0x61, 0, 0x62), 'utf-16le'],
      [bytes(0x00, 0xd8), 'utf-16le'],
    ] as const) {
      expect(() => decodeText(content, encoding)).toThrow('not valid UTF-8 or UTF-16');
    }
    expect(() => decodeText(bytes(0x61, 0, 0x62), 'utf-8')).toThrow('binary');
    expect(() => decodeText(bytes(0x61, 0, 0x62), 'utf-8')).toThrow(NotTextError);
  });
});
