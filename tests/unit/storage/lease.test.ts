import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import fs, { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { acquireLease, leaseOwner, LeaseLostError, leaseReleased, type Lease } from '#server/storage/lease.ts';
import { deadOwner, leaseHolder } from '#support/lease-holder.ts';
import { buildProgram, startProgram } from '#support/programs.ts';
import { temporaryHome } from '#support/temporary-home.ts';

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await temporaryHome();
  path = join(dir, 'lock');
});

async function take(holder = leaseHolder()): Promise<Lease> {
  const taken = await acquireLease(path, holder);
  if ('owner' in taken) throw new Error(`held by ${taken.owner.pid}`);
  return taken.lease;
}

/** Makes the file system calls after a `link` fail if `fails` returns true for their number. Undone after the test. */
function failAfterLink(fails: (call: number) => boolean): { calls(): number } {
  let calls: number | undefined;
  const real = { link: fs.link, readdir: fs.readdir, readFile: fs.readFile, rm: fs.rm, truncate: fs.truncate };
  for (const [name, call] of Object.entries(real)) {
    const failing = new Proxy(call, {
      async apply(target, self, args) {
        if (calls !== undefined && fails(calls++)) throw new Error(`EIO: i/o error, ${name}`);
        const result: unknown = await Reflect.apply(target, self, args);
        if (name === 'link') calls = 0;
        return result;
      },
    });
    Object.assign(fs, { [name]: failing });
  }
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  });
  return { calls: () => calls ?? 0 };
}

describe('a file system that fails after the link', () => {
  const failures: [string, (call: number) => boolean][] = [
    ...[0, 1, 2].map((place): [string, (call: number) => boolean] => [`at call ${place}`, (call) => call === place]),
    ['at every call', () => true],
  ];
  it.each(failures)('%s: the lease can be acquired afterwards', async (_name, fails) => {
    await writeFile(`${path}.1`, deadOwner());
    let failing = true;
    const { calls } = failAfterLink((call) => failing && fails(call));
    const holder = leaseHolder();
    const first = await acquireLease(path, holder).catch((error: unknown) => error);
    expect(calls()).toBeGreaterThan(1);
    failing = false;
    if (first instanceof Error) expect(first.message).toContain('EIO');
    // Failed cleanup must not fail a lease that was won.
    else if (typeof first === 'object' && first && 'lease' in first) {
      expect(await acquireLease(path, holder)).toEqual({ owner: holder.self });
      return;
    }
    const lease = await take(holder);
    expect(await acquireLease(path, leaseHolder('server_2'))).toEqual({ owner: holder.self });
    await lease.release();
    await (await take(leaseHolder('server_2'))).release();
  });

  it('in a release: the next acquisition succeeds', async () => {
    const holder = leaseHolder();
    const lease = await take(holder);
    vi.spyOn(fs, 'truncate').mockRejectedValueOnce(new Error('EIO: i/o error, truncate'));
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    await expect(lease.release()).rejects.toThrow('EIO');
    await (await take(holder)).release();
  });

  it('in the link: the acquisition fails with its error and leaves no file', async () => {
    vi.spyOn(fs, 'link').mockRejectedValueOnce(new Error('EIO: i/o error, link'));
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    await expect(acquireLease(path, leaseHolder())).rejects.toThrow('EIO');
    expect(await readdir(dir)).toEqual([]);
  });

  it('in reading the owner: the lease is not taken over', async () => {
    await mkdir(`${path}.1`);
    await expect(acquireLease(path, leaseHolder())).rejects.toThrow('EISDIR');
    await expect(leaseOwner(path, leaseHolder())).rejects.toThrow('EISDIR');
    expect(await readdir(dir)).toEqual(['lock.1']);
  });

  it('concurrent acquisitions in one process: exactly one succeeds', async () => {
    const holder = leaseHolder();
    const taken = await Promise.all(Array.from({ length: 20 }, () => acquireLease(path, holder)));
    expect(taken.filter((each) => 'lease' in each)).toHaveLength(1);
  });
});

