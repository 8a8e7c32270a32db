import { chmod, link, mkdir, readFile, stat, symlink, utimes } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { editTool } from '#server/builtin-tools/edit.ts';
import { readTool } from '#server/builtin-tools/read.ts';
import { checkFresh as checkFreshOn } from '#server/agent/calls/stale-files.ts';
import { writeTool } from '#server/builtin-tools/write.ts';
import { tasksOf } from '#support/tasks.ts';
import { createWorkspace, planTool, runTool } from './workspace.ts';
import type { Workspace } from './workspace.ts';

let space: Workspace;
beforeEach(async () => {
  space = await createWorkspace();
});
afterEach(() => space.remove());

const read = (args: object) => runTool(readTool, space.environment, args);
const write = (args: object) => runTool(writeTool, space.environment, args);
const edit = (args: object) => runTool(editTool, space.environment, args);
const checkFresh = (known: ReadonlyMap<string, number>, path: string) =>
  checkFreshOn(known, path, space.environment.runtime);
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();

describe('Read', () => {
  test('numbers lines, returns the status and the mtime', async () => {
    const path = await space.write('a.txt', 'one\ntwo');
    const result = await read({ path: 'a.txt' });
    expect(result.output).toBe('1\tone\n2\ttwo');
    expect(result.note).toBe('<system>2 lines read, starting at line 1. Total lines: 2. End of file reached.</system>');
    expect(result.files).toEqual([{ path, mtimeMs: (await stat(path)).mtimeMs }]);
    expect(result.isError).toBeUndefined();
  });

  test('plan: access, label, display, subject', async () => {
    const plan = await planTool(readTool, space.environment, { path: './a.txt' });
    expect(plan).toMatchObject({
      accesses: [{ kind: 'file', path: space.path('a.txt'), mode: 'read' }],
      label: 'Reading ./a.txt',
      display: { kind: 'file_io', operation: 'read', path: space.path('a.txt') },
      subject: { text: space.path('a.txt'), match: 'path' },
    });
  });

  test('windows by offset and count, from the start and from the end', async () => {
    await space.write('a.txt', lines(50));
    expect((await read({ path: 'a.txt', line_offset: 10, n_lines: 2 })).output).toBe('10\tline 10\n11\tline 11');
    expect((await read({ path: 'a.txt', line_offset: -3 })).output).toBe('48\tline 48\n49\tline 49\n50\tline 50');
    expect((await read({ path: 'a.txt', line_offset: -3, n_lines: 1 })).output).toBe('48\tline 48');
    expect((await read({ path: 'a.txt', line_offset: -1000 })).output.split('\n')).toHaveLength(50);
    const beyond = await read({ path: 'a.txt', line_offset: 51 });
    expect(beyond.output).toBe('');
    expect(beyond.note).toContain('No lines read. Total lines: 50.');
  });

  test('an empty file has no lines', async () => {
    await space.write('a.txt', '');
    expect(await read({ path: 'a.txt' })).toMatchObject({
      output: '',
      note: expect.stringContaining('Total lines: 0'),
    });
  });

  test('caps lines', async () => {
    await space.write('a.txt', lines(1500));
    const result = await read({ path: 'a.txt', n_lines: 5000 });
    expect(result.output.split('\n')).toHaveLength(1000);
    expect(result.note).toContain('limit of 1000 lines was reached; go on with line_offset 1001');
    expect((await read({ path: 'a.txt', n_lines: 10 })).note).not.toMatch(/limit|End of file/);
  });

  test('caps bytes', async () => {
    await space.write('a.txt', `${'é'.repeat(500)}\n`.repeat(900));
    const result = await read({ path: 'a.txt' });
    expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(100 * 1024);
    const shown = result.output.split('\n').length;
    expect(shown).toBeGreaterThan(95);
    expect(result.note).toContain(`limit of 102400 bytes was reached; go on with line_offset ${shown + 1}.`);
  });

  test('cuts long lines and lists them', async () => {
    await space.write('a.txt', `short\n${'x'.repeat(2000)}\n${'y'.repeat(500_000)}\n`);
    const [, whole, cut] = (await read({ path: 'a.txt' })).output.split('\n');
    expect(whole).toBe(`2\t${'x'.repeat(2000)}`);
    expect(cut).toBe(`3\t${'y'.repeat(1997)}...`);
    expect((await read({ path: 'a.txt' })).note).toContain('Lines cut to 2000 characters: 3.');
  });

  test('shows pure CRLF as LF, also for a line of the greatest length', async () => {
    await space.write('a.txt', `a\r\n${'x'.repeat(2000)}\r\nb`);
    expect((await read({ path: 'a.txt' })).output).toBe(`1\ta\n2\t${'x'.repeat(2000)}\n3\tb`);
  });

  test.each([
    ['mixed', 'a\r\nb\nc', '1\ta\\r\n2\tb\n3\tc'],
    ['lone CR', 'a\rb\n', '1\ta\\rb'],
    ['CR at the end', 'a\nb\r', '1\ta\n2\tb\\r'],
    ['doubled CR', 'a\r\r\nb\r\n', '1\ta\\r\\r\n2\tb\\r'],
  ])('shows carriage returns of %s line ends', async (_name, content, output) => {
    await space.write('a.txt', content);
    expect(await read({ path: 'a.txt' })).toMatchObject({
      output,
      note: expect.stringContaining('Mixed line endings'),
    });
  });

  test('characters and line ends across chunk borders', async () => {
    // Chunks are 256 KiB: the two-byte character and the CRLF each straddle a border.
    const chunk = 256 * 1024;
    await space.write('a.txt', `${'x'.repeat(chunk - 1)}é\r\n${'y'.repeat(chunk - 6)}z\r\nend\r\n`);
    const result = await read({ path: 'a.txt', line_offset: 3 });
    expect(result.output).toBe('3\tend');
    expect(result.note).toContain('Line endings are CRLF');
  });

  test.each([
    ['UTF-16LE', Buffer.from('\uFEFFhé\r\nllo\r\n', 'utf16le')],
    ['UTF-16LE', Buffer.from('hello there\r\nllo', 'utf16le')],
    ['UTF-16BE', utf16be('\uFEFFhé\nllo')],
    ['UTF-16BE', utf16be('hello there\nllo')],
  ])('detects %s', async (name, bytes) => {
    await space.write('a.txt', bytes);
    const result = await read({ path: 'a.txt' });
    expect(result.output).toMatch(/^1\th\S+( there)?\n2\tllo$/);
    expect(result.output).not.toContain('\uFEFF');
    expect(result.note).toContain(`Detected encoding: ${name}`);
  });

  test('the UTF-8 mark is not shown', async () => {
    await space.write('a.txt', '\uFEFFx\n');
    expect((await read({ path: 'a.txt' })).output).toBe('1\tx');
  });

  test('UTF-16 is refused above 10 MiB', async () => {
    await space.write('a.txt', Buffer.from(`\uFEFF${'x'.repeat(5 * 1024 * 1024)}`, 'utf16le'));
    expect(await read({ path: 'a.txt' })).toMatchObject({ isError: true, output: expect.stringContaining('10485760') });
  });

  test.each([
    ['Latin-1', Buffer.from('caf\xe9\n', 'latin1'), 'not valid'],
    ['a cut character', Buffer.from('é').subarray(0, 1), 'not valid'],
    ['a NUL', Buffer.from('abc\0def ghi jkl'), 'binary'],
    ['a late NUL', Buffer.from(`${'x'.repeat(300_000)}\0`), 'binary'],
    ['a lone surrogate in UTF-16', Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x41, 0x00]), 'not valid'],
    ['PNG', Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1'), 'an image'],
    ['JPEG', Buffer.from('\xff\xd8\xff\xe0', 'latin1'), 'an image'],
    ['MP4', Buffer.from('\0\0\0\x18ftypmp42', 'latin1'), 'a video'],
  ])('refuses %s', async (_name, bytes, text) => {
    await space.write('a.bin', bytes);
    expect(await read({ path: 'a.bin' })).toMatchObject({ isError: true, output: expect.stringContaining(text) });
  });

  test('refuses directories, pipes and missing files', async () => {
    execFileSync('mkfifo', [space.path('pipe')]);
    await mkdir(space.path('dir'));
    expect(await read({ path: 'dir' })).toMatchObject({ isError: true, output: expect.stringContaining('directory') });
    expect(await read({ path: 'pipe' })).toMatchObject({ isError: true, output: expect.stringContaining('regular') });
    expect(await read({ path: 'gone' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('does not exist'),
    });
  });

  test('refuses sensitive files before running', async () => {
    await expect(read({ path: '.env' })).rejects.toThrow('sensitive');
  });

  test('a link that was changed between plan and run is not followed', async () => {
    await space.write('a.txt', 'x');
    const plan = await planTool(readTool, space.environment, { path: 'later/a.txt' });
    await mkdir(join(space.root, 'out'));
    await symlink(join(space.root, 'out'), space.path('later'));
    const context = {
      ...space.environment,
      toolCallId: 'c',
      turnId: 0,
      signal: new AbortController().signal,
      finish: () => [],
      tasks: tasksOf(space.environment.sessionDir),
      progress() {},
    };
    expect(await plan.run(context)).toMatchObject({ isError: true, output: expect.stringContaining('another place') });
  });
});

