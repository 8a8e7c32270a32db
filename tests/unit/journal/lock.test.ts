import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireLock, assertNotHeld, lockOwner, wasReleased } from '#server/journal/lock.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { temporaryFolder } from '#support/session-logs.ts';

describe('the lock of a session', () => {
  let dir: string;
  let remove: () => Promise<void>;
  beforeEach(async () => ({ path: dir, remove } = await temporaryFolder()));
  afterEach(() => remove());

  const holder = leaseHolder();

  it('is refused with session.busy naming the live owner, and can be acquired after its release', async () => {
    expect(await wasReleased(dir)).toBe(true);
    const lock = await acquireLock(dir, 'session_S1', holder);
    await expect(acquireLock(dir, 'session_S1', holder)).rejects.toMatchObject({
      code: 40901,
      message: `session session_S1 is held by process ${process.pid}; use that server, or stop it first`,
      details: { reason: 'lock', pid: process.pid },
    });
    expect(await lockOwner(dir, holder)).toMatchObject({ pid: process.pid, server_id: 'server_1' });
    expect(await wasReleased(dir)).toBe(false);
    lock.fence();
    await lock.release();
    expect(await lockOwner(dir, holder)).toBeUndefined();
    expect(await wasReleased(dir)).toBe(true);
    await (await acquireLock(dir, 'session_S1', holder)).release();
  });

  it('is checked without acquiring it', async () => {
    await assertNotHeld(dir, 'session_S1', holder);
    const lock = await acquireLock(dir, 'session_S1', holder);
    await expect(assertNotHeld(dir, 'session_S1', holder)).rejects.toMatchObject({
      code: 40901,
      details: { reason: 'lock', pid: process.pid },
    });
    await lock.release();
    await assertNotHeld(dir, 'session_S1', holder);
  });

  it('names a server of another machine by its id', async () => {
    const self = { server_id: 'server_2', machine: 'elsewhere', pid: 7, start: '1' };
    await acquireLock(dir, 'session_S1', leaseHolder('server_2', { self }));
    const other = leaseHolder('server_1', { alive: async () => true });
    await expect(acquireLock(dir, 'session_S1', other)).rejects.toMatchObject({
      message:
        'session session_S1 is held by process 7 of server server_2 on another machine; use that server, or stop it first',
    });
  });

  it('reports through the fence that it was lost during a suspension, with the new owner', async () => {
    let silences = 0;
    const lock = await acquireLock(dir, 'session_S1', leaseHolder('server_1', { silences: () => silences }));
    await writeFile(join(dir, 'lock.2'), JSON.stringify({ ...holder.self, server_id: 'server_2', pid: 7 }));
    lock.fence();
    silences = 1;
    const gone = { code: 40901, details: { reason: 'lock', pid: 7 } };
    expect(() => lock.fence()).toThrow(expect.objectContaining(gone));
    expect(() => lock.fence()).toThrow(expect.objectContaining(gone));
  });
});
