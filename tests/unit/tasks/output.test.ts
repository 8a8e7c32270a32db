/** The output of a task: memory, file, bounds, and replaced files. */
import {
  appendFile,
  mkdir,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { tailText } from '#server/text/truncate.ts';
import { createOutputFile, outputPath, readOutputFile } from '#server/tasks/output-file.ts';
import { createTaskOutput, MEMORY_BYTES, type TaskOutputDeps } from '#server/tasks/output.ts';
import { eventually } from '#support/patience.ts';

let root: string;
let sessionDir: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'service-code-output-'));
  sessionDir = join(root, 'session');
  await mkdir(sessionDir);
});
afterEach(() => rm(root, { recursive: true }));

const TASK = 'bash-00000001';
const path = () => outputPath(sessionDir, 'main', TASK);

function outputOf(more: Partial<TaskOutputDeps> = {}) {
  const reports: string[] = [];
  const report = (what: string) => void reports.push(what);
  return Object.assign(createTaskOutput({ sessionDir, agentId: 'main', taskId: TASK, report, ...more }), { reports });
}

describe('an output that is copied', () => {
  test('stays in memory while it is short, and its last 32 KiB are retained', async () => {
    const output = outputOf();
    expect(await output.tail(10)).toBeUndefined();
    output.write(Buffer.from('héllo '));
    output.write(Buffer.alloc(40_000, 'x'));
    output.write(Buffer.from('end'));
    expect(await output.tail(4)).toBe('xend');
    expect(await output.end()).toBeUndefined();
    expect(await output.tail(1_000_000)).toHaveLength(32 * 1024);
    await expect(stat(path())).rejects.toThrow('ENOENT');
    output.forget();
    expect(await output.tail(10)).toBeUndefined();
  });

  test('is moved to its file by `keep`, with all output before and after', async () => {
    const output = outputOf();
    output.write(Buffer.from('one '));
    output.keep();
    output.keep();
    output.write(Buffer.from('two'));
    expect(await output.tail(5)).toBe('e two');
    expect(await output.end()).toEqual({ path: path(), bytes: 7 });
    expect(await readFile(path(), 'utf8')).toBe('one two');
    expect((await stat(path())).mode & 0o777).toBe(0o600);
    expect(await output.tail(100)).toBe('one two');
  });

  test('is moved to its file when memory is full, completely', async () => {
    const output = outputOf();
    const piece = Buffer.alloc(100_000, 'y');
    for (let at = 0; at < 12; at += 1) output.write(piece);
    expect(MEMORY_BYTES).toBeLessThan(1_200_000);
    expect(await output.end()).toEqual({ path: path(), bytes: 1_200_000 });
  });

  test('is truncated at its limit', async () => {
    const output = outputOf({ maxBytes: 10 });
    output.keep();
    output.write(Buffer.from('123456'));
    await output.tail(1);
    output.write(Buffer.from('7890abc'));
    output.write(Buffer.from('never'));
    expect(await output.end()).toEqual({ path: path(), bytes: 10 });
    expect(await readFile(path(), 'utf8')).toBe('1234567890');
  });

  test('is only in memory if its file cannot be created; that is reported a single time', async () => {
    await writeFile(join(sessionDir, 'agents'), 'in the way');
    const output = outputOf();
    output.keep();
    output.write(Buffer.from('abc'));
    expect(await output.end()).toBeUndefined();
    expect(await output.tail(10)).toBe('abc');
    expect(output.reports).toEqual([`the output of ${TASK} cannot be kept in a file`]);
  });
});

describe('a file that a program writes itself', () => {
  test('is polled, and truncated at the end', async () => {
    const output = outputOf({ maxBytes: 100 });
    const tooMuch = vi.fn();
    const fd = await output.open(tooMuch);
    execFileSync('/bin/sh', ['-c', 'echo out; echo err >&2'], { stdio: ['ignore', fd, fd] });
    expect(await output.tail(100)).toBe('out\nerr\n');
    expect(tooMuch).not.toHaveBeenCalled();
    execFileSync('/bin/sh', ['-c', 'head -c 5000 /dev/zero'], { stdio: ['ignore', fd, fd] });
    await eventually(() => expect(tooMuch).toHaveBeenCalledTimes(1));
    expect(await output.end()).toEqual({ path: path(), bytes: 100 });
    expect((await stat(path())).size).toBe(100);
  });

  test('whose size cannot be watched stops the program, since its growth would not be noticed', async () => {
    const output = outputOf();
    const tooMuch = vi.fn();
    await output.open(tooMuch);
    const any = await open(path());
    await any.close();
    const stat = vi.spyOn(Object.getPrototypeOf(any) as typeof any, 'stat').mockRejectedValueOnce(new Error('EIO'));
    await eventually(() => expect(tooMuch).toHaveBeenCalledTimes(1));
    stat.mockRestore();
    expect(output.reports).toEqual([`the size of the output of ${TASK} cannot be watched`]);
    expect(await output.end()).toEqual({ path: path(), bytes: 0 });
    expect(tooMuch).toHaveBeenCalledTimes(1);
  });

  test('that is closed during a poll causes no error', async () => {
    const output = outputOf();
    const tooMuch = vi.fn();
    await output.open(tooMuch);
    const any = await open(path());
    await any.close();
    let refuse = (_error: Error) => {};
    const looks = new Promise<void>((looking) => {
      vi.spyOn(Object.getPrototypeOf(any) as typeof any, 'stat').mockImplementationOnce(() => {
        looking();
        return new Promise((_resolve, reject) => (refuse = reject));
      });
    });
    await looks;
    vi.restoreAllMocks();
    await output.end();
    refuse(new Error('EBADF'));
    await new Promise((resolve) => setImmediate(resolve));
    expect([output.reports, tooMuch.mock.calls]).toEqual([[], []]);
  });

  test('output after the end, of a program that left the process group, is not returned', async () => {
    const output = outputOf();
    const fd = await output.open(() => undefined);
    execFileSync('/bin/sh', ['-c', 'printf one'], { stdio: ['ignore', fd, fd] });
    await output.end();
    await appendFile(path(), ' late');
    expect(await output.tail(100)).toBe('one');
  });
});

