import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { grepFields, type GrepReply } from '#schema/rest/grep.ts';
import { groupRuns } from '#server/processes/process-group.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { grep, type GrepDeps } from '#server/workspace-files/grep/grep.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { openProjects } from '#support/projects.ts';

const runtime = createLocalRuntime();
const requestSchema = z.object(grepFields);
let root: string;
beforeEach(async () => {
  root = await temporaryHome();
});

async function write(files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
}
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `l${from + index}`);
const paths = ({ files }: GrepReply) => files.map(({ path }) => path);

type Request = z.input<typeof requestSchema>;
const search = (request: Request, deps: Partial<GrepDeps> = {}) =>
  grep({ root, additionalDirs: () => [] }, requestSchema.parse(request), {
    runtime,
    topOf: openProjects().topOf,
    signal: new AbortController().signal,
    ...deps,
  });

describe.each<[string, Partial<GrepDeps>]>([
  ['with ripgrep', {}],
  ['without ripgrep', { ripgrep: async () => undefined }],
  ['with a ripgrep that does not start', { ripgrep: async () => '/dev/null' }],
])('%s', (_name, engine) => {
  const find = (request: Request, deps: Partial<GrepDeps> = {}) => search(request, { ...engine, ...deps });

  it('returns file, line, column and the lines around', async () => {
    await write({ 'src/b.txt': 'one\ntwo needle\nthree\nfour', 'a.txt': '中文 needle needle\n', clean: 'nothing' });
    expect(await find({ pattern: 'needle', context_lines: 1 })).toEqual({
      files: [
        { path: 'a.txt', matches: [{ line: 1, col: 4, text: '中文 needle needle', before: [], after: [] }] },
        { path: 'src/b.txt', matches: [{ line: 2, col: 5, text: 'two needle', before: ['one'], after: ['three'] }] },
      ],
      files_scanned: 3,
      truncated: false,
      elapsed_ms: expect.any(Number),
    });
  });

  it('returns the full context of neighbouring matches', async () => {
    await write({ a: [...lines(1, 4), 'x5', 'x6', 'l7', 'x8', ...lines(9, 12)].join('\n') });
    const [file] = (await find({ pattern: 'x', context_lines: 3 })).files;
    expect(file?.matches).toEqual([
      { line: 5, col: 1, text: 'x5', before: ['l2', 'l3', 'l4'], after: ['x6', 'l7', 'x8'] },
      { line: 6, col: 1, text: 'x6', before: ['l3', 'l4', 'x5'], after: ['l7', 'x8', 'l9'] },
      { line: 8, col: 1, text: 'x8', before: ['x5', 'x6', 'l7'], after: ['l9', 'l10', 'l11'] },
    ]);
  });

  it('returns the full context of the last match within a limit', async () => {
    await write({ a: 'x1\nx2\nx3\nx4\nx5\n' });
    const expected = [
      { line: 1, col: 1, text: 'x1', before: [], after: ['x2', 'x3'] },
      { line: 2, col: 1, text: 'x2', before: ['x1'], after: ['x3', 'x4'] },
    ];
    for (const limit of [{ max_matches_per_file: 2 }, { max_total_matches: 2 }]) {
      const { files, truncated } = await find({ pattern: 'x', ...limit });
      expect(files).toEqual([{ path: 'a', matches: expected }]);
      expect(truncated).toBe(true);
    }
  });

  it('a limit that is reached exactly drops no match', async () => {
    await write({ a: 'x\nx\n', b: 'x\n', binary: 'x\0' });
    const limits = { max_matches_per_file: 2, max_total_matches: 3, max_files: 2 };
    expect((await find({ pattern: 'x', ...limits })).truncated).toBe(false);
    for (const [name, value] of Object.entries(limits)) {
      const reply = await find({ pattern: 'x', ...limits, [name]: value - 1 });
      expect({ [name]: reply.truncated }).toEqual({ [name]: true });
      expect(reply.files_scanned).toBeGreaterThanOrEqual(reply.files.length);
    }
  });

  it('counts columns in UTF-16 units, of the first occurrence', async () => {
    await write({ a: '😀é needle\n', b: Buffer.concat([Buffer.from([0xff, 0x20]), Buffer.from('needle\n')]) });
    const { files } = await find({ pattern: 'needle' });
    expect(files.map(({ matches }) => matches[0]?.col)).toEqual([5, 3]);
    expect(files[1]?.matches[0]?.text).toBe('\uFFFD needle');
  });

  it('strips line ends, and decodes UTF-16 by its byte order mark', async () => {
    await write({
      crlf: 'a\r\nneedle\r\nb\r\n',
      wide: Buffer.from('\uFEFFé\nthe needle\r\nb', 'utf16le'),
      marked: '\uFEFFneedle',
    });
    const { files } = await find({ pattern: 'needle$', regex: true });
    expect(files).toEqual([
      { path: 'crlf', matches: [{ line: 2, col: 1, text: 'needle', before: ['a'], after: ['b'] }] },
      { path: 'marked', matches: [{ line: 1, col: 1, text: 'needle', before: [], after: [] }] },
      { path: 'wide', matches: [{ line: 2, col: 5, text: 'the needle', before: ['é'], after: ['b'] }] },
    ]);
  });

  it('skips binary files, links, and hidden files unless an include glob names them', async () => {
    await write({
      a: 'x',
      binary: `x\n${'y\n'.repeat(10)}\0`,
      '.env': 'x',
      '.github/a.yml': 'x',
      '.github/.deep/b': 'x',
      '.git/config': 'x',
      'sub/.git/x': 'x',
    });
    await symlink('a', join(root, 'link'));
    await symlink('.github', join(root, 'linked'));
    const found = async (include_globs: string[]) => paths(await find({ pattern: 'x', include_globs }));
    expect(await found([])).toEqual(['a']);
    expect(await found(['*'])).toEqual(['a']);
    expect(await found(['**'])).toEqual(['a']);
    expect(await found(['.env'])).toEqual(['.env']);
    expect(await found(['.github/**', 'a'])).toEqual(['.github/a.yml', 'a']);
    expect(await found(['.*/**'])).toEqual(['.github/.deep/b', '.github/a.yml']);
    expect(await found(['.git/**'])).toEqual([]);
  });

  it('selects by globs, and does not enter excluded directories', async () => {
    await write({
      'a.ts': 'x',
      'a.js': 'x',
      'src/b.ts': 'x',
      'src/gen/c.ts': 'x',
      'other/src/d.ts': 'x',
      '!e': 'x',
      '[f': 'x',
    });
    const found = async (request: Partial<Request>) => paths(await find({ pattern: 'x', ...request }));
    expect(await found({ include_globs: ['*.ts'] })).toEqual(['a.ts', 'other/src/d.ts', 'src/b.ts', 'src/gen/c.ts']);
    expect(await found({ include_globs: ['src/*.ts'] })).toEqual(['src/b.ts']);
    expect(await found({ include_globs: ['src/**'], exclude_globs: ['gen/'] })).toEqual(['src/b.ts']);
    expect(await found({ exclude_globs: ['src', '*.{ts,js}'] })).toEqual(['!e', '[f']);
    expect(await found({ exclude_globs: ['!e', '\\[*', '*.*'] })).toEqual([]);
    expect(await found({ include_globs: ['!e'] })).toEqual(['!e']);
    await expect(found({ include_globs: ['*.ts', '[a'] })).rejects.toMatchObject({
      name: 'validation.failed',
      details: [{ path: 'include_globs.1' }],
    });
  });

  it('omits ignored files, even if an include glob matches them', async () => {
    await write({
      '.gitignore': '*.log\nbuild\n!.kept\n',
      '.ignore': '!wanted.log\n',
      'a.log': 'x',
      'wanted.log': 'x',
      'build/a.ts': 'x',
      'src/a.ts': 'x',
      '.kept': 'x',
    });
    const found = async (request: Partial<Request>) => paths(await find({ pattern: 'x', ...request }));
    expect(await found({})).toEqual(['src/a.ts', 'wanted.log']);
    expect(await found({ include_globs: ['**', '*.log'] })).toEqual(['src/a.ts', 'wanted.log']);
    expect(await found({ include_globs: ['*.ts'] })).toEqual(['src/a.ts']);
    expect(await found({ follow_gitignore: false })).toEqual(['a.log', 'build/a.ts', 'src/a.ts', 'wanted.log']);
  });

  it('treats a pattern as text unless it is an expression', async () => {
    await write({ a: 'a.c\n', b: 'abc\nABC\n', c: 'é1\n', d: '--x (\n', e: '-x' });
    const found = async (pattern: string, more: Partial<Request> = {}) => paths(await find({ pattern, ...more }));
    expect(await found('a.c')).toEqual(['a']);
    expect(await found('a.c', { regex: true })).toEqual(['a', 'b']);
    expect(await found('-x')).toEqual(['d', 'e']);
    expect(await found('(')).toEqual(['d']);
    expect(await found('^ABC$', { regex: true, case_sensitive: false })).toEqual(['b']);
    expect(await found('^\\w\\d$', { regex: true })).toEqual(['c']);
    expect(await found('a\nb')).toEqual([]);
    expect(await found('c\nA', { regex: true })).toEqual([]);
    await expect(found('(', { regex: true })).rejects.toMatchObject({
      name: 'validation.failed',
      details: [{ path: 'pattern', message: expect.stringContaining('regex parse error') }],
    });
    for (const pattern of ['(?=a)', '(?<!a)b', '(a)\\1']) {
      await expect(found(pattern, { regex: true })).rejects.toMatchObject({ details: [{ path: 'pattern' }] });
    }
  });

  it('truncates long lines at a character boundary, also around a match', async () => {
    const long = 'é'.repeat(40_000);
    await write({ a: `${long}\nneedle\n`, b: `${long} needle` });
    const { files, truncated } = await find({ pattern: 'needle' });
    expect(truncated).toBe(true);
    const cut = 'é'.repeat(32_768);
    expect(files).toEqual([
      { path: 'a', matches: [{ line: 2, col: 1, text: 'needle', before: [cut], after: [] }] },
      { path: 'b', matches: [{ line: 1, col: 40_002, text: cut, before: [], after: [] }] },
    ]);
  });

  it('returns at most 32 MiB of text', async () => {
    const line = `needle ${'y'.repeat(60_000)}\n`;
    await write({ a: line.repeat(400), b: line.repeat(400) });
    const reply = await find({ pattern: 'needle', max_matches_per_file: 1000, context_lines: 1 });
    const texts = reply.files.flatMap(({ matches }) =>
      matches.flatMap(({ text, before, after }) => [text, ...before, ...after]),
    );
    const bytes = texts.reduce((sum, text) => sum + text.length, 0);
    expect(bytes).toBeLessThanOrEqual(32 * 1024 * 1024);
    expect(bytes).toBeGreaterThan(31 * 1024 * 1024);
    expect(reply.truncated).toBe(true);
    for (const { matches } of reply.files) {
      expect(matches.every(({ line: at, before }) => before.length === Math.min(1, at - 1))).toBe(true);
    }
  });

  it('skips unreadable files; a missing directory is not found', async () => {
    await write({ a: 'x', 'closed/b': 'x', closed2: 'x' });
    await chmod(join(root, 'closed2'), 0);
    expect(paths(await find({ pattern: 'x' }))).toContain('a');
    await rm(root, { recursive: true });
    await expect(find({ pattern: 'x' })).rejects.toMatchObject({ name: 'fs.path_not_found' });
  });

  it('refuses a work directory that has become a pipe or a file; skips pipes in it', async () => {
    await write({ a: 'x' });
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect(paths(await find({ pattern: 'x' }))).toEqual(['a']);
    await rm(root, { recursive: true });
    execFileSync('mkfifo', [root]);
    await expect(find({ pattern: 'x' })).rejects.toMatchObject({ name: 'fs.path_not_found' });
    await rm(root);
    await writeFile(root, 'x');
    await expect(find({ pattern: 'x' })).rejects.toMatchObject({ name: 'fs.path_not_found' });
  });

  it('reports a timeout', async () => {
    await write({ a: `${'a'.repeat(40)}b\n` });
    await expect(find({ pattern: '(a+)+$', regex: true }, { timeoutMs: 0 })).rejects.toMatchObject({
      name: 'fs.grep_timeout',
      message: 'grep timed out after 0ms',
    });
  });
});

