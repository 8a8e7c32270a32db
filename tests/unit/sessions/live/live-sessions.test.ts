/** Loading, eviction and unloading of sessions, with real journals, index and state files. */
import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { UnloadReason } from '#server/agent/contract/feature.ts';
import { createSemaphore } from '#server/async/semaphore.ts';
import { cronJobs } from '#server/features/cron/projection.ts';
import { event, internal, type Draft } from '#server/journal/records.ts';
import { createLogger } from '#server/logging/log.ts';
import type { SessionIndex } from '#server/sessions/index/session-index.ts';
import { createLiveCache } from '#server/sessions/live/live-cache.ts';
import type { LiveSessions } from '#server/sessions/live/live-sessions.ts';
import { createColdFolds } from '#server/sessions/reading/cold-folds.ts';
import { createReadFrom } from '#server/sessions/reading/session-place.ts';
import { createSessionReads } from '#server/sessions/reading/session-reads.ts';
import type { TranscriptFold } from '#server/transcript/fold.ts';
import { itemId } from '#server/transcript/reducer/state.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';
import type { Session } from '#schema/rest/session.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { openSessions, type OpenedSessions } from '#support/open-sessions.ts';
import { eventually } from '#support/patience.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { openIndex, sessionRow, WORKSPACE } from '../index/index-fixtures.ts';

const MINUTE = 60_000;
const MAX_LIVE = 3;
/** Folds of unloaded sessions that are cached. */
const KEPT_FOLDS = 16;

let home: string;
let live: LiveSessions;
let index: SessionIndex;
let sessions: OpenedSessions;
let watched: Set<string>;
let events: string[];
/** Sessions whose features were opened. */
let opened: string[];
/** Directories whose trust was checked. */
let looks: string[];
let clock: ManualClock;
/** Called at each load with the number of running ones. */
let atLoad: (loading: number) => void;
let released: (id: string, reason: UnloadReason) => Promise<void>;

beforeEach(async () => {
  home = await temporaryHome();
  looks = [];
  ({ index } = openIndex(home));
  await index.ready();
  watched = new Set();
  events = [];
  opened = [];
  clock = manualClock(Date.UTC(2026, 0, 1));
  atLoad = () => undefined;
  released = async () => undefined;
  let loading = 0;
  sessions = await openSessions({
    home,
    index,
    clock,
    features: [
      {
        name: 'counting',
        open({ id }) {
          opened.push(id);
          return {};
        },
      },
      { name: 'cron', projection: cronJobs },
    ],
    publish: ({ type, sessionId }) => void events.push(`${sessionId} ${type}`),
    lookAtTrust: (root) => void looks.push(root),
    async ensureWorkspace() {
      loading += 1;
      atLoad(loading);
      await new Promise((resolve) => setImmediate(resolve));
      loading -= 1;
    },
    resource: { holds: (id) => watched.has(id), release: (id, reason) => released(id, reason) },
    maxLive: MAX_LIVE,
  });
  ({ live } = sessions);
});

/** Creates a session that is loaded and not used. */
async function create(): Promise<string> {
  const row = sessionRow(`session_${randomUUID()}`, { cwd: home });
  return (await live.create(row)).id;
}

const liveIds = () => live.all().map(({ id }) => id);

