import { describe, expect, it } from 'vitest';
import { allowsRange, namesEtag, parseRange } from '#utils/http/byte-range.ts';
import { contentDisposition } from '#utils/http/content-disposition.ts';

describe('parseRange', () => {
  it.each([
    ['bytes=0-3', { start: 0, end: 3 }],
    ['bytes=2-2', { start: 2, end: 2 }],
    ['bytes=4-', { start: 4, end: 9 }],
    ['bytes=4-999', { start: 4, end: 9 }],
    ['bytes=4-99999999999999999999999', { start: 4, end: 9 }],
    ['bytes=-4', { start: 6, end: 9 }],
    ['bytes=-999', { start: 0, end: 9 }],
    ['bytes=9-', { start: 9, end: 9 }],
    ['bytes=-1', { start: 9, end: 9 }],
    [' bytes=0-0 ', { start: 0, end: 0 }],
  ])('%s is a part of ten bytes', (header, range) => {
    expect(parseRange(header, 10)).toEqual(range);
  });

  it.each([
    undefined,
    '',
    'bytes=',
    'bytes=-',
    'bytes=-0',
    'bytes=10-',
    'bytes=999-',
    'bytes=12-11',
    'bytes=5-4',
    'bytes=0-1,3-4',
    'bytes=1-x',
    'bytes=0x1-2',
    'bytes=1.5-2',
    'bytes 0-1',
    'xbytes=0-1',
    'bytes=0-1x',
    'lines=0-1',
  ])('%s is the whole', (header) => {
    expect(parseRange(header, 10)).toBeUndefined();
  });

  it.each(['bytes=0-', 'bytes=0-0', 'bytes=-1'])('%s of an empty file is the whole', (header) => {
    expect(parseRange(header, 0)).toBeUndefined();
  });
});

describe('namesEtag', () => {
  it.each(['a-1', '"a-1"', 'W/"a-1"', '"other", "a-1"', 'other,a-1', '*', 'W/a-1'])('%s names a-1', (header) => {
    expect(namesEtag(header, 'a-1')).toBe(true);
  });
  it.each([undefined, '', '"a-2"', 'a', '"a-1', 'a-1"', '"a-1"x', 'w/"a-1"', '"aW/-1"'])('%s does not', (header) => {
    expect(namesEtag(header, 'a-1')).toBe(false);
  });
});

it.each([
  [undefined, true],
  ['"a-1"', true],
  ['a-1', true],
  [' "a-1" ', true],
  ['W/"a-1"', false],
  ['"a-2"', false],
  ['Sat, 01 Jan 2000 00:00:00 GMT', false],
])('If-Range %s: %s', (header, allowed) => {
  expect(allowsRange(header, 'a-1')).toBe(allowed);
});

describe('contentDisposition', () => {
  it.each([
    ['a b (1)+[x]-_.txt', 'inline; filename="a b (1)+[x]-_.txt"'],
    ['ünï.txt', `inline; filename="_n_.txt"; filename*=UTF-8''%C3%BCn%C3%AF.txt`],
    ['a"b\\c.txt', `inline; filename="a_b_c.txt"; filename*=UTF-8''a%22b%5Cc.txt`],
    ["it's 100%*.txt", `inline; filename="it_s 100__.txt"; filename*=UTF-8''it%27s%20100%25%2A.txt`],
    ['a\r\nset-cookie: x=1', `inline; filename="a__set-cookie_ x_1"; filename*=UTF-8''a%0D%0Aset-cookie%3A%20x%3D1`],
    ['😀\uD800', `inline; filename="__"; filename*=UTF-8''%F0%9F%98%80%EF%BF%BD`],
    ['', `inline; filename=""; filename*=UTF-8''`],
  ])('%j', (name, header) => {
    expect(contentDisposition('inline', name)).toBe(header);
  });
});
