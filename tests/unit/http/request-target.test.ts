import { expect, it } from 'vitest';
import { parseRequestTarget } from '#utils/http/request-target.ts';

it('decodes each segment once and keeps what is inside it', () => {
  expect(parseRequestTarget('/a%2Fb/c%3Fd/e%253A?x=%zz')).toEqual({
    raw: '/a%2Fb/c%3Fd/e%253A',
    decoded: '/a/b/c?d/e%3A',
    segments: ['a/b', 'c?d', 'e%3A'],
    query: 'x=%zz',
  });
});

it('treats the text after the first question mark as the query', () => {
  expect(parseRequestTarget('/a/b')).toEqual({ raw: '/a/b', decoded: '/a/b', segments: ['a', 'b'], query: '' });
  expect(parseRequestTarget('/?a=1?b')).toEqual({ raw: '/', decoded: '/', segments: [''], query: 'a=1?b' });
});

it('accepts the absolute form, and keeps empty segments', () => {
  expect(parseRequestTarget('http://localhost:1/a//b/')?.segments).toEqual(['a', '', 'b', '']);
  expect(parseRequestTarget('HTTPS://[::1]:1/a?b=/c')).toMatchObject({ raw: '/a', segments: ['a'], query: 'b=/c' });
});

it.each(['http://localhost', 'http://localhost?a=1', 'http://'])(
  'takes the empty path of %s for the root',
  (target) => {
    expect(parseRequestTarget(target)).toMatchObject({ raw: '/', decoded: '/', segments: [''] });
  },
);

it.each([
  '/%',
  '/a%zz',
  '/%ff',
  '/%C3/%A9',
  '',
  '*',
  '*/api/v1/meta',
  '*x/api/v1/meta',
  '?a=1',
  'api/v1/meta',
  'ftp://localhost/api/v1/meta',
  'x://y/api/v1/meta',
  'http:/api/v1/meta',
  'http:///%',
  'http://h#/api/v1/meta',
])('refuses %s', (target) => expect(parseRequestTarget(target)).toBeUndefined());