describe('a new session', () => {
  it('is complete on the disk and in the index when its event is published', async () => {
    const id = await create();
    const { dir } = (await live.open(id)).log;
    expect(events).toEqual([`${id} event.session.created`]);
    expect(index.get(id)).toMatchObject({ id, cwd: home });
    // Its first line contains all members of a state.json.
    expect(await readdir(dir)).toEqual(['journal.ndjson']);
  });

  it('opens its features at its first use, and not for a reader after its unload', async () => {
    const [used, unused] = [await create(), await create()];
    const session = live.get(unused);
    expect(opened).toEqual([]);
    await live.use(used, ({ agents }) => agents.main.id);
    await live.use(used, ({ context }) => context.id);
    expect(opened).toEqual([used]);
    await live.inTurn(unused, () => live.unload(unused, 'idle'));
    expect([session?.overlay.inFlight(), session?.overlay.warnings(), session?.overlay.sections()]).toEqual([
      null,
      [],
      [],
    ]);
    expect(opened).toEqual([used]);
    await live.open(unused);
    expect(opened).toEqual([used, unused]);
  });

  it('has the trust of its directory checked when it is loaded, and before and after each turn', async () => {
    const id = await create();
    expect(looks).toEqual([home]);
    await live.use(id, ({ context }) => context.changed());
    expect(looks).toEqual([home, home]);
  });

  it('yields to other work when many are created at the same time', async () => {
    let turns = 0;
    let over = false;
    const count = () => {
      turns += 1;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    const during = await Promise.all(Array.from({ length: 200 }, () => create().then(() => turns)));
    over = true;
    expect(new Set(during).size).toBeGreaterThan(2);
  });

  it('that cannot be written leaves no files and publishes no event', async () => {
    await writeFile(join(home, 'sessions'), 'in the way');
    await expect(create()).rejects.toMatchObject({
      code: 50003,
      message: expect.stringMatching(/^session session_\S+ cannot be written: ENOTDIR$/),
    });
    expect(events).toEqual([]);
    expect(liveIds()).toEqual([]);
    expect(index.list({ archived: 'include' }).rows).toEqual([]);
  });
});

describe('an idle session', () => {
  it('is unloaded after 30 minutes without a request, and loaded again by the next', async () => {
    const id = await create();
    const before = live.get(id)?.log.position();
    clock.advance(30 * MINUTE);
    await live.unloadIdle();
    expect(liveIds()).toEqual([id]);
    clock.advance(1);
    await live.unloadIdle();
    expect(liveIds()).toEqual([]);
    const loaded = await live.open(id);
    expect(loaded.log.position()).toEqual(before);
    expect(live.get(id)).toBe(loaded);
  });

  it('is checked for every minute', async () => {
    const idle = await create();
    clock.advance(30 * MINUTE);
    const used = await create();
    clock.advance(MINUTE);
    await eventually(() => expect(liveIds()).toEqual([used]));
    await eventually(() => expect(clock.waits()).toContain(MINUTE));
    expect(index.get(idle)).toMatchObject({ id: idle, open: false });
  });

  it('that was used by its agent ends with a last line and releases its lock', async () => {
    const id = await create();
    const { log, agents } = await live.open(id);
    await log.claim();
    await agents.main.context.config.change({ permission: 'yolo' });
    clock.advance(31 * MINUTE);
    await live.unloadIdle();
    const journal = await readFile(join(log.dir, 'journal.ndjson'), 'utf8');
    expect(journal.trim().split('\n').at(-1)).toMatch(/"agent\.disposed","x":\{"reason":"evicted"\}.*"reason":"idle"/);
    expect(events.at(-1)).toBe(`${id} agent.disposed`);
    const again = await live.open(id);
    await again.log.claim();
    expect(again.mainView().permission).toBe('yolo');
  });

  it('stays loaded while it has a subscriber, and each request renews it', async () => {
    const [seen, used, unused] = [await create(), await create(), await create()];
    watched.add(seen);
    clock.advance(20 * MINUTE);
    await live.open(used);
    clock.advance(20 * MINUTE);
    await live.unloadIdle();
    expect(liveIds()).toEqual([seen, used]);
    expect(live.get(unused)).toBeUndefined();
  });

  it('stays loaded while an approval is pending', async () => {
    const id = await create();
    const { log, approvals } = await live.open(id);
    await log.claim();
    const question = { agentId: 'main', turnId: 0, toolCallId: 'c', toolName: 'Bash', action: 'Run', toolInput: {} };
    const display = { kind: 'generic', summary: 'Run' } as const;
    const { id: approvalId } = approvals.ask({ ...question, display }, new AbortController().signal);
    clock.advance(40 * MINUTE);
    await live.unloadIdle();
    expect(liveIds()).toEqual([id]);
    await approvals.resolve(approvalId, { decision: 'approved' });
    await live.unloadIdle();
    expect(liveIds()).toEqual([]);
  });
});

describe('a session that became read-only', () => {
  const note = (text: string): Draft[] => [
    event('main', 'session.meta.updated', { title: text, patch: { title: text } }),
  ];
  let releases: string[];

  /** Creates a session that became read-only because another process wrote its journal; its subscribers stay. */
  async function broken(): Promise<string> {
    releases = [];
    released = async (id, reason) => void releases.push(`${id} ${reason}`);
    const id = await create();
    watched.add(id);
    await live.use(id, async ({ log }) => {
      await log.claim();
      log.append(note('before'));
      // A torn line, like that of a full disk.
      await appendFile(join(log.dir, 'journal.ndjson'), '{"torn');
      expect(() => log.append(note('lost'))).toThrow(expect.objectContaining({ code: 50003 }));
      expect(() => log.append(note('lost, too'))).toThrow(expect.objectContaining({ code: 50003 }));
    });
    return id;
  }

  it('is unloaded regardless of subscribers, and its next use loads a writable one', async () => {
    const id = await broken();
    await eventually(() => expect(live.get(id)).toBeUndefined());
    await live.use(id, async ({ log }) => {
      await log.claim();
      log.append(note('after'));
    });
    expect(live.get(id)?.row()).toMatchObject({ title: 'after' });
    const journal = await readFile(join(live.get(id)?.log.dir ?? '', 'journal.ndjson'), 'utf8');
    expect(journal).not.toMatch(/lost|torn/);
    for (const line of journal.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
    // The session's resources were not released.
    expect(releases).toEqual([]);
  });

  it('stays while a request uses it', async () => {
    const id = await broken();
    await eventually(() => expect(live.get(id)).toBeUndefined());
    let finish = () => {};
    const working = live.use(id, async ({ log }) => {
      await log.claim();
      await appendFile(join(log.dir, 'journal.ndjson'), '{"torn');
      expect(() => log.append(note('lost'))).toThrow('cannot be written');
      await new Promise<void>((resolve) => (finish = resolve));
      return log;
    });
    await eventually(() => expect(live.get(id)?.log.readOnly).toBeDefined());
    const failed = live.get(id);
    const next = live.open(id);
    finish();
    expect(await working).toBe(failed?.log);
    expect((await next).log).not.toBe(failed?.log);
  });

  it.each(['archive', 'exit'] as const)('has its resources released at its %s', async (reason) => {
    const id = await broken();
    await eventually(() => expect(live.get(id)).toBeUndefined());
    expect(releases).toEqual([]);
    if (reason === 'archive') await live.inTurn(id, () => live.unload(id, reason));
    else await live.close();
    expect(releases).toEqual([`${id} ${reason}`]);
  });
});

describe('above the limit', () => {
  /** Creates sessions that are not loaded. */
  async function coldSessions(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n++) ids.push(await create());
    for (const id of ids) await live.inTurn(id, () => live.unload(id, 'idle'));
    return ids;
  }

  it('opening one evicts the least recently used', async () => {
    const ids = await coldSessions(5);
    for (const id of ids.slice(0, 3)) await live.open(id);
    await live.open(ids[0] ?? '');
    await live.open(ids[3] ?? '');
    await eventually(() => expect(liveIds()).toEqual([ids[2], ids[0], ids[3]]));
    await live.open(ids[4] ?? '');
    await eventually(() => expect(liveIds()).toEqual([ids[0], ids[3], ids[4]]));
  });

  it('creating one does, too', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(await create());
    await eventually(() => expect(liveIds()).toEqual(ids.slice(2)));
  });

  it('one that a request uses stays until its work is done', async () => {
    const [used = '', ...others] = await coldSessions(6);
    let finish = () => {};
    const working = live.use(used, ({ log }) => new Promise<typeof log>((resolve) => (finish = () => resolve(log))));
    for (const id of others) await live.open(id);
    await eventually(() => expect(liveIds()).toHaveLength(MAX_LIVE));
    expect(liveIds()).toContain(used);
    const session = live.get(used);
    finish();
    expect((await working).state).toBe(session?.log.state);
    for (const id of others) await live.open(id);
    await eventually(() => expect(live.get(used)).toBeUndefined());
  });

  it('a session that a resource keeps loaded stays, and is evicted by the next pass after its release', async () => {
    const ids = await coldSessions(5);
    for (const id of ids) watched.add(id);
    for (const id of ids) await live.open(id);
    expect(liveIds()).toEqual(ids);
    await live.unloadIdle();
    expect(liveIds()).toEqual(ids);
    watched.clear();
    await live.unloadIdle();
    expect(liveIds()).toEqual(ids.slice(2));
  });

  it('loads run 8 at a time', async () => {
    const ids = await coldSessions(40);
    let most = 0;
    atLoad = (loading) => (most = Math.max(most, loading));
    await Promise.all([...ids, ...ids].map((id) => live.open(id)));
    expect(most).toBe(8);
    await live.unloadIdle();
    expect(liveIds()).toHaveLength(MAX_LIVE);
  });

  it('a load waits for evictions if unloading is slower than loading', async () => {
    const ids = await coldSessions(40);
    let most = 0;
    atLoad = () => (most = Math.max(most, liveIds().length));
    released = () => new Promise((resolve) => setTimeout(resolve, 20));
    const clients = Array.from({ length: 8 }, async (_, client) => {
      for (const id of ids.filter((__, place) => place % 8 === client)) await live.open(id);
    });
    await Promise.all(clients);
    expect(most).toBeGreaterThan(MAX_LIVE);
    expect(most).toBeLessThanOrEqual(MAX_LIVE + 8);
  });
});

