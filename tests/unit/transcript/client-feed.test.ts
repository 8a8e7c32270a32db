/** A client's copies of transcripts: handling of frames, and recovery of lost ones. */
import { describe, expect, it, vi } from 'vitest';
import type { TranscriptPage } from '#schema/rest/transcript.ts';
import type { TranscriptBatch, TranscriptReset } from '#schema/frames/transcript-updates.ts';
import type { TranscriptOp, TranscriptOps } from '#schema/rest/transcript-ops.ts';
import { createTranscriptFeed, type SubscribePayload } from '#server/transcript/client/feed.ts';
import { until } from '#support/patience.ts';

const turn = (ordinal: number) =>
  ({ kind: 'turn', turnId: `t${ordinal}`, ordinal, state: 'completed', origin: { kind: 'user' } }) as const;
const turnOp = (ordinal: number): TranscriptOp => ({ op: 'turn.upsert', turn: turn(ordinal) });
const batch = (seq: number, ops: TranscriptOp[] = [turnOp(seq)]): TranscriptBatch => ({
  type: 'transcript.ops',
  agent_id: 'main',
  ops,
  seq,
});
const page = (from: number, to: number, seq?: number): TranscriptPage => ({
  agent_id: 'main',
  items: Array.from({ length: to - from + 1 }, (_, at) => ({ ...turn(from + at), steps: [] })),
  has_more: from > 0,
  tasks: [],
  interactions: [],
  attachments: [],
  todos: [],
  prompts: [],
  meta: {},
  agents: [],
  pending_interactions: [],
  ...(seq === undefined ? {} : { seq }),
});
const reset = (seq: number, turns: number, more = false): TranscriptReset => {
  const { items } = page(0, turns - 1);
  const snapshot = { items, tasks: [], interactions: [], attachments: [], todos: [], prompts: [], meta: {} };
  return { type: 'transcript.reset', agent_id: 'main', snapshot, has_more_older: more, seq };
};
const gone = (seq: number): TranscriptOps => ({ agent_id: 'main', batches: [], latest_seq: seq, complete: false });

function setUp() {
  const link = {
    page: vi.fn<(agentId: string, query: { before_turn?: string }) => Promise<TranscriptPage>>(),
    ops: vi.fn<(agentId: string, since: number) => Promise<TranscriptOps>>(),
    subscribe: vi.fn<(payload: SubscribePayload) => Promise<unknown>>().mockResolvedValue({}),
  };
  const changed = vi.fn<(agentId: string) => void>();
  const failures: unknown[] = [];
  const feed = createTranscriptFeed({
    sessionId: 's',
    link,
    listener: { changed, failed: (error) => failures.push(error) },
  });
  const ids = () => feed.state('main')?.items.map((item) => (item.kind === 'turn' ? item.turnId : item.kind));
  return { feed, link, changed, failures, ids, settled: () => until(() => feed.settled('main')) };
}

async function attached(turns = 3, seq = 10) {
  const made = setUp();
  made.link.page.mockResolvedValueOnce(page(0, turns - 1, seq));
  await made.feed.follow({ main: 'delta' });
  made.link.subscribe.mockClear();
  made.link.page.mockClear();
  made.changed.mockClear();
  return made;
}

