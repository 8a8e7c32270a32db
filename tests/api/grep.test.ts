import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFilesSession, type FilesSession } from '#support/files-session.ts';

let session: FilesSession;
beforeAll(async () => {
  session = await startFilesSession();
  await writeFile(join(session.root, 'a.txt'), '中文 needle\n');
});
afterAll(() => session.close());

it('finds text in the files of a session', async () => {
  expect(await session.ok('grep', { pattern: 'needle' })).toEqual({
    files: [{ path: 'a.txt', matches: [{ line: 1, col: 4, text: '中文 needle', before: [], after: [] }] }],
    files_scanned: 1,
    truncated: false,
    elapsed_ms: expect.any(Number),
  });
});

it('accepts a pattern that looks like an option', async () => {
  expect(await session.ok('grep', { pattern: '--files' })).toMatchObject({ files: [] });
});

it.each([
  [{}, 'pattern'],
  [{ pattern: '' }, 'pattern'],
  [{ pattern: '(', regex: true }, 'pattern'],
  [{ pattern: 'x', max_files: 0 }, 'max_files'],
  [{ pattern: 'x', max_files: 10_001 }, 'max_files'],
  [{ pattern: 'x', max_matches_per_file: 10_001 }, 'max_matches_per_file'],
  [{ pattern: 'x', max_total_matches: 100_001 }, 'max_total_matches'],
  [{ pattern: 'x', context_lines: 11 }, 'context_lines'],
  [{ pattern: 'x', exclude_globs: ['a', '[b'] }, 'exclude_globs.1'],
])('%j is refused at %s', async (body, path) => {
  expect(await session.fs('grep', body)).toMatchObject({ code: 40001, details: [{ path }] });
});
