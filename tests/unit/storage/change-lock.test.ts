import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createChangeLock } from '#server/storage/change-lock.ts';
import { deadOwner, leaseHolder } from '#support/lease-holder.ts';
import { temporaryHome } from '#support/temporary-home.ts';

describe('the lock of a change', () => {
  it('lets one work at a time, whoever asks', async () => {
    const path = join(await temporaryHome(), 'lock');
    const locks = ['a', 'b', 'c'].map((name) => createChangeLock({ path, holder: leaseHolder(name) }));
    let inside = 0;
    let most = 0;
    const work = async (fence: () => void) => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      fence();
      inside--;
    };
    await Promise.all(Array.from({ length: 5 }, () => locks.map((lock) => lock.hold(work))).flat());
    expect(most).toBe(1);
  });

  it('is given back when the work fails', async () => {
    const lock = createChangeLock({ path: join(await temporaryHome(), 'lock'), holder: leaseHolder() });
    await expect(lock.hold(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await lock.hold(async () => 'yes')).toBe('yes');
  });

  it('is taken from a dead owner and refused after a wait while a live one has it', async () => {
    const path = join(await temporaryHome(), 'lock');
    await writeFile(`${path}.3`, deadOwner());
    const lock = createChangeLock({ path, holder: leaseHolder(), maxWaitMs: 20 });
    await lock.hold(async () => {
      await expect(lock.hold(async () => undefined)).rejects.toMatchObject({
        code: 50003,
        message: `the lock ${path} cannot be had: process ${process.pid} holds it`,
      });
    });
  });

  it('stops a holder that was asleep while another took it, and tells what the file system refuses', async () => {
    const home = await mkdtemp(join(await temporaryHome(), 'x'));
    const path = join(home, 'lock');
    let silences = 0;
    const asleep = createChangeLock({ path, holder: leaseHolder('a', { silences: () => silences }) });
    const robber = createChangeLock({ path, holder: leaseHolder('b', { alive: async () => false }) });
    await asleep.hold(async (fence) => {
      fence();
      await robber.hold(async () => undefined);
      silences = 1;
      expect(fence).toThrow(expect.objectContaining({ code: 50003 }));
    });
    await rm(home, { recursive: true });
    await expect(asleep.hold(async () => undefined)).rejects.toMatchObject({ code: 50003 });
  });
});