describe('a resource of a session', () => {
  it('is released before the journal closes, also when one of them fails', async () => {
    const id = await create();
    const session = await live.open(id);
    await session.log.claim();
    await session.agents.main.context.config.change({ permission: 'auto' });
    const seen: string[] = [];
    released = async (sessionId, reason) => {
      await Promise.resolve();
      session.log.append([event('main', 'warning', { message: 'still open' })]);
      seen.push(`${sessionId} ${reason}`);
      throw new Error('cannot be released');
    };
    await live.inTurn(id, () => live.unload(id, 'archive'));
    expect(seen).toEqual([`${id} archive`]);
    expect(events.slice(-2)).toEqual([`${id} warning`, `${id} agent.disposed`]);
    expect(live.get(id)).toBeUndefined();
  });
});

describe('a request during the unloading', () => {
  it('loads the session again instead of using the closing one', async () => {
    const id = await create();
    const old = await live.open(id);
    await old.log.claim();
    await old.agents.main.context.config.change({ permission: 'auto' });
    const unloading = live.inTurn(id, () => live.unload(id, 'idle'));
    await Promise.resolve();
    const [one, two] = await Promise.all([live.open(id), live.open(id)]);
    await unloading;
    expect(one).toBe(two);
    expect(one).not.toBe(old);
    expect(live.get(id)).toBe(one);
    await one.log.claim();
    await one.agents.main.context.config.change({ permission: 'yolo' });
    expect(one.mainView().permission).toBe('yolo');
  });

  it('that began before it delays the unload', async () => {
    const id = await create();
    const order: string[] = [];
    let finish: (() => void) | undefined;
    const using = live.use(id, async ({ log }) => {
      await new Promise<void>((resolve) => (finish = resolve));
      await log.claim();
      log.append([event('main', 'warning', { message: 'in time' })]);
      order.push('used');
    });
    await eventually(() => expect(finish).toBeDefined());
    const unloading = live.inTurn(id, () => live.unload(id, 'archive')).then(() => order.push('unloaded'));
    await new Promise((resolve) => setImmediate(resolve));
    const later = live.use(id, () => order.push('used anew'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    finish?.();
    await Promise.all([using, unloading, later]);
    expect(order).toEqual(['used', 'unloaded', 'used anew']);
    const journal = await readFile(join(live.directory({ id, workspaceId: WORKSPACE }), 'journal.ndjson'), 'utf8');
    expect(journal.trim().split('\n').at(-1)).toMatch(/"session\.closed","reason":"archive"/);
  });

  it('prevents a scheduled unload that has not started', async () => {
    const [first, second] = [await create(), await create()];
    clock.advance(31 * MINUTE);
    let finish = () => {};
    const other = live.inTurn(second, () => new Promise<void>((resolve) => (finish = resolve)));
    const unloading = live.unloadIdle();
    await eventually(() => expect(live.get(first)).toBeUndefined());
    // The unload waits for the other lifecycle operation.
    const kept = await live.open(second);
    finish();
    await Promise.all([other, unloading]);
    expect(live.get(second)).toBe(kept);
  });
});

describe('members that no journal has', () => {
  it('change without loading and without the lock', async () => {
    const id = await create();
    await live.inTurn(id, () => live.unload(id, 'idle'));
    await live.patch(id, () => ({ archived: true, archivedAt: clock.now(), custom: { a: 1 } }));
    expect(liveIds()).toEqual([]);
    expect(index.get(id)).toMatchObject({ archived: true, archivedAt: clock.now(), custom: { a: 1 } });
    expect((await live.open(id)).view()).toMatchObject({ archived: true, metadata: { a: 1 } });
    const file = join(live.directory({ id, workspaceId: WORKSPACE }), 'state.json');
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ id, archived: true, custom: { a: 1 } });
  });

  it('change in a session whose row was removed with the index', async () => {
    const id = await create();
    await rm(join(home, 'cache'), { recursive: true });
    await index.repair();
    await live.patch(id, () => ({ archived: true }));
    expect(index.get(id)).toMatchObject({ archived: true });
  });

  it('that cannot be written are rejected and unchanged', async () => {
    const id = await create();
    const { dir } = (await live.open(id)).log;
    await mkdir(join(dir, 'state.json'));
    const before = index.get(id);
    const message = `session ${id} cannot be written: EISDIR`;
    await expect(live.patch(id, () => ({ archived: true, updatedAt: clock.now() + 1 }))).rejects.toMatchObject({
      code: 50003,
      message,
    });
    expect(index.get(id)).toEqual(before);
  });
});

