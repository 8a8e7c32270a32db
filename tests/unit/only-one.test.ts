/** Decisions about safety that must be made in one place: a second one would come to other results some day. */
import { readFile, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const sources = new Map<string, string>();

beforeAll(async () => {
  for (const folder of ['server', 'utils', 'plugins', 'routes']) {
    for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts')) continue;
      const path = join(entry.parentPath, entry.name);
      sources.set(path.slice(root.length + 1), await readFile(path, 'utf8'));
    }
  }
});

const filesWith = (pattern: RegExp) =>
  [...sources].flatMap(([path, text]) => (pattern.test(text) ? path : [])).toSorted();

describe('one file alone', () => {
  it.each([
    ['splits the query off a request target', /indexOf\('\?'\)|split\('\?'/, ['utils/http/request-target.ts']],
    ['parses what a `.git` file says', /gitdir: /, ['server/project-files/repository.ts']],
    [
      'walks upward and names `.git` entries',
      // A call of `dirname` in a loop and a path that ends in `.git`, in any order.
      /^(?=[^]*(\w+) = dirname\(\1\))(?=[^]*join\(\w+, (?:'\.git'|GIT\w*)\))/,
      [
        // Git's own search, which asks for no owner and finds bare repositories.
        'server/git/discovery.ts',
        'server/project-files/git-entries.ts',
      ],
    ],
    [
      'reads request targets',
      /parseRequestTarget\(/,
      ['utils/http/handler.ts', 'utils/http/request-target.ts', 'utils/http/websocket.ts'],
    ],
  ])('%s', (_what, pattern, files) => expect(filesWith(pattern)).toEqual(files));
});

it.each([
  'server/workspaces/local-config.ts',
  'server/files/ignore-rules.ts',
  'server/mcp/config/server-file.ts',
  'server/git/line-counts.ts',
  'server/git/submodules.ts',
])('%s reads the content of no file without the bounded reader', (path) => {
  const text = sources.get(path) ?? '';
  const imported = [...text.matchAll(/import (?:\{([^}]*)\}|[^;]*) from 'node:fs/g)].flatMap(
    ([, names = '*']) => names,
  );
  expect(text).not.toBe('');
  expect(imported.join()).not.toMatch(/\*|\bread|open|Stream|cp|copy/);
});

it('what a change lock protects is written through the lock only', () => {
  const holders = filesWith(/ChangeLock</).filter((path) => path !== 'server/storage/change-lock.ts');
  expect(holders).not.toEqual([]);
  const writers = holders.filter((path) =>
    /\bwrite(File\w*|ThroughLinks)\(|documents\.set\(|confirmed\.add\(/.test(sources.get(path) ?? ''),
  );
  expect(writers).toEqual([]);
  expect(filesWith(/acquireLease\(/)).toEqual([
    'server/app.ts',
    'server/journal/journal-files.ts',
    'server/storage/change-lock.ts',
    'server/storage/lease.ts',
  ]);
});
