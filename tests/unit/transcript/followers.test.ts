/** Followers of transcripts on the server side: opening, encoding, holding and removal. */
import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '#server/clock.ts';
import { QUEUED_BYTES, QUEUED_FRAMES_PER_SESSION } from '#server/events/delivery-queue.ts';
import type { Client, Companion } from '#server/events/frame-handler.ts';
import { event } from '#server/journal/records.ts';
import { createLogger } from '#server/logging/log.ts';
import { createTranscriptFollowers } from '#server/transcript/following/followers.ts';
import type { FollowedSession } from '#server/transcript/following/feed.ts';
import { projectedTypes } from '#server/transcript/following/projected.ts';
import { createLiveTranscripts } from '#server/transcript/live.ts';
import { createMapper } from '#server/transcript/mapper.ts';
import { createOpJournals } from '#server/transcript/op-journal.ts';
import { BIND_CONNECTION } from '#server/net/connection-facts.ts';
import { until } from '#support/patience.ts';
import { openLog, SESSION_ID, useTemporaryFolder } from '#support/session-logs.ts';
import { agentConfig, shortTurn } from '#support/transcript-turns.ts';

const folder = useTemporaryFolder();

/** A connection without a socket. */
function testClient(id: string) {
  const sent: Uint8Array[] = [];
  let companion: Companion | undefined;
  let gone = false;
  const cuts = vi.fn(() => companion?.cut());
  const state = { room: () => Promise.resolve() };
  const client: Client = {
    id,
    connection: BIND_CONNECTION,
    send: () => expect.unreachable(),
    room: () => state.room(),
    onClose: () => expect.unreachable(),
    session: () => ({
      subscribe: async () => (gone ? undefined : { seq: 0, epoch: 'ep' }),
      attach(next) {
        companion = next;
        if (gone) next?.end();
      },
      send: (bytes) => void sent.push(bytes),
      cut: cuts,
    }),
  };
  return {
    client,
    sent,
    cuts,
    state,
    types: () => sent.map((bytes) => (JSON.parse(Buffer.from(bytes).toString()) as { type: string }).type),
    close() {
      gone = true;
      companion?.end();
      companion = undefined;
    },
  };
}

async function setUp() {
  const { log } = await openLog(folder.path);
  await log.claim();
  log.append(agentConfig());
  const transcripts = createLiveTranscripts({
    log,
    mapper: createMapper([]),
    journals: createOpJournals(),
    clock: systemClock,
    unrecorded: () => [],
  });
  const opened = vi.spyOn(transcripts, 'open');
  const session: FollowedSession = { id: SESSION_ID, transcripts, load: log.load, position: log.position };
  const sessions = new Map<string, FollowedSession>([[SESSION_ID, session]]);
  const followers = createTranscriptFollowers({
    session: (id) => sessions.get(id),
    projected: projectedTypes([]),
    clock: systemClock,
    log: createLogger('silent'),
  });
  const follow = (client: Client, grade: 'off' | 'turn' | 'block' | 'delta') =>
    followers.follow(client, { session_id: SESSION_ID, transcript: { '*': grade } });
  const warn = (message: string) => log.append([event('main', 'warning', { message })]);
  return { log, transcripts, opened, session, sessions, followers, follow, warn };
}