describe('a session whose folder was deleted by hand', () => {
  it('neither fails the stop nor prevents others from being stored', async () => {
    const ids = [await create(), await create(), await create()];
    for (const id of ids) {
      const { log, agents } = await live.open(id);
      await log.claim();
      await agents.main.context.config.change({ permission: 'yolo' });
    }
    const dirs = ids.map((id) => live.directory({ id, workspaceId: WORKSPACE }));
    await rm(dirs[1] ?? '', { recursive: true });
    await live.close();
    for (const [place, dir] of dirs.entries()) {
      const names = place === 1 ? [] : await readdir(dir);
      expect(names.includes('state.json')).toBe(place !== 1);
    }
  });
});

it('a session that cannot be unloaded does not prevent others from being closed', async () => {
  const closed: string[] = [];
  const logged: string[] = [];
  const cache = createLiveCache<string>({
    load: (id) => Promise.resolve(id),
    async unload(id) {
      await new Promise((resolve) => setImmediate(resolve));
      if (id === 'b') throw new Error('no');
      closed.push(id);
    },
    holds: () => false,
    bytes: () => 1,
    keeps: () => false,
    dropped: () => Promise.resolve(),
    log: createLogger('error', (line) => logged.push(line)),
    clock,
  });
  for (const id of ['a', 'b', 'c']) await cache.use(id, () => undefined);
  await cache.close();
  expect(closed).toEqual(['a', 'c']);
  expect(logged).toEqual([expect.stringContaining('a session could not be closed')]);
});