describe('ripgrep', () => {
  it('the column of a match beyond the stored part of its line is found', async () => {
    await write({ a: `é${'x'.repeat(1_500_000)}needle needle\nneedle` });
    await write({ wide: Buffer.from(`\uFEFFüü\n${'é'.repeat(700_000)}😀needle\n`, 'utf16le') });
    const { files } = await search({ pattern: 'needle' });
    expect(files.map(({ path, matches }) => [path, ...matches.map(({ col }) => col)])).toEqual([
      ['a', 1_500_002, 1],
      ['wide', 700_003],
    ]);
  });

  it('is killed when the client disconnects', async () => {
    const script = join(root, 'rg');
    await writeFile(script, `#!/bin/sh\necho $$ > ${root}/pid\nexec sleep 600\n`, { mode: 0o755 });
    const client = new AbortController();
    const running = search({ pattern: 'x' }, { ripgrep: async () => script, signal: client.signal });
    const pid = async (): Promise<number> => {
      const text = await readFile(join(root, 'pid'), 'utf8').catch(() => '');
      return text.endsWith('\n') ? Number(text) : new Promise((resolve) => setTimeout(() => resolve(pid()), 5));
    };
    const group = await pid();
    client.abort(new Error('gone'));
    await expect(running).rejects.toThrow('gone');
    expect(await groupRuns(group)).toBe(false);
  });
});
