import { readdir, readFile, rm, stat, writeFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createHeartbeatWatch, createOwnHeartbeat, DEAD_MS, SILENT_MS } from '#server/home/heartbeats.ts';
import { listInstances, registerInstance, type Instance } from '#server/home/instances.ts';
import { createLogger } from '#server/logging/log.ts';
import { thisProcess } from '#server/processes/process-identity.ts';
import { temporaryHome } from '#support/temporary-home.ts';

function testClock() {
  const time = { wall: Date.UTC(2026, 0, 1), steady: 1_000 };
  return {
    time,
    wall: () => time.wall,
    steady: () => time.steady,
    pass(ms: number) {
      time.wall += ms;
      time.steady += ms;
    },
  };
}

describe("another machine's heartbeat", () => {
  it('is dead when its value is unchanged for 30 s of our clock, with any wall clocks', () => {
    const clock = testClock();
    const watch = createHeartbeatWatch(clock);
    expect(watch.alive('a', 5)).toBe(true);
    clock.time.wall += 10 * DEAD_MS;
    expect(watch.alive('a', 5)).toBe(true);
    clock.pass(DEAD_MS - 1);
    expect(watch.alive('a', 5)).toBe(true);
    clock.pass(1);
    expect(watch.alive('a', 5)).toBe(false);
    expect(watch.alive('a', 6)).toBe(true);
    clock.pass(DEAD_MS);
    expect(watch.alive('a', 6)).toBe(false);
  });

  it('that was removed from the registry is treated as unchanged', () => {
    const clock = testClock();
    const watch = createHeartbeatWatch(clock);
    expect(watch.alive('a', undefined)).toBe(true);
    clock.pass(DEAD_MS);
    expect(watch.alive('a', undefined)).toBe(false);
  });
});

describe('this server’s heartbeat', () => {
  it('counts each silence a single time, also one that a late timer ended', () => {
    const clock = testClock();
    const written: number[] = [];
    const own = createOwnHeartbeat((value) => void written.push(value), clock);
    own.beat();
    const begin = own.silences();
    clock.pass(SILENT_MS);
    expect(own.silences()).toBe(begin);
    clock.pass(1);
    expect(own.silences()).toBe(begin + 1);
    expect(own.silences()).toBe(begin + 1);
    clock.pass(SILENT_MS + 1);
    own.beat();
    expect(own.silences()).toBe(begin + 2);
    expect(written).toHaveLength(3);
  });

  it('detects a suspension that only one of the two clocks shows, and never repeats a value', () => {
    const clock = testClock();
    const written: number[] = [];
    const own = createOwnHeartbeat((value) => void written.push(value), clock);
    own.beat();
    const begin = own.silences();
    clock.time.wall += SILENT_MS + 1;
    expect(own.silences()).toBe(begin + 1);
    clock.time.steady += SILENT_MS + 1;
    clock.time.wall -= 10 * SILENT_MS;
    expect(own.silences()).toBe(begin + 2);
    expect(new Set(written).size).toBe(written.length);
  });

  it('remains silent if it cannot be written', () => {
    const clock = testClock();
    let full = false;
    const own = createOwnHeartbeat(() => {
      if (full) throw new Error('ENOSPC');
    }, clock);
    own.beat();
    const begin = own.silences();
    full = true;
    clock.pass(SILENT_MS + 1);
    expect(() => own.silences()).toThrow('ENOSPC');
    expect(() => own.silences()).toThrow('ENOSPC');
    full = false;
    expect(own.silences()).toBe(begin + 1);
  });
});

describe('the registry', () => {
  const log = createLogger('silent');
  let home: string;
  let folder: string;
  beforeEach(async () => {
    home = await temporaryHome();
    folder = join(home, 'server', 'instances');
    await mkdir(folder, { recursive: true });
  });

  async function register(serverId: string, clock = testClock()) {
    const options = { home, serverId, host: '127.0.0.1', port: 1, version: '1.0.0', startedAt: 1, log };
    const entry = await registerInstance({ ...options, clock });
    onTestFinished(() => entry.close());
    return { entry, clock, path: join(folder, `${serverId}.json`) };
  }

  const instance = async (members: Partial<Instance> = {}): Promise<Instance> => ({
    server_id: 'other',
    host: '127.0.0.1',
    port: 1,
    started_at: 2,
    heartbeat_at: Date.now(),
    ...(await thisProcess()),
    ...members,
  });
  const put = async (name: string, members: Partial<Instance>) =>
    writeFile(join(folder, `${name}.json`), JSON.stringify(await instance({ server_id: name, ...members })));

  it('contains machine, process and heartbeat, renewed in place', async () => {
    const { entry, clock, path } = await register('mine');
    await entry.bound(4711, true);
    const { ino } = await stat(path);
    const before: unknown = JSON.parse(await readFile(path, 'utf8'));
    expect(before).toMatchObject({ server_id: 'mine', ...(await thisProcess()), port: 4711, host_version: '1.0.0' });
    clock.pass(SILENT_MS + 1);
    entry.holder.silences();
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ heartbeat_at: clock.wall() });
    expect((await stat(path)).ino).toBe(ino);
    await entry.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it('writes the file again after another server has removed it', async () => {
    const { entry, clock, path } = await register('mine');
    await rm(path);
    clock.pass(SILENT_MS + 1);
    entry.holder.silences();
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ server_id: 'mine' });
  });

  it('deletes files of dead processes of this machine immediately, those of other machines after a day', async () => {
    const day = 24 * 60 * 60 * 1000;
    await put('gone', { pid: 2 ** 22 + 1 });
    await put('reused', { start: 'another' });
    await put('asleep', {
      machine: 'a container',
      pid: 2 ** 22 + 1,
      heartbeat_at: Date.now() - day / 2,
      started_at: 3,
    });
    await put('forgotten', { machine: 'a container', pid: 2 ** 22 + 1, heartbeat_at: Date.now() - 2 * day });
    await put('alive', {});
    await writeFile(join(folder, 'torn.json'), '{"server_id":');
    expect((await listInstances(home)).map(({ server_id }) => server_id)).toEqual(['alive', 'asleep']);
    expect((await readdir(folder)).toSorted()).toEqual(['alive.json', 'asleep.json', 'torn.json']);
  });

  it('determines live servers: here by process and its start time, elsewhere by the heartbeat', async () => {
    const { entry, clock } = await register('mine');
    const { holder } = entry;
    expect(await holder.alive(holder.self)).toBe(true);
    expect(await holder.alive({ ...holder.self, start: 'another' })).toBe(false);
    const elsewhere = { ...holder.self, server_id: 'other', machine: 'a container' };
    await put('other', { machine: 'a container', heartbeat_at: 1 });
    expect(await holder.alive(elsewhere)).toBe(true);
    clock.pass(DEAD_MS);
    expect(await holder.alive(elsewhere)).toBe(false);
    await put('other', { machine: 'a container', heartbeat_at: 2 });
    expect(await holder.alive(elsewhere)).toBe(true);
  });
});
