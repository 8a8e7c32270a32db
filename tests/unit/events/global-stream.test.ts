import { appendFile, mkdtemp, open as openFile, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { COMPACT_AT_FRAMES } from '#server/events/global-stream-file.ts';
import { createEventBus } from '#server/events/bus.ts';
import { createGateway } from '#server/events/gateway.ts';
import { frameText } from '#server/events/frame.ts';
import type { EventFrame } from '#server/events/frame.ts';
import { createGlobalStream } from '#server/events/global-stream.ts';
import type { FolderClaim, GlobalStream } from '#server/events/global-stream.ts';
import { acquireLease } from '#server/storage/lease.ts';
import { leaseHolder, suspendableHolder } from '#support/lease-holder.ts';
import { createLogger } from '#server/logging/log.ts';
import { BIND_CONNECTION } from '#server/net/connection-facts.ts';
import { testPeer, testStreams } from './fixtures.ts';
import { until } from '#support/patience.ts';

const silent = createLogger('silent');
let home: string;
let opened: GlobalStream[];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'service-code-'));
  opened = [];
});
afterEach(async () => {
  for (const stream of opened) await stream.close();
  await rm(home, { recursive: true, force: true });
});

const ownClaim: FolderClaim = { fence: () => undefined, release: async () => undefined };

async function open(claim: FolderClaim | null = ownClaim, log = silent) {
  const sent: EventFrame[] = [];
  const stream = await createGlobalStream({
    home,
    claim: async () => claim ?? undefined,
    sink: { publish: (each) => sent.push(each) },
    log,
  });
  opened.push(stream);
  const deleted = (root: string) => stream.publish('event.workspace.deleted', { workspace_id: 'wd_x', root });
  const replay = async (after: number, upTo: number) => {
    const texts: string[] = [];
    for await (const text of stream.replay('__global__', after, upTo)) texts.push(text);
    return texts;
  };
  return { stream, sent, deleted, replay };
}

const file = () => join(home, 'events', 'global.ndjson');

async function claimFolder(folder: string) {
  const taken = await acquireLease(join(folder, 'lock'), leaseHolder());
  return 'lease' in taken ? taken.lease : undefined;
}