describe('a lease', () => {
  it('is refused while its owner lives and can be acquired after its release', async () => {
    const holder = leaseHolder();
    const lease = await take(holder);
    expect(await acquireLease(path, leaseHolder('server_2'))).toEqual({ owner: holder.self });
    expect(await leaseOwner(path, holder)).toEqual(holder.self);
    expect(await leaseReleased(path)).toBe(false);
    await lease.release();
    expect(await leaseOwner(path, holder)).toBeUndefined();
    expect(await leaseReleased(path)).toBe(true);
    await (await take()).release();
    expect(await readdir(dir)).toEqual(['lock.2']);
  });

  it.each([
    ['a process that is gone', deadOwner()],
    [
      'a process whose number was given again',
      JSON.stringify({ ...leaseHolder().self, server_id: 'gone', start: 'another' }),
    ],
    ['nobody readable', '{"pid":'],
    ['a name that leads elsewhere', JSON.stringify({ ...leaseHolder().self, server_id: '../../config' })],
  ])('is taken over from %s', async (_name, content) => {
    await writeFile(`${path}.7`, content);
    const lease = await take();
    expect(await readdir(dir)).toEqual(['lock.8']);
    await lease.release();
  });

  it('is refused to a server that checked a stale owner while two others took the lease over', async () => {
    await writeFile(`${path}.1`, deadOwner());
    const live = leaseHolder('server_3');
    const slow = leaseHolder('server_1', {
      async alive(owner) {
        if (owner.server_id !== 'gone') return live.alive(owner);
        await (await take(leaseHolder('server_2'))).release();
        await take(live);
        return false;
      },
    });
    expect(await acquireLease(path, slow)).toEqual({ owner: live.self });
    expect(await readdir(dir)).toEqual(['lock.3']);
  });

  it('that never had an owner is free', async () => {
    expect(await leaseOwner(path, leaseHolder())).toBeUndefined();
    expect(await leaseReleased(path)).toBe(true);
  });

  it('has a file that only its owner can read, with any other files in the folder', async () => {
    const others = ['lock.9.bak', 'lock.x9', 'lock.', 'other.9'];
    for (const name of others) await writeFile(join(dir, name), '');
    const lease = await take();
    expect((await readdir(dir)).sort()).toEqual(['lock.1', ...others].sort());
    expect((await stat(`${path}.1`)).mode & 0o777).toBe(0o600);
    await lease.release();
  });

  it('fails after a hundred lost races', async () => {
    let races = 0;
    const loser = leaseHolder('server_1', {
      silences() {
        races += 1;
        // Another server takes each number first, and releases it.
        writeFileSync(`${path}.${races}`, '');
        return 0;
      },
    });
    await expect(acquireLease(path, loser)).rejects.toThrow('no lease could be taken');
    expect(races).toBe(100);
  });

  it('can be released after its folder was deleted', async () => {
    const lease = await take();
    await rm(dir, { recursive: true });
    await lease.release();
  });

  it('is acquired by exactly one of four processes, twenty times', async () => {
    const contender = await buildProgram('lease-contender', dir);
    const children = Array.from({ length: 4 }, () => startProgram(contender));
    try {
      await Promise.all(children.map((child) => once(child, 'message')));
      for (let round = 0; round < 20; round += 1) {
        const folder = join(dir, String(round));
        await mkdir(folder);
        // Half of the rounds are takeovers from a dead owner.
        if (round % 2 === 0) await writeFile(join(folder, 'lock.1'), deadOwner());
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

describe('the fence', () => {
  it('checks only after a silence, and passes if the lease was not lost', async () => {
    let silences = 0;
    const lease = await take(leaseHolder('server_1', { silences: () => silences }));
    await rm(dir, { recursive: true });
    lease.fence();
    silences = 1;
    expect(() => lease.fence()).toThrow('ENOENT');
    await mkdir(dir);
    await writeFile(`${path}.1`, '');
    lease.fence();
    await rm(dir, { recursive: true });
    lease.fence();
  });

  it('stops an owner that was suspended while another server treated it as dead', async () => {
    let silences = 0;
    const asleep = await take(leaseHolder('server_1', { silences: () => silences }));
    const next = leaseHolder('server_2', { alive: async () => false });
    const taken = await take(next);
    silences = 1;
    const lost = expect.objectContaining({ owner: next.self });
    expect(() => asleep.fence()).toThrow(LeaseLostError);
    expect(() => asleep.fence()).toThrow('went to server server_2');
    expect(() => asleep.fence()).toThrow(lost);
    // A release must not affect the new owner's lease.
    await asleep.release();
    expect(JSON.parse(await readFile(`${path}.2`, 'utf8'))).toEqual(next.self);
    await taken.release();
    expect(() => asleep.fence()).toThrow(lost);
  });

  it('stops an owner whose folder was created again while it was suspended, and names the owner there', async () => {
    let silences = 0;
    const sleeper = leaseHolder('server_1', { silences: () => silences });
    const asleep: Lease[] = [];
    for (const _ of ['empty', 'taken']) {
      await writeFile(`${path}.4`, deadOwner());
      asleep.push(await take(sleeper));
      await rm(dir, { recursive: true });
      await mkdir(dir);
    }
    silences = 1;
    expect(() => asleep[0]?.fence()).toThrow(expect.objectContaining({ owner: undefined }));
    const next = leaseHolder('server_2');
    await take(next);
    expect(() => asleep[1]?.fence()).toThrow(expect.objectContaining({ owner: next.self }));
  });
});
