import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createChangeLock } from '#server/storage/change-lock.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import { deadOwner, leaseHolder, suspendableHolder } from '#support/lease-holder.ts';
import { temporaryHome } from '#support/temporary-home.ts';

/** A lock over texts in memory, whose `put` resolves in a later turn of the event loop. */
function openLock(
  path: string,
  { holder = leaseHolder(), maxWaitMs }: { holder?: LeaseHolder; maxWaitMs?: number } = {},
) {
  const texts: string[] = [];
  const writer = {
    async put(text: string) {
      await new Promise((resolve) => setImmediate(resolve));
      texts.push(text);
      return texts.length;
    },
  };
  return { texts, lock: createChangeLock({ path, holder, writer, ...(maxWaitMs === undefined ? {} : { maxWaitMs }) }) };
}

describe('the lock of a change', () => {
  it('runs one work at a time, for any callers', async () => {
    const path = join(await temporaryHome(), 'lock');
    const locks = ['a', 'b', 'c'].map((name) => openLock(path, { holder: leaseHolder(name) }).lock);
    let inside = 0;
    let most = 0;
    const works = Array.from({ length: 5 }, () =>
      locks.map((lock) =>
        lock.hold(async (writer) => {
          most = Math.max(most, ++inside);
          await writer.put('x');
          inside--;
        }),
      ),
    );
    await Promise.all(works.flat());
    expect(most).toBe(1);
  });

  it('passes the arguments and results of writes on', async () => {
    const { lock, texts } = openLock(join(await temporaryHome(), 'lock'));
    expect(await lock.hold(async ({ put }) => [await put('a'), await put('b')])).toEqual([1, 2]);
    expect(texts).toEqual(['a', 'b']);
  });

  it('is released when the work fails', async () => {
    const { lock } = openLock(join(await temporaryHome(), 'lock'));
    await expect(lock.hold(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await lock.hold(async () => 'yes')).toBe('yes');
  });

  it('is not waited for after the signal is aborted, and its work never runs', async () => {
    const path = join(await temporaryHome(), 'lock');
    const [one, two] = [openLock(path).lock, openLock(path, { holder: leaseHolder('two') }).lock];
    const stopping = new AbortController();
    let ran = false;
    await one.hold(async () => {
      const waiting = two.hold(async () => void (ran = true), stopping.signal);
      stopping.abort(new Error('stopping'));
      await expect(waiting).rejects.toThrow(/^stopping$/);
    });
    expect(ran).toBe(false);
    await expect(two.hold(async () => void (ran = true), stopping.signal)).rejects.toThrow('stopping');
    expect(await two.hold(async () => 'yes')).toBe('yes');
  });

  it('is taken from a dead owner, and refused after a wait while a live one has it', async () => {
    const path = join(await temporaryHome(), 'lock');
    await writeFile(`${path}.3`, deadOwner());
    const { lock } = openLock(path, { maxWaitMs: 20 });
    await lock.hold(async () => {
      await expect(lock.hold(async () => undefined)).rejects.toMatchObject({
        code: 50003,
        message: `the lock ${path} cannot be had: process ${process.pid} holds it`,
      });
    });
  });

  it('rejects each write of an owner that was suspended while another server took the lock', async () => {
    const path = join(await temporaryHome(), 'lock');
    const { holder, suspend } = suspendableHolder();
    const { lock, texts } = openLock(path, { holder });
    await lock.hold(async ({ put }) => {
      await put('before');
      await suspend(path);
      for (const text of ['after', 'later']) {
        await expect(put(text)).rejects.toMatchObject({
          code: 50003,
          message: expect.stringContaining('went to another server'),
        });
      }
    });
    expect(texts).toEqual(['before']);
  });

  it('rejects a write after its work', async () => {
    const { lock, texts } = openLock(join(await temporaryHome(), 'lock'));
    const { put } = await lock.hold(async (writer) => writer);
    await expect(put('late')).rejects.toMatchObject({ code: 50003, message: expect.stringContaining('released') });
    expect(texts).toEqual([]);
  });

  it('reports errors of the file system', async () => {
    const home = await mkdtemp(join(await temporaryHome(), 'x'));
    await rm(home, { recursive: true });
    await expect(openLock(join(home, 'lock')).lock.hold(async () => undefined)).rejects.toMatchObject({
      code: 50003,
      cause: { code: 'ENOENT' },
    });
  });
});
