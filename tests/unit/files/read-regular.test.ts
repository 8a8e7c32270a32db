import { execFileSync } from 'node:child_process';
import { mkdir, open, realpath, rename, rm, symlink, truncate, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UnsuitableFile, readRegular } from '#server/files/read-regular.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

let dir: string;
beforeEach(async () => (dir = await realpath(await temporaryDirectory())));
afterEach(() => rm(dir, { recursive: true, force: true }));

const at = (name: string) => join(dir, name);
const text = async (...args: Parameters<typeof readRegular>) => Buffer.from(await readRegular(...args)).toString();

it('reads a file up to the limit', async () => {
  await writeFile(at('a'), 'x'.repeat(100));
  expect(await text(at('a'), { maxBytes: 100 })).toBe('x'.repeat(100));
  await expect(readRegular(at('a'), { maxBytes: 99 })).rejects.toThrow('is larger than 99 bytes');
  await writeFile(at('empty'), '');
  expect(await text(at('empty'), { maxBytes: 0 })).toBe('');
});

it.runIf(process.platform === 'linux')('counts the bytes of files whose size is not known', async () => {
  expect((await readRegular('/proc/self/status', { maxBytes: 100_000 })).length).toBeGreaterThan(100);
  await expect(readRegular('/proc/self/status', { maxBytes: 100 })).rejects.toThrow('is larger than 100 bytes');
});

it('reads to the end of a file that has grown since it was opened', async () => {
  const text200k = '0123456789'.repeat(20_000);
  const grow = () => writeFile(at('a'), text200k);
  for (const maxBytes of [200_000, 199_999]) {
    await writeFile(at('a'), '');
    const reading = text(at('a'), { maxBytes, admit: grow });
    if (maxBytes === 200_000) expect((await reading) === text200k).toBe(true);
    else await expect(reading).rejects.toThrow('is larger than 199999 bytes');
  }
});

it('refuses pipes, devices, directories and links to them without blocking', async () => {
  execFileSync('mkfifo', [at('pipe')]);
  await symlink('/dev/zero', at('endless'));
  await mkdir(at('folder'));
  for (const name of ['pipe', 'endless']) {
    await expect(readRegular(at(name), { maxBytes: 10 })).rejects.toThrow('is not a regular file');
  }
  await expect(readRegular(at('folder'), { maxBytes: 10 })).rejects.toThrow(UnsuitableFile);
});

it('does not read a sparse file above the limit', async () => {
  await writeFile(at('sparse'), '');
  await truncate(at('sparse'), 2 ** 40);
  await expect(readRegular(at('sparse'), { maxBytes: 1024 })).rejects.toThrow('is larger than 1024 bytes');
});

describe('admission', () => {
  it('receives the real path, links resolved', async () => {
    await writeFile(at('target'), 'secret');
    await symlink('target', at('link'));
    const seen: string[] = [];
    expect(await text(at('link'), { maxBytes: 10, admit: (real) => void seen.push(real) })).toBe('secret');
    expect(seen).toEqual([at('target')]);
    const refuse = () => {
      throw new Error('refused');
    };
    await expect(readRegular(at('link'), { maxBytes: 10, admit: refuse })).rejects.toThrow('refused');
  });

  it.runIf(process.platform === 'linux')('is the file that is open, whatever the path leads to meanwhile', async () => {
    await writeFile(at('harmless'), 'harmless');
    await writeFile(at('secret'), 'secret');
    await symlink('harmless', at('link'));
    await symlink('secret', at('other'));
    const swap = async (real: string) => {
      expect(real).toBe(at('harmless'));
      await rename(at('other'), at('link'));
    };
    expect(await text(at('link'), { maxBytes: 10, admit: swap })).toBe('harmless');
    expect(await text(at('link'), { maxBytes: 10 })).toBe('secret');
  });

  it.runIf(process.platform === 'linux')(
    'is the file that was opened, where the path is swapped before the check',
    async () => {
      await writeFile(at('harmless'), 'harmless');
      await writeFile(at('secret'), 'secret');
      await symlink('secret', at('link'));
      await symlink('harmless', at('other'));
      // The test swaps the path while the opened file's stats are read, which is between the opening and the check.
      const opened = await open(at('harmless'));
      const prototype = Object.getPrototypeOf(opened) as FileHandle;
      await opened.close();
      const { stat } = prototype;
      const swap = vi.spyOn(prototype, 'stat').mockImplementationOnce(async function (this: FileHandle) {
        await rename(at('other'), at('link'));
        return stat.call(this);
      } as typeof stat);
      const admit = (real: string) => {
        if (real === at('secret')) throw new Error('refused');
      };
      await expect(readRegular(at('link'), { maxBytes: 10, admit })).rejects.toThrow('refused');
      expect(await text(at('link'), { maxBytes: 10, admit })).toBe('harmless');
      expect(swap).toHaveBeenCalledTimes(2);
      swap.mockRestore();
    },
  );
});
