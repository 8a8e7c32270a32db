/** Log files: retention, order, and failed writes. */
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLogFiles, type LogFilesOptions, type LogTarget } from '#server/logging/log-file.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const NAME = 'service-code.log';

async function setUp({ maxBytes = 30, files = 3, ...options }: Partial<LogTarget & LogFilesOptions> = {}) {
  const home = await temporaryHome();
  const errors: unknown[] = [];
  const dropped: number[] = [];
  const log = createLogFiles({
    onError: (error) => errors.push(error),
    onDropped: (lines) => dropped.push(lines),
    ...options,
  });
  const target: LogTarget = { directory: join(home, 'logs'), maxBytes, files };
  const read = async () => {
    const names = (await readdir(target.directory)).toSorted();
    return Object.fromEntries(
      await Promise.all(
        names.map(async (name) => [name, await readFile(join(target.directory, name), 'utf8')] as const),
      ),
    );
  };
  return { home, log, target, errors, dropped, read };
}

describe('log files', () => {
  it('are created with the first line, with mode 0600', async () => {
    const { home, log, target, read } = await setUp();
    expect(await readdir(home)).toEqual([]);
    log.write(target, 'one\n');
    log.write(target, 'two\n');
    await log.close();
    expect(await read()).toEqual({ [NAME]: 'one\ntwo\n' });
    const mode = async (path: string) => (await stat(path)).mode & 0o777;
    expect([await mode(target.directory), await mode(join(target.directory, NAME))]).toEqual([0o700, 0o600]);
  });

  it('are rotated before they exceed the limit; the oldest is deleted, no line is cut', async () => {
    const { log, target, read } = await setUp();
    for (let n = 10; n < 20; n += 1) log.write(target, `line ${n} ....\n`);
    await log.close();
    expect(await read()).toEqual({
      [NAME]: 'line 18 ....\nline 19 ....\n',
      [`${NAME}.1`]: 'line 16 ....\nline 17 ....\n',
      [`${NAME}.2`]: 'line 14 ....\nline 15 ....\n',
    });
  });

  it('count existing bytes, and accept a single line above the limit', async () => {
    const { log, target, read } = await setUp({ files: 2 });
    await mkdir(target.directory);
    await writeFile(join(target.directory, NAME), `${'x'.repeat(28)}\n`);
    log.write(target, `${'y'.repeat(50)}\n`);
    log.write(target, 'z\n');
    await log.close();
    expect(await read()).toEqual({ [NAME]: 'z\n', [`${NAME}.1`]: `${'y'.repeat(50)}\n` });
  });

  it('are truncated when only one is retained', async () => {
    const { log, target, read } = await setUp({ files: 1, maxBytes: 5 });
    for (const line of ['one\n', 'two\n']) log.write(target, line);
    await log.close();
    expect(await read()).toEqual({ [NAME]: 'two\n' });
  });

  it('lose no line of two concurrent writers', async () => {
    const { log, target, read, errors } = await setUp({ maxBytes: 100, files: 100 });
    const other = createLogFiles({ onError: (error) => errors.push(error), onDropped: () => undefined });
    const lines = Array.from({ length: 100 }, (_, n) => `line ${n}\n`);
    for (const [n, line] of lines.entries()) {
      (n % 2 === 0 ? log : other).write(target, line);
      // Lets the writers alternate.
      if (n % 5 === 0) await stat(target.directory).catch(() => undefined);
    }
    await Promise.all([log.close(), other.close()]);
    const written = Object.values(await read()).join('');
    expect(written.split('\n').toSorted()).toEqual(lines.join('').split('\n').toSorted());
    expect(errors).toEqual([]);
  });

  it('are not rotated during a rotation of another server, but after one that crashed', async () => {
    const { log, target, read } = await setUp();
    await mkdir(target.directory);
    const lock = join(target.directory, `${NAME}.lock`);
    await writeFile(lock, '');
    const write = async (line: string) => {
      log.write(target, `${line.padEnd(19, '.')}\n`);
      await expect.poll(async () => Object.values(await read()).join('')).toContain(line);
    };
    await write('one');
    await write('two');
    expect(Object.keys(await read())).toEqual([NAME, `${NAME}.lock`]);
    await utimes(lock, 0, 0);
    await write('three');
    await write('four');
    expect(Object.keys(await read())).toEqual([NAME, `${NAME}.1`]);
    expect((await read())[NAME]).toMatch(/^four/);
  });

  it('may be moved or removed while they are written', async () => {
    const { log, target, read, errors } = await setUp();
    const written = async (line: string) => {
      log.write(target, line);
      await expect.poll(() => read().catch(() => ({}))).toMatchObject({ [NAME]: expect.stringContaining(line) });
    };
    await written('one\n');
    await rename(join(target.directory, NAME), join(target.directory, 'old'));
    await written('two\n');
    await rm(target.directory, { recursive: true });
    await written('three\n');
    await log.close();
    expect([await read(), errors]).toEqual([{ [NAME]: 'three\n' }, []]);
  });

  it('do not restore a removed parent; the failure is reported a single time until a write succeeds', async () => {
    const { home, log, target, errors } = await setUp();
    const gone: LogTarget = { ...target, directory: join(home, 'session', 'logs') };
    log.write(gone, 'one\n');
    await expect.poll(() => errors).toMatchObject([{ code: 'ENOENT' }]);
    log.write(gone, 'two\n');
    log.write(target, 'works\n');
    log.write(gone, 'three\n');
    await log.close();
    expect(errors).toHaveLength(1);
    expect(await readdir(home)).toEqual(['logs']);
  });

  it('buffer a bounded number of bytes and report dropped lines', async () => {
    const { log, target, dropped, read } = await setUp({ maxBytes: 1000, maxWaitingBytes: 10 });
    for (let n = 0; n < 5; n += 1) log.write(target, `line${n}\n`);
    await expect.poll(() => dropped).toEqual([4]);
    log.write(target, 'later\n');
    await log.close();
    expect(await read()).toEqual({ [NAME]: 'line0\nlater\n' });
  });
});