describe('the global stream', () => {
  it('numbers its events from 1 and routes them to __global__', async () => {
    const { stream, sent } = await open();
    stream.publish('event.workspace.deleted', { workspace_id: 'wd_x', root: '/x' });
    stream.publish('event.session.archived', { workspace_id: 'wd_x' }, { sessionId: 's1' });
    const { epoch } = await stream.position('__global__');
    expect(epoch).toMatch(/^ep_[0-9A-Z]{26}$/);
    expect(sent.map(({ type, seq, sessionId, payload, epoch: of }) => ({ type, seq, sessionId, payload, of }))).toEqual(
      [
        {
          type: 'event.workspace.deleted',
          seq: 1,
          sessionId: '__global__',
          payload: {
            type: 'event.workspace.deleted',
            workspace_id: 'wd_x',
            root: '/x',
            agentId: 'main',
            sessionId: '__global__',
          },
          of: epoch,
        },
        {
          type: 'event.session.archived',
          seq: 2,
          sessionId: '__global__',
          payload: { type: 'event.session.archived', workspace_id: 'wd_x', agentId: 'main', sessionId: 's1' },
          of: epoch,
        },
      ],
    );
  });

  it('sends a volatile event with the last number, and stores nothing', async () => {
    const { stream, sent, deleted, replay } = await open();
    const install = { running: true, step: 'download' };
    stream.publishVolatile('event.capability.changed', { capability_id: 'x', install });
    deleted('/a');
    const before = await readFile(file(), 'utf8');
    stream.publishVolatile('event.capability.changed', { capability_id: 'x', install });
    deleted('/b');
    expect(sent.map(({ seq, volatile }) => [seq, volatile])).toEqual([
      [0, true],
      [1, undefined],
      [1, true],
      [2, undefined],
    ]);
    const { epoch } = await stream.position('__global__');
    expect(JSON.parse(frameText(sent[2] ?? expect.fail()))).toEqual({
      type: 'event.capability.changed',
      seq: 1,
      session_id: '__global__',
      timestamp: expect.any(String),
      payload: {
        type: 'event.capability.changed',
        capability_id: 'x',
        install,
        agentId: 'main',
        sessionId: '__global__',
      },
      epoch,
      volatile: true,
    });
    expect(await replay(0, 2)).toEqual([sent[1], sent[3]].map((each) => frameText(each ?? expect.fail())));
    expect((await readFile(file(), 'utf8')).startsWith(before)).toBe(true);
    expect(await readFile(file(), 'utf8')).not.toContain('capability');
  });

  it('continues after a restart, and replays the sent bytes', async () => {
    const first = await open();
    for (const root of ['/a', '/b', '/ü']) first.deleted(root);
    const position = await first.stream.position('__global__');
    // Like after kill -9: no close is called.
    const second = await open();
    expect(await second.stream.position('__global__')).toEqual(position);
    second.deleted('/d');
    expect(second.sent[0]).toMatchObject({ seq: 4, epoch: position.epoch });
    const texts = [...first.sent, ...second.sent].map(frameText);
    expect(await second.replay(0, 4)).toEqual(texts);
    expect(await second.replay(1, 3)).toEqual(texts.slice(1, 3));
    expect((await stat(file())).mode & 0o777).toBe(0o600);
  });

  it('truncates a torn last line', async () => {
    const first = await open();
    first.deleted('/a');
    await first.stream.close();
    const whole = await readFile(file(), 'utf8');
    await appendFile(file(), '{"type":"event.workspace.del');
    const second = await open();
    expect(await second.stream.position('__global__')).toMatchObject({ seq: 1 });
    expect(await readFile(file(), 'utf8')).toBe(whole);
    second.deleted('/b');
    expect((await second.replay(0, 2)).length).toBe(2);
  });

  it.each([
    ['an unreadable header', () => 'nonsense\n'],
    ['a line that is no frame', (text: string) => `${text}{}\n`],
    ['a gap', (text: string) => text + text.trimEnd().split('\n').at(-1)?.replace('"seq":1', '"seq":3') + '\n'],
  ])('starts from scratch, with another epoch, after %s', async (_name, damage) => {
    const first = await open();
    first.deleted('/a');
    const { epoch } = await first.stream.position('__global__');
    await first.stream.close();
    await writeFile(file(), damage(await readFile(file(), 'utf8')));
    const second = await open();
    const position = await second.stream.position('__global__');
    expect(position.seq).toBe(0);
    expect(position.epoch).not.toBe(epoch);
    second.deleted('/b');
    expect(await (await open()).stream.position('__global__')).toEqual({ seq: 1, epoch: position.epoch });
  });

  it('stays in memory, with an epoch of its own, if another server owns the file', async () => {
    const owner = await open();
    const other = await open(null);
    owner.deleted('/a');
    other.deleted('/b');
    other.deleted('/c');
    expect(await owner.replay(0, 1)).toHaveLength(1);
    expect(await other.replay(0, 2)).toHaveLength(2);
    expect((await other.stream.position('__global__')).epoch).not.toBe(
      (await owner.stream.position('__global__')).epoch,
    );
    expect((await readFile(file(), 'utf8')).trimEnd().split('\n')).toHaveLength(2);
  });

  it('is stored in the file by exactly one of several concurrently started servers, and by another after that one has exited', async () => {
    const start = () =>
      createGlobalStream({ home, claim: claimFolder, sink: { publish: () => undefined }, log: silent });
    const streams = await Promise.all(Array.from({ length: 8 }, start));
    opened.push(...streams);
    for (const each of streams) each.publish('event.workspace.deleted', { workspace_id: 'wd_x', root: '/x' });
    expect((await readFile(file(), 'utf8')).trimEnd().split('\n')).toHaveLength(2);
    const kept = z
      .object({ epoch: z.string() })
      .parse(JSON.parse((await readFile(file(), 'utf8')).split('\n')[0] ?? ''));
    const epochs = streams.map((each) => each.livePosition('__global__')?.epoch);
    expect(epochs.filter((epoch) => epoch === kept.epoch)).toHaveLength(1);
    expect(new Set(epochs).size).toBe(8);
    // The others stay in memory; the next server to start claims the file.
    for (const each of streams) await each.close();
    const next = await start();
    opened.push(next);
    expect(next.livePosition('__global__')).toEqual({ seq: 1, epoch: kept.epoch });
  });

  it('continues in memory after another server has written the file', async () => {
    const { stream, deleted, sent } = await open();
    deleted('/a');
    const { epoch } = await stream.position('__global__');
    await appendFile(file(), 'of another\n');
    deleted('/b');
    expect(sent.map((each) => each.epoch === epoch)).toEqual([true, false]);
    expect((await readFile(file(), 'utf8')).endsWith('of another\n')).toBe(true);
  });

  it('writes no more after another server took the folder while the process was suspended', async () => {
    const { holder, suspend } = suspendableHolder();
    const lock = join(home, 'events', 'lock');
    const claim = async (folder: string) => {
      const taken = await acquireLease(join(folder, 'lock'), holder);
      return 'lease' in taken ? taken.lease : undefined;
    };
    const stream = await createGlobalStream({ home, claim, sink: { publish: () => undefined }, log: silent });
    opened.push(stream);
    stream.publish('event.workspace.deleted', { workspace_id: 'wd_x', root: '/a' });
    const before = await readFile(file(), 'utf8');
    await suspend(lock);
    stream.publish('event.workspace.deleted', { workspace_id: 'wd_x', root: '/b' });
    expect(await readFile(file(), 'utf8')).toBe(before);
    expect(before).not.toContain(stream.livePosition('__global__')?.epoch);
  });

  it('does not replace the file of another server that took the folder during a rewrite', async () => {
    let robbed = false;
    const fence = () => {
      if (robbed) throw new Error('taken over');
    };
    const lines: string[] = [];
    const { deleted } = await open(
      { ...ownClaim, fence },
      createLogger('error', (line) => lines.push(line)),
    );
    for (let index = 0; index < COMPACT_AT_FRAMES; index += 1) deleted(`/${index}`);
    robbed = true;
    const { ino } = await stat(file());
    await until(() => lines.some((line) => line.includes('not compacted')));
    expect((await stat(file())).ino).toBe(ino);
    expect(await readdir(join(home, 'events'))).toEqual(['global.ndjson']);
  });

  it('leaves no temporary file when a rewrite cannot be synced', async () => {
    const lines: string[] = [];
    const { deleted } = await open(
      ownClaim,
      createLogger('error', (line) => lines.push(line)),
    );
    const handle = await openFile(file());
    const sync = vi.spyOn(Object.getPrototypeOf(handle), 'sync').mockRejectedValueOnce(new Error('ENOSPC'));
    await handle.close();
    for (let index = 0; index < COMPACT_AT_FRAMES; index += 1) deleted(`/${index}`);
    await until(() => lines.some((line) => line.includes('not compacted')));
    sync.mockRestore();
    expect(await readdir(join(home, 'events'))).toEqual(['global.ndjson']);
  });

  it('bounds the file, retaining everything that may be replayed', async () => {
    const { stream, deleted, replay, sent } = await open();
    const count = COMPACT_AT_FRAMES + 500;
    for (let index = 0; index < count; index += 1) {
      deleted(`/${index}`);
      // Some frames are appended while the file is being rewritten.
      if (index > COMPACT_AT_FRAMES && index % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const lines = async () => (await readFile(file(), 'utf8')).trimEnd().split('\n').length;
    await until(async () => (await lines()) < count);
    expect(await lines()).toBeLessThanOrEqual(1 + 2000 + 500);
    const wanted = sent.slice(-1000).map(frameText);
    expect(await replay(count - 1000, count)).toEqual(wanted);
    deleted('/last');
    await stream.close();
    const again = await open();
    expect(await again.replay(count - 999, count + 1)).toEqual(
      [...wanted, frameText(sent.at(-1) ?? expect.fail())].slice(1),
    );
  });

  it('replays to a connection that subscribes with a cursor', async () => {
    const bus = createEventBus({ log: silent });
    const stream = await createGlobalStream({ home, claim: claimFolder, sink: bus, log: silent });
    opened.push(stream);
    const gateway = createGateway({ bus, sessions: testStreams({}), globalStream: stream, frames: [], log: silent });
    for (const root of ['/a', '/b']) stream.publish('event.workspace.deleted', { workspace_id: 'wd_x', root });
    const peer = testPeer();
    const handle = gateway.open(peer, {
      connection: BIND_CONNECTION,
      remoteAddress: null,
      userAgent: null,
      secret: null,
    });
    const payload = { session_ids: ['__global__'], cursors: { __global__: { seq: 1 } } };
    handle.message(JSON.stringify({ type: 'subscribe', id: 1, payload }));
    await until(() => peer.sent.at(-1)?.type === 'ack');
    stream.publish('event.workspace.deleted', { workspace_id: 'wd_x', root: '/c' });
    expect(peer.sent.slice(1).map(({ type, seq }) => [type, seq])).toEqual([
      ['event.workspace.deleted', 2],
      ['ack', undefined],
      ['event.workspace.deleted', 3],
    ]);
    expect(peer.sent[2]?.payload).toMatchObject({ accepted: ['__global__'] });
    expect(gateway.list()[0]?.subscriptions).toEqual([]);
  });
});