describe('Write', () => {
  test('creates parents, writes verbatim, reports bytes and mtime', async () => {
    const result = await write({ path: 'a/b/c.txt', content: 'é\r\n' });
    expect(await readFile(space.path('a/b/c.txt'))).toEqual(Buffer.from('é\r\n'));
    expect(result.output).toBe('Wrote 4 bytes to a/b/c.txt.');
    expect(result.files).toEqual([
      { path: space.path('a/b/c.txt'), mtimeMs: (await stat(space.path('a/b/c.txt'))).mtimeMs },
    ]);
  });

  test('appends', async () => {
    await space.write('a.txt', 'one');
    expect((await write({ path: 'a.txt', content: 'two', mode: 'append' })).output).toBe('Appended 3 bytes to a.txt.');
    expect(await readFile(space.path('a.txt'), 'utf8')).toBe('onetwo');
    await write({ path: 'new/b.txt', content: 'x', mode: 'append' });
    expect(await readFile(space.path('new/b.txt'), 'utf8')).toBe('x');
  });

  test('keeps permission bits, links and hard links', async () => {
    const path = await space.write('run.sh', 'old');
    await chmod(path, 0o775);
    await symlink('run.sh', space.path('soft'));
    await write({ path: 'soft', content: 'new' });
    expect(await readFile(path, 'utf8')).toBe('new');
    expect((await stat(path)).mode & 0o777).toBe(0o775);
    await link(path, space.path('hard'));
    await write({ path: 'hard', content: 'newer' });
    expect(await readFile(path, 'utf8')).toBe('newer');
  });

  test('refuses directories and devices', async () => {
    await mkdir(space.path('dir'));
    expect(await write({ path: 'dir', content: 'x' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('directory'),
    });
    expect(await write({ path: '/dev/null', content: 'x' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('regular'),
    });
  });

  test('a parent that is a file is an error result', async () => {
    await space.write('file', 'x');
    expect(await write({ path: 'file/below', content: 'x' })).toMatchObject({ isError: true });
  });

  test('plan: display carries the content', async () => {
    expect(await planTool(writeTool, space.environment, { path: 'a', content: 'text' })).toMatchObject({
      accesses: [{ kind: 'file', path: space.path('a'), mode: 'write' }],
      label: 'Writing a',
      display: { kind: 'file_io', operation: 'write', path: space.path('a'), content: 'text' },
    });
    await expect(planTool(writeTool, space.environment, { path: '.env', content: '' })).rejects.toThrow('sensitive');
  });
});

describe('Edit', () => {
  test('replaces one occurrence literally', async () => {
    await space.write('a.txt', 'a $1 b');
    const result = await edit({ path: 'a.txt', old_string: '$1', new_string: "$& $' $$" });
    expect(result.output).toBe('Replaced 1 occurrence in a.txt.');
    expect(await readFile(space.path('a.txt'), 'utf8')).toBe("a $& $' $$ b");
    expect(result.files).toEqual([{ path: space.path('a.txt'), mtimeMs: (await stat(space.path('a.txt'))).mtimeMs }]);
  });

  test('needs a unique match unless replace_all', async () => {
    await space.write('a.txt', 'x x x');
    expect(await edit({ path: 'a.txt', old_string: 'x', new_string: 'y' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('occurs 3 times'),
    });
    expect(await readFile(space.path('a.txt'), 'utf8')).toBe('x x x');
    expect((await edit({ path: 'a.txt', old_string: 'x', new_string: 'y', replace_all: true })).output).toBe(
      'Replaced 3 occurrences in a.txt.',
    );
    expect(await readFile(space.path('a.txt'), 'utf8')).toBe('y y y');
  });

  test('errors: not found, missing, identical, empty, directory', async () => {
    await space.write('a.txt', 'x');
    expect(await edit({ path: 'a.txt', old_string: 'z', new_string: 'y' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('not found'),
    });
    expect(await edit({ path: 'b.txt', old_string: 'z', new_string: 'y' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('does not exist'),
    });
    expect(await edit({ path: '.', old_string: 'z', new_string: 'y' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('directory'),
    });
    await expect(edit({ path: 'a.txt', old_string: 'x', new_string: 'x' })).rejects.toThrow('identical');
    await expect(edit({ path: 'a.txt', old_string: '', new_string: 'x' })).rejects.toThrow('old_string');
  });

  test('pure CRLF keeps CRLF', async () => {
    await space.write('a.txt', 'a\r\nb\r\nc\r\n');
    await edit({ path: 'a.txt', old_string: 'a\nb', new_string: 'x\ny\r\nz' });
    expect(await readFile(space.path('a.txt'), 'utf8')).toBe('x\r\ny\r\nz\r\nc\r\n');
  });

  test('mixed line ends are preserved', async () => {
    await space.write('a.txt', 'a\r\nb\nc\r');
    expect(await edit({ path: 'a.txt', old_string: 'a\nb', new_string: 'x' })).toMatchObject({ isError: true });
    await edit({ path: 'a.txt', old_string: 'a\r\nb', new_string: 'x' });
    expect(await readFile(space.path('a.txt'), 'utf8')).toBe('x\nc\r');
  });

  test('keeps encoding and byte order mark', async () => {
    await space.write('le.txt', Buffer.from('\uFEFFhello', 'utf16le'));
    await space.write('be.txt', utf16be('\uFEFFhello'));
    await space.write('bom.txt', '\uFEFFhello');
    for (const path of ['le.txt', 'be.txt', 'bom.txt']) await edit({ path, old_string: 'ello', new_string: 'é' });
    expect(await readFile(space.path('le.txt'))).toEqual(Buffer.from('\uFEFFhé', 'utf16le'));
    expect(await readFile(space.path('be.txt'))).toEqual(utf16be('\uFEFFhé'));
    expect(await readFile(space.path('bom.txt'), 'utf8')).toBe('\uFEFFhé');
  });

  test('binary files are not changed', async () => {
    await space.write('a.bin', Buffer.from('abc\0def'));
    expect(await edit({ path: 'a.bin', old_string: 'abc', new_string: 'x' })).toMatchObject({ isError: true });
  });

  test('plan', async () => {
    expect(await planTool(editTool, space.environment, { path: 'a', old_string: 'o', new_string: 'n' })).toMatchObject({
      accesses: [{ kind: 'file', path: space.path('a'), mode: 'read-write' }],
      label: 'Editing a',
      display: { kind: 'file_io', operation: 'edit', path: space.path('a'), before: 'o', after: 'n' },
    });
  });
});

describe('stale-file guard', () => {
  test('accepts files that are unchanged since they were read, and missing ones', async () => {
    const path = await space.write('a.txt', 'x');
    expect(await checkFresh(new Map(), space.path('new'))).toBeUndefined();
    expect(await checkFresh(new Map(), path)).toContain('has not been read');
    const { files = [] } = await read({ path: 'a.txt' });
    const known = new Map(files.map((file) => [file.path, file.mtimeMs]));
    expect(await checkFresh(known, path)).toBeUndefined();
    await utimes(path, new Date(), new Date(Date.now() + 5000));
    expect(await checkFresh(known, path)).toContain('has changed');
  });

  test('a successful edit counts as a read', async () => {
    const path = await space.write('a.txt', 'x');
    const { files = [] } = await edit({ path: 'a.txt', old_string: 'x', new_string: 'y' });
    expect(await checkFresh(new Map(files.map((file) => [file.path, file.mtimeMs])), path)).toBeUndefined();
  });
});
