import { expect, it } from 'vitest';
import { parseSource } from '#server/plugins/sources.ts';

const sha = '0123456789abcdef0123456789abcdef01234567';

it.each([
  ['https://github.com/acme/tools', 'acme', 'tools', undefined],
  ['https://github.com/acme/tools/', 'acme', 'tools', undefined],
  ['https://www.github.com/acme/tools.git', 'acme', 'tools', undefined],
  ['  https://github.com/acme/tools?tab=readme#top  ', 'acme', 'tools', undefined],
  ['https://github.com/acme/tools/tree/main', 'acme', 'tools', ['branch', 'main']],
  ['https://github.com/acme/tools/tree/feature/a%20b', 'acme', 'tools', ['branch', 'feature/a b']],
  ['https://github.com/acme/tools/tree/abcdef1', 'acme', 'tools', ['sha', 'abcdef1']],
  ['https://github.com/acme/tools/tree/abcdef', 'acme', 'tools', ['branch', 'abcdef']],
  ['https://github.com/acme/tools/tree/ABCDEF1', 'acme', 'tools', ['branch', 'ABCDEF1']],
  ['https://github.com/acme/tools/releases/tag/v1.2.0', 'acme', 'tools', ['tag', 'v1.2.0']],
  ['https://github.com/acme/tools/releases/tag/pkg%2Fv1', 'acme', 'tools', ['tag', 'pkg/v1']],
  [`https://github.com/acme/tools/commit/${sha.toUpperCase()}`, 'acme', 'tools', ['sha', sha]],
])('%s is a repository', (text, owner, repo, ref) => {
  const [kind, value] = ref ?? [];
  expect(parseSource(text)).toEqual({
    kind: 'github',
    original: text.trim(),
    owner,
    repo,
    ref: ref && { kind, value },
  });
});

it.each([
  'http://github.com/acme/tools',
  'https://github.com/acme',
  'https://github.com/acme/tools/blob/main/a.zip',
  'https://github.com/acme/tools/releases',
  'https://github.com/acme/tools/releases/latest',
  'https://github.com/acme/tools/releases/download/v1/tools.zip',
  'https://github.com/acme/tools/tree',
  'https://github.com/acme/tools/tree/a//b',
  'https://github.com/acme/tools/tree/%E0%A4%A',
  'https://github.com/acme/tools/tree/a%2F..%2F..%2Fb',
  'https://github.com/acme/tools/tree/a%00b',
  'https://github.com/acme/tools/commit/main',
  'https://github.com/acme/tools/archive/main.zip',
  'https://github.com:8443/acme/tools',
  'https://github.com.example.org/acme/tools',
  'https://api.github.com/acme/tools',
  'https://github.com/a%20b/tools',
  'HTTP://127.0.0.1:1/a.zip',
])('%s is an archive', (text) => {
  expect(parseSource(text)).toEqual({ kind: 'zip-url', original: text, url: new URL(text).href });
});

it('takes absolute paths only', () => {
  expect(parseSource(' /a/b ')).toEqual({ kind: 'local-path', original: '/a/b', path: '/a/b' });
  for (const text of ['a', './a', '~/a', 'ftp://host/a.zip', 'git@github.com:acme/tools.git']) {
    expect(() => parseSource(text)).toThrow(`Plugin root must be an absolute path (got "${text}")`);
  }
  expect(() => parseSource('http://')).toThrow('Invalid URL');
});
