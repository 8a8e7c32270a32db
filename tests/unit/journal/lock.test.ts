import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireLock, lockOwner, type Lock } from '#server/journal/lock.ts';
import { buildProgram, startProgram } from '#support/programs.ts';
import { temporaryFolder } from '#support/session-logs.ts';

const DEAD = JSON.stringify({ pid: 2 ** 22 + 1, start: 'long ago' });

describe('the lock of a session', () => {
  let dir: string;
  let remove: () => Promise<void>;
  beforeEach(async () => ({ path: dir, remove } = await temporaryFolder()));
  afterEach(() => remove());

  const take = async (): Promise<Lock> => {
    const taken = await acquireLock(dir);
    if ('owner' in taken) throw new Error(`held by ${taken.owner.pid}`);
    return taken.lock;
  };

  it('is refused while its owner lives and given on when it is released', async () => {
    const lock = await take();
    expect(await acquireLock(dir)).toMatchObject({ owner: { pid: process.pid } });
    expect(await lockOwner(dir)).toMatchObject({ pid: process.pid });
    await lock.release();
    expect(await lockOwner(dir)).toBeUndefined();
    const next = await take();
    await next.release();
    expect((await readdir(dir)).filter((name) => !/^lock\.\d+$/.test(name))).toEqual([]);
    expect(await readdir(dir)).toHaveLength(1);
  });

  it.each([
    ['a process that is gone', DEAD],
    ['a process whose number was given again', JSON.stringify({ pid: process.pid, start: 'another boot/1' })],
    ['nobody readable', '{"pid":'],
  ])('is taken over from %s', async (_name, content) => {
    await writeFile(join(dir, 'lock.7'), content);
    const lock = await take();
    expect(await readdir(dir)).toEqual(['lock.8']);
    await lock.release();
  });

  it('goes to exactly one of four processes, twenty times', async () => {
    const contender = await buildProgram('lock-contender', dir);
    const children = Array.from({ length: 4 }, () => startProgram(contender));
    try {
      await Promise.all(children.map((child) => once(child, 'message')));
      for (let round = 0; round < 20; round += 1) {
        const folder = join(dir, String(round));
        await mkdir(folder);
        // Half of the rounds are takeovers from a dead owner.
        if (round % 2 === 0) await writeFile(join(folder, 'lock.1'), DEAD);
        const answers = children.map(async (child) => String((await once(child, 'message'))[0]));
        for (const child of children) child.send(folder);
        const told = await Promise.all(answers);
        expect(told.filter((answer) => answer === 'won')).toHaveLength(1);
        const winner = children[told.indexOf('won')]?.pid;
        expect(told.filter((answer) => answer === `held by ${winner}`)).toHaveLength(3);
      }
    } finally {
      for (const child of children) child.kill('SIGKILL');
    }
  });
});
