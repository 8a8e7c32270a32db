import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createRest, type FileEntry } from '@service-code/client';
import { createFileTree } from '../../../web/features/workspace/file-tree.ts';
import {
  ancestorsOf,
  emptyTree,
  rowsOf,
  touched,
  withListed,
  withOpen,
  type Directory,
} from '../../../web/features/workspace/tree.ts';

const entry = (path: string, kind: FileEntry['kind'] = 'file'): FileEntry => ({
  path,
  name: path.replace(/.*\//, ''),
  kind,
  modified_at: '2026-01-01T00:00:00.000Z',
  etag: 'x',
});
const directory = (...entries: FileEntry[]): Directory => ({ entries, cut: false });
const listed = new Map([
  ['.', directory(entry('src', 'directory'), entry('a.ts'))],
  ['src', directory(entry('src/deep', 'directory'), entry('src/b.ts'))],
  ['src/deep', { entries: [entry('src/deep/c.ts')], cut: true }],
]);
const tree = (...open: string[]) => ({ listed, open: new Set(['.', ...open]) });
const paths = (...open: string[]) => rowsOf(tree(...open)).map(({ depth, entry: { path } }) => `${depth} ${path}`);

describe('the rows', () => {
  it('are those of open directories whose parents are open', () => {
    expect(paths()).toEqual(['0 src', '0 a.ts']);
    expect(paths('src')).toEqual(['0 src', '1 src/deep', '1 src/b.ts', '0 a.ts']);
    expect(paths('src/deep')).toEqual(['0 src', '0 a.ts']);
  });

  it('mark where a directory has more', () => {
    expect(rowsOf(tree('src', 'src/deep')).filter(({ cut }) => cut)).toMatchObject([
      { entry: { path: 'src/deep/c.ts' } },
    ]);
  });
});

describe('changes', () => {
  it('affect the open directories above them', () => {
    expect(ancestorsOf('src/deep/c.ts')).toEqual(['.', 'src', 'src/deep']);
    expect(touched(tree('src'), ['src/deep/c.ts', 'x'])).toEqual(['.', 'src']);
  });

  it('close a directory that was removed', () => {
    const after = withListed(tree('src', 'src/deep'), ['src'], new Map());
    expect([...after.open]).toEqual(['.', 'src/deep']);
    expect(after.listed.has('src')).toBe(false);
    expect(rowsOf(withOpen(withListed(emptyTree, ['.'], listed), 'src', true))).toHaveLength(2);
  });
});

it('a tree coalesces concurrent requests into one more, and draws what could be read', async () => {
  const asked: string[][] = [];
  const answers: (() => void)[] = [];
  const server = async (url: string | URL | Request, init: RequestInit = {}) => {
    expect(String(url)).toBe('http://x/api/v1/sessions/session_1/fs:list_many');
    const { paths } = z.object({ paths: z.array(z.string()) }).parse(JSON.parse(String(init.body)));
    asked.push(paths);
    await new Promise<void>((resolve) => answers.push(resolve));
    const results = Object.fromEntries(paths.map((path) => [path, listed.get(path)?.entries ?? []]));
    return Response.json({ code: 0, data: { results, truncated_paths: [] } });
  };
  const rest = createRest({ baseUrl: 'http://x/', token: () => undefined, fetch: server });
  const errors: unknown[] = [];
  const files = createFileTree(rest, 'session_1', (error) => void errors.push(error));
  const first = files.refresh();
  void files.toggle('src');
  void files.changed(['src/b.ts']);
  await expect.poll(() => answers.length).toBe(1);
  answers.shift()?.();
  await expect.poll(() => answers.length).toBe(1);
  answers.shift()?.();
  await first;
  expect(asked).toEqual([['.'], ['src', '.']]);
  expect(rowsOf(files.tree.value)).toHaveLength(4);
  expect(errors).toEqual([]);
});
