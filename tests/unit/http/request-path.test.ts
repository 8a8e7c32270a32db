import { expect, it } from 'vitest';
import { splitRequestPath } from '#utils/http/request-path.ts';

it('decodes each segment once and keeps what is inside it', () => {
  expect(splitRequestPath('/a%2Fb/c%3Fd/e%253A?x=%zz')).toEqual({
    decoded: '/a/b/c?d/e%3A',
    segments: ['a/b', 'c?d', 'e%3A'],
    query: 'x=%zz',
  });
});

it('takes the absolute form, and empty segments as they are', () => {
  expect(splitRequestPath('http://localhost:1/a//b/')?.segments).toEqual(['a', '', 'b', '']);
});

it.each(['/%', '/a%zz', '/%ff'])('refuses %s', (path) => expect(splitRequestPath(path)).toBeUndefined());