describe('obstacles in the path', () => {
  const secret = () => join(root, 'secret');
  beforeEach(() => writeFile(secret(), 'token'));

  test.each(['agents', 'agents/main', 'agents/main/tasks', `agents/main/tasks/${TASK}`])(
    'a link in place of %s is not followed',
    async (name) => {
      await mkdir(join(root, 'elsewhere'));
      await mkdir(dirname(join(sessionDir, name)), { recursive: true });
      await symlink(join(root, 'elsewhere'), join(sessionDir, name));
      await expect(createOutputFile(sessionDir, 'main', TASK)).rejects.toThrow('not what it was made as');
      expect(execFileSync('ls', ['-A', join(root, 'elsewhere')], { encoding: 'utf8' })).toBe('');
    },
  );

  test('a link or a file in place of the output is not written', async () => {
    await mkdir(dirname(path()), { recursive: true });
    await symlink(secret(), path());
    await expect(createOutputFile(sessionDir, 'main', TASK)).rejects.toThrow('EEXIST');
    await rm(path());
    await writeFile(path(), 'mine');
    await expect(createOutputFile(sessionDir, 'main', TASK)).rejects.toThrow('EEXIST');
    expect(await readFile(secret(), 'utf8')).toBe('token');
  });

  test('an output replaced by a link, a pipe or a hard link, or reachable through a link only, returns undefined', async () => {
    const output = outputOf();
    output.keep();
    output.write(Buffer.from('abc'));
    await output.end();
    const shown = () => readOutputFile(sessionDir, path(), 100);
    expect((await shown())?.toString()).toBe('abc');
    await rm(path());
    await symlink(secret(), path());
    expect(await shown()).toBeUndefined();
    expect(await output.tail(100)).toBeUndefined();
    await rm(path());
    execFileSync('ln', [secret(), path()]);
    expect(await shown()).toBeUndefined();
    await rm(path());
    execFileSync('mkfifo', [path()]);
    expect(await shown()).toBeUndefined();
    const folder = dirname(path());
    await rename(folder, `${folder}-moved`);
    await mkdir(join(root, 'other'));
    await writeFile(join(root, 'other/output.log'), 'token');
    await symlink(join(root, 'other'), folder);
    expect(await shown()).toBeUndefined();
    await rm(folder);
    expect(await shown()).toBeUndefined();
  });

  test('a running task is read from the file that it writes, even if its path leads elsewhere', async () => {
    const output = outputOf();
    await output.open(() => undefined);
    await appendFile(path(), 'mine');
    await rm(path());
    await symlink(secret(), path());
    expect(await output.tail(100)).toBe('mine');
    await output.end();
    expect(await output.tail(100)).toBeUndefined();
  });

  test('a truncated file returns the rest', async () => {
    const output = outputOf();
    output.keep();
    output.write(Buffer.from('abcdef'));
    await output.end();
    await truncate(path(), 2);
    expect(await output.tail(100)).toBe('ab');
  });
});

describe('the end of an output as text', () => {
  test.each([
    ['aé😀z', 100, 'aé😀z'],
    ['aé😀z', 7, 'é😀z'],
    ['aé😀z', 6, '😀z'],
    ['aé😀z', 5, '😀z'],
    ['aé😀z', 4, 'z'],
    ['', 4, ''],
  ])('%s in %i bytes is %s', (text, bytes, shown) => {
    expect(tailText(Buffer.from(text), bytes)).toBe(shown);
  });

  test('an incomplete character is omitted; invalid UTF-8 stays within the limit', () => {
    expect(tailText(Buffer.from([0x61, 0xf0, 0x9f]), 10)).toBe('a');
    expect(tailText(Buffer.from([0x61, 0xc3]), 10)).toBe('a');
    const noise = Buffer.alloc(50, 0xff);
    for (let bytes = 0; bytes < 20; bytes += 1) {
      expect(Buffer.byteLength(tailText(noise, bytes))).toBeLessThanOrEqual(bytes);
    }
  });
});