describe('followers', () => {
  it('do not open a session without followers', async () => {
    const { followers, session, opened, log, follow, transcripts } = await setUp();
    followers.loaded(session);
    shortTurn(log, 0);
    expect(opened).not.toHaveBeenCalled();
    const one = testClient('one');
    await follow(one.client, 'delta');
    const tell = vi.spyOn(await transcripts.open(), 'tell');
    one.close();
    expect(tell).toHaveBeenCalledWith(undefined);
    opened.mockClear();
    followers.loaded(session);
    expect(opened).not.toHaveBeenCalled();
  });

  it('of one grade share encoded frames, including baselines of the same moment', async () => {
    const { followers, session, sessions, follow, log, warn } = await setUp();
    const [one, other, lower] = [testClient('one'), testClient('other'), testClient('lower')];
    sessions.clear();
    await follow(one.client, 'delta');
    await follow(other.client, 'delta');
    await follow(lower.client, 'turn');
    sessions.set(SESSION_ID, session);
    followers.loaded(session);
    await until(() => lower.sent.length === 1);
    shortTurn(log, 0);
    warn('the end');
    await until(() => one.sent.length > 5);
    expect(one.sent.length).toBe(other.sent.length);
    one.sent.forEach((bytes, at) => expect(other.sent[at]).toBe(bytes));
    expect(one.types()[0]).toBe('transcript.reset');
    expect(lower.sent.at(-1)).toBe(one.sent.at(-1));
    expect(lower.sent.length).toBeLessThan(one.sent.length);
  });

  it('hold a bounded number of batches while the socket is full before a baseline', async () => {
    const { follow, warn } = await setUp();
    const slow = testClient('slow');
    const never = () => {};
    let open = never;
    slow.state.room = () => new Promise<void>((resolve) => (open = resolve));
    const following = follow(slow.client, 'delta');
    await until(() => open !== never);
    for (let batch = 0; batch < 1000; batch += 1) warn('held back');
    expect(slow.cuts).not.toHaveBeenCalled();
    warn('one too many');
    expect(slow.cuts).toHaveBeenCalledTimes(1);
    expect(slow.sent).toEqual([]);
    slow.state.room = () => Promise.resolve();
    open();
    await new Promise((resolve) => setImmediate(resolve));
    warn('after it');
    expect(slow.types()).toEqual(['transcript.ops']);
    expect(slow.cuts).toHaveBeenCalledTimes(1);
    await following;
  });

  it('hold a bounded number of bytes while the socket is full before a baseline', async () => {
    const { follow, warn } = await setUp();
    const [fast, slow] = [testClient('fast'), testClient('slow')];
    await follow(fast.client, 'delta');
    const room = vi.fn(() => new Promise<void>(() => undefined));
    slow.state.room = room;
    void follow(slow.client, 'delta');
    await until(() => room.mock.calls.length > 0);
    // Longer texts would be read from the disk first.
    const text = 'x'.repeat(16_000);
    warn(text);
    const size = fast.sent.at(-1)?.length ?? 0;
    expect(size).toBeGreaterThan(text.length);
    // The numbers in a frame may grow by some digits.
    const count = Math.floor(QUEUED_BYTES / (size + 10));
    for (let sent = 1; sent < count; sent += 1) warn(text);
    expect(slow.cuts).not.toHaveBeenCalled();
    expect(count).toBeLessThan(QUEUED_FRAMES_PER_SESSION - 1);
    warn(text);
    expect(slow.cuts).toHaveBeenCalledTimes(1);
    expect(slow.sent).toEqual([]);
  });

  it('are removed when their connection closes while the journal is read', async () => {
    const { follow, transcripts } = await setUp();
    const one = testClient('one');
    const tell = vi.spyOn(await transcripts.open(), 'tell');
    const following = follow(one.client, 'delta');
    one.close();
    await following;
    expect(one.sent).toEqual([]);
    expect(tell).not.toHaveBeenCalled();
  });

  it('restart when the same session is loaded again, and receive no frames while it is unloaded', async () => {
    const { follow, session, log, warn, followers, transcripts } = await setUp();
    const one = testClient('one');
    await follow(one.client, 'block');
    warn('before');
    expect(one.types()).toEqual(['transcript.reset', 'transcript.ops']);
    transcripts.close();
    await Promise.resolve();
    warn('unheard');
    expect(one.sent).toHaveLength(2);
    const again = createLiveTranscripts({
      log,
      mapper: createMapper([]),
      journals: createOpJournals(),
      clock: systemClock,
      unrecorded: () => [],
    });
    followers.loaded({ ...session, transcripts: again });
    await until(() => one.sent.length === 3);
    warn('after');
    expect(one.types().slice(2)).toEqual(['transcript.reset', 'transcript.ops']);
    const reset = JSON.parse(Buffer.from(one.sent[2] ?? []).toString()) as {
      payload: { snapshot: { items: unknown[] } };
    };
    expect(reset.payload.snapshot.items).toHaveLength(2);
  });
});