describe('the bytes of loaded journals', () => {
  it('are bounded: the least recently used idle sessions are evicted', async () => {
    const sizes: Record<string, number> = { a: 40, b: 40, c: 40, large: 500 };
    const busy = new Set(['a']);
    const cache = createLiveCache<string>({
      load: (id) => Promise.resolve(id),
      unload: () => Promise.resolve(),
      holds: (id) => busy.has(id),
      bytes: (id) => sizes[id] ?? 0,
      keeps: () => false,
      dropped: () => Promise.resolve(),
      log: createLogger('silent'),
      clock,
      maxLiveBytes: 100,
    });
    for (const id of ['a', 'b']) await cache.use(id, () => undefined);
    await cache.unloadIdle();
    expect(cache.all()).toEqual(['a', 'b']);
    await cache.use('c', () => undefined);
    await cache.unloadIdle();
    expect(cache.all()).toEqual(['a', 'c']);
    busy.add('large');
    await cache.use('large', () => undefined);
    await cache.unloadIdle();
    expect(cache.all()).toEqual(['a', 'large']);
    busy.clear();
    await cache.unloadIdle();
    expect(cache.all()).toEqual([]);
    await cache.close();
  });
});

describe('transcripts of a loaded session', () => {
  it('are released after three minutes without a reader or follower, and folded again when they are read', async () => {
    async function begun() {
      const id = await create();
      const { log } = await live.open(id);
      await log.claim();
      log.append([event('main', 'agent.created', {}, { kind: 'main' })]);
      log.append([event('main', 'turn.started', { turnId: 0, origin: { kind: 'user' }, prompt: 'Go.' })]);
      return id;
    }
    const [read, followed] = [await begun(), await begun()];
    const open = async (id: string) => (await live.open(id)).transcripts.open();
    const [first, kept] = [await open(read), await open(followed)];
    const seq = first.seq('main');
    kept.tell({ appears: () => undefined, batch: () => undefined, over: () => undefined });
    /** Runs a pass and the work that it started. */
    async function pass() {
      clock.advance(60_000);
      await live.unloadIdle();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await pass();
    await pass();
    expect(await open(read)).toBe(first);
    await pass();
    await pass();
    expect(first.seq('main')).toBe(seq);
    await eventually(async () => {
      await pass();
      expect(first.seq('main')).toBe(0);
    });
    const again = await open(read);
    expect(again.seq('main')).toBeGreaterThan(seq);
    expect(again.fold.agents.get('main')?.state.items.map(itemId)).toEqual(['t0']);
    expect(await open(followed)).toBe(kept);
    expect(kept.seq('main')).toBeGreaterThan(0);
  });
});

it('a load updates a row that lacks the last records of the journal', async () => {
  const id = await create();
  const before = index.get(id);
  const { log } = await live.open(id);
  await log.claim();
  const { length } = log;
  log.append([event('main', 'session.meta.updated', { title: 'Later', patch: { title: 'Later' } })]);
  await live.inTurn(id, () => live.unload(id, 'idle'));
  // The state after a kill between the line and the row.
  if (before) index.upsert(before, length);
  expect(index.get(id)?.title).toBe('');
  const { log: again } = await live.open(id);
  expect(index.get(id)?.title).toBe('Later');
  expect(index.stored(id)?.journalLength).toBe(again.length);
});

describe('a load of a session that was read', () => {
  const started = (turnId: number) =>
    event('main', 'turn.started', { turnId, origin: { kind: 'user' }, prompt: 'Go.' });
  const ended = (turnId: number) => event('main', 'turn.ended', { turnId, reason: 'completed' });

  /** Creates an unloaded session of one turn; returns its folder. */
  async function closed() {
    const id = await create();
    const { log } = await live.open(id);
    await log.claim();
    log.append([event('main', 'agent.created', {}, { kind: 'main' })]);
    log.append([started(0)]);
    log.append([ended(0)]);
    await live.inTurn(id, () => live.unload(id, 'idle'));
    return { id, dir: log.dir };
  }

  const turnsOf = ({ agents }: TranscriptFold) => agents.get('main')?.state.items.map(itemId);

  it('continues from the fold, and its transcripts from theirs', async () => {
    const { id, dir } = await closed();
    const fold = await sessions.folds.withTranscripts.read(id, dir);
    const transcripts = sessions.folds.projection.of(fold.state.features);
    const { log, transcripts: kept } = await live.open(id);
    expect(log.state).toBe(fold.state);
    expect(log.state.features.projections).toEqual([cronJobs]);
    await log.claim();
    log.append([started(1)]);
    const opened = await kept.open();
    expect(opened.fold).toBe(transcripts);
    log.append([ended(1)]);
    expect(turnsOf(opened.fold)).toEqual(['t0', 't1']);
    expect(sessions.folds.withTranscripts.kept().folds).toBe(0);

    const state = structuredClone({ ...log.state, features: undefined, context: undefined });
    await live.inTurn(id, () => live.unload(id, 'idle'));
    const again = await live.open(id);
    expect({ ...again.log.state, features: undefined, context: undefined }).toEqual(state);
    expect(turnsOf((await again.transcripts.open()).fold)).toEqual(['t0', 't1']);
  });

  it('waits for the fold that is being read, also for one that is not cached', async () => {
    const { id, dir } = await closed();
    const reading = sessions.folds.plain.read(id, dir);
    const { log } = await live.open(id);
    expect(log.state).toBe((await reading).state);
  });

  it('reads the records after the fold', async () => {
    const { id, dir } = await closed();
    const { state } = await sessions.folds.plain.read(id, dir);
    const line = {
      t: clock.now() + 1,
      r: [{ seq: 9, agent: 'main', type: 'session.meta.updated', title: 'Later', patch: {} }],
    };
    await appendFile(join(dir, 'journal.ndjson'), `${JSON.stringify(line)}\n`);
    const { log } = await live.open(id);
    expect(log.state).toBe(state);
    expect(log.state.index.title).toBe('Later');
    expect(log.position().seq).toBe(9);
  });

  it('a read during the load waits for it and folds nothing', async () => {
    const { id } = await closed();
    const folds = sessions.folds.plain;
    const readFrom = createReadFrom({ live, folds, index });
    const [session, from] = await Promise.all([live.open(id), readFrom(id)]);
    expect(from).toEqual({ session });
    expect(folds.kept().folds).toBe(0);
  });
});

describe('a copy of a session that was not read', () => {
  const message = {
    role: 'user' as const,
    content: [{ type: 'text' as const, text: 'long '.repeat(5000) }],
    toolCalls: [],
  };
  const turn = (turnId: number) => [
    event('main', 'turn.started', { turnId, origin: { kind: 'user' }, prompt: 'Go.' }),
    event(
      'main',
      'context.spliced',
      { start: turnId, deleteCount: 0, messages: [message], tokens: 9 },
      { cause: 'input' },
    ),
    event('main', 'turn.ended', { turnId, reason: 'completed' }),
  ];

  /** Creates an unloaded session of two turns. */
  async function written(...more: Draft[]) {
    const id = await create();
    const { log } = await live.open(id);
    await log.claim();
    log.append([event('main', 'agent.created', {}, { kind: 'main' })]);
    log.append(turn(0));
    log.append([...turn(1), ...more]);
    await live.inTurn(id, () => live.unload(id, 'idle'));
    events = [];
    return id;
  }

  const stored = (id: string) => {
    const row = index.stored(id);
    if (!row) throw new Error(`no row of ${id}`);
    return row;
  };
  const fork = (id: string) =>
    live.inTurn(id, () =>
      sessions.copy(stored(id).header, { kind: 'fork', describe: (copy) => ({ ...copy, title: 'Copied' }) }),
    );

  /** The lines of a copy, with its ids and times masked. */
  async function linesOf({ id }: { id: string }) {
    const text = await readFile(join(live.directory(stored(id).header), 'journal.ndjson'), 'utf8');
    const [head, ...lines] = text.trimEnd().split('\n');
    const { epoch, created_at } = JSON.parse(head ?? '');
    const own = (line: string) =>
      line
        .replaceAll(id, 'OWN')
        .replaceAll(epoch, 'EPOCH')
        .replaceAll(new Date(created_at).toISOString(), 'AT')
        .replaceAll(String(created_at), 'T');
    return [own(head ?? ''), ...lines.slice(0, -1), own(lines.at(-1) ?? '')];
  }

  const facts = ({ id: _id, created_at: _at, ...session }: Session) => session;

  it('is created from its row, and equals the copy that folding creates', async () => {
    const id = await written();
    clock.advance(5);
    const copy = await fork(id);
    expect(liveIds()).toEqual([]);
    expect(events).toEqual([`${copy.id} event.session.created`]);
    const row = stored(copy.id);
    await live.open(id);
    clock.advance(5);
    const folded = await fork(id);
    expect(liveIds()).toEqual([id, folded.id]);
    expect(await linesOf(copy)).toEqual(await linesOf(folded));
    expect(facts(copy)).toEqual(facts(folded));
    const own = { id: '', createdAt: 0 };
    expect({ ...row.header, ...own }).toEqual({ ...stored(folded.id).header, ...own });
    const { log } = await live.open(copy.id);
    expect(log.length).toBe(row.journalLength);
    expect(log.position()).toMatchObject({ seq: 1 });
    expect(log.state.status.ancestors).toEqual([id]);
    expect(log.unwritten).toEqual([]);
    // And a copy of the copy.
    await live.inTurn(copy.id, () => live.unload(copy.id, 'idle'));
    const second = await fork(copy.id);
    expect((await live.open(second.id)).log.state.status.ancestors).toEqual([id, copy.id]);
    expect(stored(second.id).header).toMatchObject({ forkedFrom: copy.id, settled: true, open: false });
  });

  it('is folded if the journal differs from the row', async () => {
    const id = await written();
    const { length } = await linesOf({ id });
    await appendFile(join(live.directory(stored(id).header), 'journal.ndjson'), '{"t":1,');
    const copy = await fork(id);
    expect(liveIds()).toEqual([copy.id]);
    expect(await linesOf(copy)).toHaveLength(length + 1);
  });

  it('is folded if a notification is pending, or a job is scheduled', async () => {
    const info = { taskId: 'bash-1', kind: 'process', status: 'completed', description: 'x', command: 'x', pid: 1 };
    const told = { ...info, exitCode: 0, startedAt: 1, endedAt: 2, timeoutMs: 1 } as TaskInfo;
    const untold = await written(event('main', 'task.terminated', { info: told }));
    expect(stored(untold).header).toMatchObject({ settled: false, open: false });
    const job = { id: 'j', cron: '* * * * *', prompt: 'Go.', createdAt: 1 };
    const withJob = await written(internal('main', 'cron.added', { job }));
    expect(stored(withJob).header).toMatchObject({ settled: true, wakes: ['cron'] });
    const copies = [await fork(untold), await fork(withJob)];
    expect(liveIds()).toEqual(copies.map(({ id }) => id));
  });

  it('leaves no files if it cannot be written', async () => {
    const id = await written();
    const dir = live.directory(stored(id).header);
    await rm(join(dir, 'journal.ndjson'));
    await mkdir(join(dir, 'journal.ndjson'));
    const before = await readdir(dirname(dir));
    index.upsert(stored(id).header, (await stat(join(dir, 'journal.ndjson'))).size);
    await expect(fork(id)).rejects.toMatchObject({ code: 50003 });
    expect(await readdir(dirname(dir))).toEqual(before);
    expect(events).toEqual([]);
  });
});

it('loads no session after closing', async () => {
  const id = await create();
  await live.close();
  expect(liveIds()).toEqual([]);
  await expect(live.open(id)).rejects.toMatchObject({ code: 50001, message: 'the server is stopping' });
});

describe('reading', () => {
  it('many sessions repeatedly loads none of them and caches a few folds', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 300; n++) ids.push(await create());
    for (const { id } of live.all()) await live.inTurn(id, () => live.unload(id, 'idle'));
    const slots = createSemaphore(8);
    const folds = createColdFolds({ slots, holder: leaseHolder() });
    const read = createSessionReads({ live, folds, index, defaults: sessions.defaults, features: [] });
    const snapshots = async () => {
      for (const id of ids) {
        const { session, as_of_seq } = await (await read(id)).snapshot();
        expect([session.id, as_of_seq]).toEqual([id, 1]);
      }
    };
    await snapshots();
    await Promise.all([snapshots(), snapshots()]);
    expect(liveIds()).toEqual([]);
    expect(folds.kept().folds).toBe(KEPT_FOLDS);
    const kept = folds.kept().bytes;
    await snapshots();
    expect(folds.kept()).toEqual({ folds: KEPT_FOLDS, bytes: kept });
  });
});
