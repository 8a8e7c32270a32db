import { describe, expect, it } from 'vitest';
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

describe('a base path', () => {
  const at = (target: string) => parseRequestTarget(target, '/code');

  it.each([
    ['/code/api/v1/meta?a=1', { raw: '/api/v1/meta', segments: ['api', 'v1', 'meta'], query: 'a=1', removed: '/code' }],
    ['http://h/code/x', { raw: '/x', removed: '/code' }],
    ['/code/', { raw: '/', decoded: '/', segments: [''], removed: '/code' }],
    ['/code//x', { raw: '//x', segments: ['', 'x'], removed: '/code' }],
    ['/code/code/x', { raw: '/code/x', removed: '/code' }],
    ['/code/../api', { raw: '/../api', segments: ['..', 'api'], removed: '/code' }],
  ])('is removed once from %s', (target, expected) => expect(at(target)).toMatchObject(expected));

  it.each([
    '/codex',
    '/codex/api',
    '/Code/api',
    '%2Fcode/api',
    '/%63ode/api',
    '/api/v1/meta',
    '//code/api',
    '/x/code/',
  ])('is not removed from %s', (target) => expect(at(target)).toEqual(parseRequestTarget(target)));

  it('is recognized without the slash at its end', () => {
    expect(at('/code?a=1')).toEqual({ ...parseRequestTarget('/code?a=1'), isBase: true });
    expect(at('/code/code')).not.toHaveProperty('isBase');
  });
});
