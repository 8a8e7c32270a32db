import { execFileSync } from 'node:child_process';
import { chmod, mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createGlobTool } from '#server/builtin-tools/glob.ts';
import { createGrepTool } from '#server/builtin-tools/grep.ts';
import type { SearchOptions } from '#server/ripgrep/ripgrep.ts';
import { createWorkspace, planTool, runTool } from './workspace.ts';
import type { Workspace } from './workspace.ts';

let space: Workspace;
beforeEach(async () => {
  space = await createWorkspace();
});
afterEach(() => space.remove());

const grep = (args: object, options?: SearchOptions) => runTool(createGrepTool(options), space.environment, args);
const glob = (args: object, options?: SearchOptions) => runTool(createGlobTool(options), space.environment, args);

/** Replaces ripgrep with a program. */
async function fakeRipgrep(script: string): Promise<SearchOptions> {
  const path = join(space.root, 'fake-rg');
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return { ripgrep: () => Promise.resolve(path), timeoutMs: 300 };
}

async function dated(name: string, seconds: number, content = 'needle\n'): Promise<void> {
  await utimes(await space.write(name, content), seconds, seconds);
}

describe('Grep', () => {
  test('lists files newest first, equal seconds in path order', async () => {
    await dated('b.txt', 1000.9);
    await dated('a.txt', 1000.1);
    await dated('z.txt', 3000);
    await dated('dir/c.txt', 1000.5);
    await dated('none.txt', 5000, 'hay\n');
    expect((await grep({ pattern: 'needle' })).output).toBe('z.txt\na.txt\nb.txt\ndir/c.txt');
  });

  test('content: numbers, context blocks, path order', async () => {
    await space.write('b.txt', 'needle\r\nx\n');
    await space.write('a.txt', '1\n2\nneedle\n4\n5\n6\n7\nneedle\n');
    expect((await grep({ pattern: 'needle', output_mode: 'content' })).output).toBe(
      'a.txt:3:needle\na.txt:8:needle\nb.txt:1:needle',
    );
    expect((await grep({ pattern: 'needle', output_mode: 'content', '-n': false, '-C': 1, '-A': 5 })).output).toBe(
      'a.txt-2\na.txt:needle\na.txt-4\n--\na.txt-7\na.txt:needle\n--\nb.txt:needle\nb.txt-x',
    );
    expect((await grep({ pattern: '^4', output_mode: 'content', '-B': 1 })).output).toBe('a.txt-3-needle\na.txt:4:4');
    expect((await grep({ pattern: '^4', output_mode: 'content', '-A': 1 })).output).toBe('a.txt:4:4\na.txt-5-5');
  });

  test('counts with an aggregate line first', async () => {
    await space.write('b.txt', 'x x\nx\n');
    await space.write('a.txt', 'x\n');
    expect((await grep({ pattern: 'x', output_mode: 'count_matches' })).output).toBe(
      '4 matches in 2 files.\na.txt:1\nb.txt:3',
    );
  });

  test('pages by head_limit and offset', async () => {
    await space.write('a.txt', 'x\n'.repeat(300));
    const first = (await grep({ pattern: 'x', output_mode: 'content' })).output.split('\n');
    expect(first).toHaveLength(251);
    expect(first.at(-1)).toBe('[250 of 300 results shown; go on with offset 250.]');
    expect((await grep({ pattern: 'x', output_mode: 'content', offset: 298 })).output).toBe('a.txt:299:x\na.txt:300:x');
    expect((await grep({ pattern: 'x', output_mode: 'content', head_limit: 0 })).output.split('\n')).toHaveLength(300);
    expect((await grep({ pattern: 'x', output_mode: 'content', head_limit: 1, offset: 4 })).output).toContain(
      'a.txt:5:x\n[1 of 300',
    );
  });

  test('flags: case, multiline, glob, type, leading dash, file as path', async () => {
    await space.write('a.ts', 'Foo\nbar\n');
    await space.write('sub/b.py', 'foo\n-v\n');
    expect((await grep({ pattern: 'foo', '-i': true })).output.split('\n').sort()).toEqual(['a.ts', 'sub/b.py']);
    expect((await grep({ pattern: 'Foo.bar', multiline: true })).output).toBe('a.ts');
    expect((await grep({ pattern: 'foo', glob: '*.ts' })).output).toBe('No matches found.');
    expect((await grep({ pattern: 'foo', '-i': true, glob: 'sub/**' })).output).toBe('sub/b.py');
    expect((await grep({ pattern: 'foo', '-i': true, type: 'ts' })).output).toBe('a.ts');
    expect((await grep({ pattern: '-v' })).output).toBe('sub/b.py');
    expect((await grep({ pattern: 'foo', path: 'sub/b.py', output_mode: 'content' })).output).toBe('sub/b.py:1:foo');
    await space.write('--help', 'dashed\n');
    expect((await grep({ pattern: 'dashed', path: '--help' })).output).toBe('--help');
  });

  test('paths outside cwd are absolute', async () => {
    await mkdir(join(space.root, 'out'));
    await writeFile(join(space.root, 'out/a.txt'), 'needle');
    expect((await grep({ pattern: 'needle', path: join(space.root, 'out') })).output).toBe(
      join(space.root, 'out/a.txt'),
    );
  });

  test('hidden files are searched, ignored ones only on request, version control never', async () => {
    execFileSync('git', ['init', '-q', space.environment.cwd]);
    await space.write('.gitignore', 'ignored/\n');
    await space.write('.hidden', 'needle');
    await space.write('ignored/a.txt', 'needle');
    for (const name of ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl']) await space.write(`${name}/x`, 'needle');
    expect((await grep({ pattern: 'needle' })).output).toBe('.hidden');
    const all = await grep({ pattern: 'needle', include_ignored: true, glob: '**' });
    expect(all.output.split('\n').sort()).toEqual(['.hidden', 'ignored/a.txt']);
    expect((await grep({ pattern: 'needle', glob: '.git/**' })).output).toBe('No matches found.');
    expect((await grep({ pattern: 'needle', path: '.git' })).output).toBe('No matches found.');
    await space.write('.git/hooks/x', 'needle');
    expect((await grep({ pattern: 'needle', path: '.git/hooks' })).output).toBe('No matches found.');
    await symlink('.git', space.path('alias'));
    expect((await grep({ pattern: 'needle', path: 'alias' })).output).toBe('No matches found.');
  });

  test.each(['files_with_matches', 'content', 'count_matches'])(
    'leaves sensitive files out of %s and says so',
    async (output_mode) => {
      await space.write('.env', 'needle');
      await space.write('sub/id_rsa', 'needle');
      await space.write('.env.example', 'needle');
      const { output } = await grep({ pattern: 'needle', output_mode });
      expect(output).toContain('.env.example');
      expect(output).toContain('[Matches in 2 sensitive files are not shown.]');
      expect(output).not.toMatch(/\.env(?!\.example)|id_rsa/);
    },
  );

  test('a sensitive file is not searched by name nor through a link', async () => {
    await space.write('.env', 'needle');
    await symlink('.env', space.path('plain'));
    for (const path of ['.env', 'plain']) {
      expect((await grep({ pattern: 'needle', path, output_mode: 'content' })).output).toBe(
        'No matches found.\n[Matches in 1 sensitive file are not shown.]',
      );
    }
  });

  test('errors: bad expression, unknown type, missing path, no ripgrep', async () => {
    await space.write('a.txt', 'x');
    expect(await grep({ pattern: '(' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('unclosed group'),
    });
    expect(await grep({ pattern: 'x', type: 'nope' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('nope'),
    });
    expect(await grep({ pattern: 'x', path: 'gone' })).toMatchObject({
      isError: true,
      output: expect.stringContaining('does not exist'),
    });
    expect(await grep({ pattern: 'x' }, { ripgrep: () => Promise.resolve(undefined) })).toMatchObject({
      isError: true,
    });
  });

  test('a pipe or a device is refused without a search, a link to a file is searched', async () => {
    const fake = await fakeRipgrep('exec sleep 30');
    execFileSync('mkfifo', [space.path('pipe')]);
    await symlink('pipe', space.path('to-pipe'));
    for (const path of ['pipe', 'to-pipe', '/dev/zero']) {
      const { isError, output } = await grep({ pattern: 'x', path }, { ...fake, timeoutMs: 600_000 });
      expect([isError, output]).toEqual([true, expect.stringMatching(/is not a regular file\.$/)]);
    }
    await space.write('a.txt', 'x');
    await symlink('a.txt', space.path('to-file'));
    expect((await grep({ pattern: 'x', path: 'to-file' })).output).toBe('to-file');
  });

  test('pipes and devices of a searched directory are skipped', async () => {
    execFileSync('mkfifo', [space.path('pipe')]);
    await symlink('/dev/zero', space.path('endless'));
    await space.write('a.txt', 'x');
    expect((await grep({ pattern: 'x' })).output).toBe('a.txt');
  });

  test('keeps partial results at the time-out, is an error without any', async () => {
    await space.write('a.txt', 'x');
    const partial = await grep({ pattern: 'x' }, await fakeRipgrep(String.raw`printf './a.txt\0./b.t'; exec sleep 30`));
    expect(partial.isError).toBeUndefined();
    expect(partial.output).toBe('a.txt\n[The search was stopped after 0.3 s; results are incomplete.]');
    expect(await grep({ pattern: 'x' }, await fakeRipgrep('exec sleep 30'))).toMatchObject({ isError: true });
  });

  test('a pipe as ignore file takes no longer than the time-out; an endless one no more memory than allowed', async () => {
    await space.write('a.txt', 'x');
    execFileSync('mkfifo', [space.path('.ignore')]);
    expect(await grep({ pattern: 'x' }, { timeoutMs: 300 })).toMatchObject({
      isError: true,
      output: 'The search found nothing in 0.3 s and was stopped.',
    });
    await rm(space.path('.ignore'));
    await symlink('/dev/zero', space.path('.ignore'));
    for (const result of [await grep({ pattern: 'x' }), await glob({ pattern: '*' })]) {
      expect(result).toMatchObject({
        isError: true,
        output: 'The search needed more than 1 GiB of memory and was stopped.',
      });
    }
  });

  test('keeps partial results when memory runs out', async () => {
    await space.write('a.txt', 'x');
    const fake = await fakeRipgrep(String.raw`printf './a.txt\0./b.t'; kill -ABRT $$`);
    const partial = await grep({ pattern: 'x' }, { ...fake, timeoutMs: 60_000 });
    expect(partial.isError).toBeUndefined();
    expect(partial.output).toBe(
      'a.txt\n[The search needed more than 1 GiB of memory and was stopped. Results are incomplete.]',
    );
    const files = await glob({ pattern: '*.txt' }, { ...fake, timeoutMs: 60_000 });
    expect(files.output).toBe('a.txt\n[The search was stopped before its end; results are incomplete.]');
  });

  test('stops at the output limit with the results so far', async () => {
    const fake = await fakeRipgrep(String.raw`yes './a.txt@1:xxx' | tr @ '\000'`);
    const result = await grep({ pattern: 'x', output_mode: 'content' }, { ...fake, timeoutMs: 20_000 });
    expect(result.output).toContain('a.txt:1:xxx');
    expect(result.output).toContain('stopped at 10485760 bytes');
  });

  test('runs again with one thread when the system has none to give', async () => {
    await space.write('a.txt', 'x');
    const fake = await fakeRipgrep(
      String.raw`case "$1" in --threads=1) printf './a.txt\0';; *) echo 'rg: Resource temporarily unavailable (os error 11)' >&2; exit 2;; esac`,
    );
    expect((await grep({ pattern: 'x' }, fake)).output).toBe('a.txt');
  });

  test('an abort ends the search', async () => {
    const stop = new AbortController();
    stop.abort();
    const tool = createGrepTool({ ...(await fakeRipgrep('exec sleep 30')), timeoutMs: 30_000 });
    const result = await runTool(tool, space.environment, { pattern: 'x' }, { signal: stop.signal });
    expect(result).toMatchObject({ isError: true, output: 'Interrupted by user' });
  });

  test('plan', async () => {
    expect(await planTool(createGrepTool(), space.environment, { pattern: 'p', path: 'src' })).toMatchObject({
      accesses: [{ kind: 'file', path: space.path('src'), mode: 'read', recursive: true }],
      label: "Searching for 'p' in src",
      display: { kind: 'file_io', operation: 'grep', path: space.path('src') },
      subject: { text: 'p', match: 'glob' },
    });
    await expect(planTool(createGrepTool(), space.environment, { pattern: 'p', path: '..' })).rejects.toThrow(
      'outside',
    );
  });
});

describe('Glob', () => {
  test('base names at any depth without a slash, else relative to the root; newest first', async () => {
    await dated('a.ts', 1000);
    await dated('src/b.ts', 3000);
    await dated('src/deep/.c.ts', 2000);
    await dated('src/d.js', 4000);
    expect((await glob({ pattern: '*.ts' })).output).toBe('src/b.ts\nsrc/deep/.c.ts\na.ts');
    expect((await glob({ pattern: 'src/*.ts' })).output).toBe('src/b.ts');
    expect((await glob({ pattern: './src/**/*.{ts,js}' })).output).toBe('src/d.js\nsrc/b.ts\nsrc/deep/.c.ts');
    expect((await glob({ pattern: '*.ts', path: 'src' })).output).toBe('b.ts\ndeep/.c.ts');
    expect((await glob({ pattern: '*.md' })).output).toBe('No files found.');
  });

  test('respects ignore files; leaves version control and sensitive files out', async () => {
    execFileSync('git', ['init', '-q', space.environment.cwd]);
    await space.write('.gitignore', '*.log\n');
    await space.write('a.log', '');
    await space.write('.env', '');
    const { output } = await glob({ pattern: '**' });
    expect(output).toBe('.gitignore\n[1 sensitive file is not shown.]');
    expect((await glob({ pattern: '*.log' })).output).toBe('No files found.');
    expect((await glob({ pattern: '*.log', include_ignored: true })).output).toBe('a.log');
    expect((await glob({ pattern: '.git/**' })).output).toBe('No files found.');
  });

  test('no pattern blocks the server, for any file names', async () => {
    await space.write('a'.repeat(200), '');
    const patterns = ['+(+(+(+(a))))z', '*a*a*a*a*a*a*a*a*a*a*a*a*z', '*(*(*(*(a))))z', `{${'*a,'.repeat(40)}*z}z`];
    for (const pattern of patterns) {
      const started = performance.now();
      expect((await glob({ pattern })).output).toBe('No files found.');
      expect(performance.now() - started).toBeLessThan(30_000);
    }
  });

  test('parentheses and bars are literal; a leading ! negates the pattern', async () => {
    await space.write('app/(auth)/page.ts', '');
    await space.write('b.js', '');
    expect((await glob({ pattern: 'app/(auth)/*' })).output).toBe('app/(auth)/page.ts');
    expect((await glob({ pattern: '!*.ts' })).output).toBe('b.js');
    await expect(glob({ pattern: '{a,b}'.repeat(9) })).rejects.toThrow('no glob');
  });

  test('an abort ends the search', async () => {
    const tool = createGlobTool({ ...(await fakeRipgrep('exec sleep 30')), timeoutMs: 30_000 });
    const result = await runTool(tool, space.environment, { pattern: 'x' }, { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ isError: true, output: 'Interrupted by user' });
  });

  test('shows at most 100 files', async () => {
    for (let index = 0; index < 101; index++) await space.write(`f${index}`, '');
    const rows = (await glob({ pattern: 'f*' })).output.split('\n');
    expect(rows).toHaveLength(101);
    expect(rows.at(-1)).toBe('[100 of 101 files shown; use a narrower pattern.]');
  });

  test('absolute paths outside cwd; a missing root or a file is an error', async () => {
    await mkdir(join(space.root, 'out'));
    await writeFile(join(space.root, 'out/a.txt'), '');
    expect((await glob({ pattern: '*', path: join(space.root, 'out') })).output).toBe(join(space.root, 'out/a.txt'));
    expect(await glob({ pattern: '*', path: 'gone' })).toMatchObject({ isError: true });
    expect(await glob({ pattern: '*', path: join(space.root, 'out/a.txt') })).toMatchObject({ isError: true });
  });

  test('a pipe is refused without a search, one in a searched directory is not listed', async () => {
    const fake = { ...(await fakeRipgrep('exec sleep 30')), timeoutMs: 600_000 };
    execFileSync('mkfifo', [space.path('pipe')]);
    const refused = await glob({ pattern: '*', path: space.path('pipe') }, fake);
    expect([refused.isError, refused.output]).toEqual([true, expect.stringContaining('is not a directory')]);
    await space.write('a.txt', '');
    expect((await glob({ pattern: '*' })).output).toBe('a.txt');
  });

  test('a file that is removed during the search is omitted', async () => {
    await space.write('a.txt', '');
    await space.write('b.txt', '');
    await rm(space.path('b.txt'));
    expect((await glob({ pattern: '*' }, await fakeRipgrep(String.raw`printf './a.txt\0./b.txt\0'`))).output).toBe(
      'a.txt',
    );
  });

  test('plan: detail contains the given path', async () => {
    const plan = await planTool(createGlobTool(), space.environment, {
      pattern: '*.ts',
      path: 'src',
      include_ignored: true,
    });
    expect(plan).toMatchObject({
      label: 'Searching *.ts',
      display: {
        kind: 'file_io',
        operation: 'glob',
        path: space.path('src'),
        detail: 'pattern: *.ts, path: src, include_ignored: true',
      },
    });
    const bare = await planTool(createGlobTool(), space.environment, { pattern: '*', include_ignored: false });
    expect(bare.display).toMatchObject({ detail: 'pattern: *' });
  });
});
