/** Safety decisions that must be implemented in one file: a second implementation would diverge in time. */
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

describe('code that occurs in one file only', () => {
  it.each([
    ['splits the query off a request target', /indexOf\('\?'\)|split\('\?'/, ['utils/http/request-target.ts']],
    ['parses what a `.git` file says', /gitdir: /, ['server/project-files/repository.ts']],
    [
      'walks upward and names `.git` entries',
      // A call of `dirname` in a loop and a path that ends in `.git`, in any order.
      /^(?=[^]*(\w+) = dirname\(\1\))(?=[^]*join\(\w+, (?:'\.git'|GIT\w*)\))/,
      [
        // Git's search, which ignores owners and finds bare repositories.
        'server/git/discovery.ts',
        'server/project-files/git-entries.ts',
      ],
    ],
    ['parses YAML of any author', /import\('yaml'\)|from 'yaml'/, ['server/files/front-matter.ts']],
    [
      'reads request targets',
      /parseRequestTarget\(/,
      ['utils/http/request-handler.ts', 'utils/http/request-target.ts', 'utils/http/websocket.ts'],
    ],
    // As a namespace (`* as z`) it loses the parts that a program does not use.
    ['imports all of zod', /import (type )?\{[^}]*\} from 'zod'/, []],
  ])('%s', (_what, pattern, files) => expect(filesWith(pattern)).toEqual(files));
});

it.each([
  'server/workspaces/local-config.ts',
  'server/ignore-rules/ignore-rules.ts',
  'server/mcp/config/server-file.ts',
  'server/plugins/catalog.ts',
  'server/plugins/manifest.ts',
  'server/plugins/manifest-prompt.ts',
  'server/plugins/registry.ts',
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

describe('files protected by a change lock', () => {
  /** The modules with functions that write such files; all are passed to a lock, which passes them to its callers. */
  const factories = [
    'server/config/config-writer.ts',
    'server/mcp/auth/credential-changes.ts',
    'server/mcp/config/user-file-writer.ts',
    'server/plugins/plugins-writer.ts',
    'server/workspaces/registry-document.ts',
  ];
  const text = (path: string) => sources.get(path) ?? '';

  it('are written through the lock only', () => {
    const holders = filesWith(/\bChangeLock<|\bChangeCredential\b|\bCredentialReader\b/).filter(
      (path) => path !== 'server/storage/change-lock.ts' && !factories.includes(path),
    );
    expect(holders).toContain('server/mcp/auth/grants.ts');
    expect(holders).toContain('server/mcp/auth/authorization.ts');
    const writes =
      /\bwrite(File\w*|ThroughLinks)\(|\b(documents|store)\.(set|setText|write|remove)\(|documents\[|confirmed\.add\(/;
    expect(holders.filter((path) => writes.test(text(path)))).toEqual([]);
    expect(filesWith(/acquireLease\(/)).toEqual([
      'server/app/open-home.ts',
      'server/journal/journal-files.ts',
      // Owns the lease during a whole run, and fences before it writes the time of the run.
      'server/model-catalog/refresh-schedule.ts',
      // Owns the lease for the life of a tunnel, and fences before it writes its documents.
      'server/remote/lock.ts',
      'server/search/search.ts',
      'server/storage/change-lock.ts',
      'server/storage/lease.ts',
    ]);
  });

  it('have no writer that a service receives without its lock', () => {
    // A reader that is also a writer would expose the write functions to all of its users.
    expect(filesWith(/extends \w*Writer\b(?! *<)/)).toEqual([]);
    const made = [...sources.values()].flatMap((source) =>
      [...source.matchAll(/^.*\bcreate\w+Writer\(.*$/gm)].map(([line]) => line),
    );
    const known = /^export |createChangeLock\(\{.*\bwriter: create\w+Writer\(/;
    expect(made.filter((line) => !known.test(line))).toEqual([]);
    expect(filesWith(/createChangeLock\(/)).toEqual([
      'server/account/token-changes.ts',
      'server/app/open-home.ts',
      'server/app/open-mcp.ts',
      'server/app/open-plugins.ts',
      'server/app/open-workspaces.ts',
      'server/mcp/auth/credential-changes.ts',
    ]);
    expect(filesWith(/\bdocumentKey\(/)).toEqual([
      'server/mcp/auth/credential-changes.ts',
      'server/mcp/auth/credentials.ts',
    ]);
  });

  it('are among the documents that a listed module writes', () => {
    const ofServer = (pattern: RegExp) => filesWith(pattern).filter((path) => path.startsWith('server/'));
    expect(
      ofServer(/\bdocuments\.(set|setText|remove)\(|\{[^}]*\b(set|setText|remove)\b[^}]*\} = documents\b/),
    ).toEqual([
      'server/account/identity.ts',
      'server/account/token-changes.ts',
      'server/mcp/auth/credential-changes.ts',
      'server/model-catalog/refresh-schedule.ts',
      // Whole values under separate keys, which no change reads first.
      'server/models/video-uploads.ts',
      'server/plugins/checksums.ts',
      'server/remote/lock.ts',
      'server/uploads/uploads.ts',
      // Runs within the lock of additional directories.
      'server/workspaces/confirmed-dirs.ts',
      'server/workspaces/registry-document.ts',
      'server/workspaces/trust.ts',
    ]);
    expect(filesWith(/\bwriteThroughLinks\(/)).toEqual([
      'server/config/config-writer.ts',
      'server/files/atomic-write.ts',
      'server/mcp/config/user-file-writer.ts',
      'server/workspaces/local-config.ts',
    ]);
  });
});