describe('a feed', () => {
  it('reads a page, subscribes from its number, and applies frames that arrived meanwhile', async () => {
    const { feed, link, ids } = setUp();
    link.page.mockImplementationOnce(async () => {
      feed.frame(batch(10, [turnOp(9)]));
      return page(0, 1, 10);
    });
    link.subscribe.mockImplementationOnce(async () => {
      feed.frame(batch(11, [turnOp(2)]));
    });
    await feed.follow({ '*': 'turn', main: 'delta' });
    expect(link.subscribe).toHaveBeenCalledExactlyOnceWith({
      session_id: 's',
      transcript: { '*': 'turn', main: 'delta' },
      transcript_since: { main: 10 },
    });
    expect(ids()).toEqual(['t0', 't1', 't2']);
    expect(feed.mark('main')).toBe(11);
  });

  it('waits for a baseline of a session that is not loaded, and of agents that are not named', async () => {
    const { feed, link, ids } = setUp();
    link.page.mockResolvedValueOnce(page(0, 1));
    await feed.follow({ main: 'delta', '*': 'turn' });
    expect(link.subscribe.mock.calls[0]?.[0]).not.toHaveProperty('transcript_since');
    feed.frame(reset(50, 3));
    expect(ids()).toEqual(['t0', 't1', 't2']);
    feed.frame({ ...batch(1), agent_id: 'agent-1' });
    expect(feed.state('agent-1')).toBeUndefined();
    feed.frame({ ...reset(0, 0), agent_id: 'agent-1' });
    feed.frame({ ...batch(4, [turnOp(0)]), agent_id: 'agent-1' });
    expect(feed.mark('agent-1')).toBe(4);
    await feed.follow({ main: 'delta' });
    expect(feed.state('agent-1')).toBeUndefined();
  });

  it('drops duplicates, and notifies only of changes', async () => {
    const { feed, changed } = await attached();
    feed.frame(batch(10, [{ op: 'items.remove', ids: ['t0'] }]));
    feed.frame(batch(11, [turnOp(2)]));
    expect(changed).not.toHaveBeenCalled();
    feed.frame(batch(12, [turnOp(3), turnOp(4)]));
    expect(changed).toHaveBeenCalledTimes(1);
  });

  it('fills a gap with the batches of the journal', async () => {
    const { feed, link, ids, settled } = await attached();
    link.ops.mockImplementationOnce(async () => {
      feed.frame(batch(14, [turnOp(6)]));
      const batches = [11, 12].map((seq) => ({ seq, ops: [turnOp(seq - 8)] }));
      return { agent_id: 'main', batches, latest_seq: 12, complete: true };
    });
    feed.frame(batch(13, [turnOp(5)]));
    expect(feed.settled('main')).toBe(false);
    await settled();
    expect(ids()).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 't6']);
    expect(feed.mark('main')).toBe(14);
    expect(link.subscribe).not.toHaveBeenCalled();
  });

  it('reads pages as far back as before when the journal does not reach, or when a text does not fit', async () => {
    const { feed, link, ids, settled } = await attached(30);
    link.ops.mockResolvedValueOnce(gone(99));
    link.page.mockResolvedValueOnce(page(20, 39, 99)).mockResolvedValueOnce(page(0, 19, 99));
    feed.frame(batch(20));
    await settled();
    expect(link.page.mock.calls.map(([, query]) => query.before_turn)).toEqual([undefined, 't20']);
    expect(ids()).toHaveLength(40);
    expect(link.subscribe.mock.calls[0]?.[0]).toMatchObject({ transcript_since: { main: 99 } });
    link.page.mockResolvedValueOnce(page(0, 40, 101));
    const target = { type: 'frame' as const, turnId: 't1', stepId: 't1.1', frameId: 't1.1.f1' };
    feed.frame(batch(100, [{ op: 'append', target, offset: 7, text: 'lost' }, turnOp(40)]));
    await settled();
    expect(link.ops).toHaveBeenCalledTimes(1);
    expect(feed.mark('main')).toBe(101);
  });

  it('runs one recovery at a time, and one more for all frames lost meanwhile', async () => {
    const { feed, link } = await attached();
    link.ops.mockImplementation(async (_agentId, since) => {
      if (link.ops.mock.calls.length === 1) {
        void feed.resync();
        void feed.resync();
      }
      return { agent_id: 'main', batches: [], latest_seq: since, complete: true };
    });
    await feed.resync();
    await feed.resync();
    expect(link.ops.mock.calls.length).toBeLessThanOrEqual(3);
    expect(feed.settled('main')).toBe(true);
  });

  it('reads a page when a baseline has no turns but states that there are some', async () => {
    const { feed, link, ids, settled } = await attached();
    link.page.mockResolvedValueOnce(page(0, 3, 60));
    feed.frame(reset(60, 0, true));
    await settled();
    expect(ids()).toEqual(['t0', 't1', 't2', 't3']);
  });

  it('resumes with a new socket where the old one closed, and retries failed reads', async () => {
    const { feed, link, failures, settled } = await attached();
    await feed.connected();
    expect(link.subscribe).toHaveBeenCalledExactlyOnceWith({
      session_id: 's',
      transcript: { main: 'delta' },
      transcript_since: { main: 10 },
    });
    link.ops.mockRejectedValueOnce(new Error('the line is broken'));
    feed.frame(batch(12));
    await until(() => failures.length === 1);
    expect(feed.settled('main')).toBe(false);
    link.page.mockResolvedValueOnce(page(0, 4, 12));
    await feed.connected();
    await settled();
    expect(feed.mark('main')).toBe(12);
  });

  it('omits the number of an agent whose grade was raised', async () => {
    const { feed, link } = await attached();
    await feed.follow({ main: 'turn' });
    await feed.follow({ main: 'delta' });
    expect(link.subscribe.mock.calls.map(([payload]) => payload)).toEqual([
      { session_id: 's', transcript: { main: 'turn' } },
      { session_id: 's', transcript: { main: 'delta' } },
    ]);
    feed.frame(batch(30));
    // Frames in flight are dropped after the agent is no longer followed.
    await feed.follow({});
    feed.frame(reset(40, 1));
    expect(feed.state('main')).toBeUndefined();
  });

  it('requests older turns again when some were removed meanwhile', async () => {
    const made = setUp();
    const { feed, link, ids } = made;
    link.page.mockResolvedValueOnce(page(5, 7, 10));
    await feed.follow({ main: 'delta' });
    link.page.mockImplementationOnce(async () => {
      feed.frame(batch(11, [{ op: 'items.remove', ids: ['t4'] }]));
      return page(2, 4, 10);
    });
    link.page.mockResolvedValueOnce({ ...page(1, 3, 11), has_more: true });
    await feed.older('main');
    expect(ids()).toEqual(['t1', 't2', 't3', 't5', 't6', 't7']);
    link.page.mockResolvedValueOnce(page(0, 0, 11));
    await feed.older('main');
    const asked = link.page.mock.calls.length;
    await feed.older('main');
    expect(link.page.mock.calls.length).toBe(asked);
  });
});
