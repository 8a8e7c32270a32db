import { describe, expect, test, vi } from 'vitest';
import { createChangeWindow, type Change, type ChangeType } from '#server/watches/changes.ts';
import type { Client } from '#server/events/frame-handler.ts';
import { createLogger } from '#server/logging/log.ts';
import { filesChangedFrame } from '#schema/frames/files-changed.ts';
import type { ChangeBatch } from '#server/watches/tree-watcher.ts';
import { createWatchedPaths } from '#server/watches/watched-paths.ts';
import { createWatches } from '#server/watches/watches.ts';
import { BIND_CONNECTION } from '#server/net/connection-facts.ts';

const created = (path: string): Change => ({ path, change: 'created', kind: 'file' });
const batchOf = (...paths: string[]): ChangeBatch => ({
  changes: paths.map(created),
  count: paths.length,
  incomplete: false,
});

/** A connection whose socket accepts data only on `drain`. */
function fakeClient() {
  const sent: string[] = [];
  let take = () => {};
  const releases: (() => void)[] = [];
  let isOpen = true;
  const client: Client = {
    id: 'conn',
    connection: BIND_CONNECTION,
    send: (_lane, text) => void sent.push(text.toString()),
    room: () => new Promise((resolve) => (take = resolve)),
    onClose: (release) => void (isOpen ? releases.push(release) : queueMicrotask(release)),
    session: () => expect.unreachable(),
  };
  const frames = () => sent.map((text) => filesChangedFrame.schema.parse(JSON.parse(text)));
  const drain = async () => {
    take();
    await Promise.resolve();
    await Promise.resolve();
  };
  const close = () => {
    isOpen = false;
    for (const release of releases.splice(0)) release();
  };
  return { client, frames, drain, close };
}

function setUp(report: () => Promise<void> = async () => undefined) {
  const listeners = new Set<(batch: ChangeBatch) => void>();
  const watches = createWatches({
    trees: {
      async report(_directory, listener) {
        await report();
        listeners.add(listener);
        return { end: () => void listeners.delete(listener) };
      },
    },
    use: async (_id, work) => work({ workspaceId: 'wd_x_000000000000', root: '/work' }),
    env: () => ({}),
    log: createLogger('silent'),
  });
  const tell = (batch: ChangeBatch) => {
    for (const listener of listeners) listener(batch);
  };
  const add = (client: Client, session_id: string, ...paths: string[]) =>
    watches.add({ session_id, paths, runtime_id: 'local', recursive: true }, client);
  return { watches, listeners, tell, add };
}

describe('watches', () => {
  test('a client that does not read receives the number of missed changes a single time', async () => {
    const { tell, add } = setUp();
    const { client, frames, drain } = fakeClient();
    await add(client, 's1', '.');
    tell(batchOf('a'));
    for (let n = 0; n < 1000; n += 1) tell(batchOf('b', 'c'));
    expect(frames()).toHaveLength(1);
    await drain();
    expect(frames()).toHaveLength(2);
    expect(frames()[1]?.payload).toEqual({ changes: [], coalesced_window_ms: 200, truncated: true, count: 2000 });
    await drain();
    tell(batchOf('d'));
    expect(frames().map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  test('with more than 500 changes, or when some may be missing, a frame is truncated', async () => {
    const { tell, add } = setUp();
    const { client, frames, drain } = fakeClient();
    await add(client, 's1', 'elsewhere');
    tell({ ...batchOf('x'), count: 500 });
    expect(frames()).toEqual([]);
    tell({ ...batchOf('x'), count: 501 });
    await drain();
    tell({ ...batchOf(), incomplete: true });
    expect(frames().map(({ payload: { truncated, count } }) => ({ truncated, count }))).toEqual([
      { truncated: true, count: 501 },
      { truncated: true, count: 0 },
    ]);
  });

  test('keep a session loaded until the last connection closes, and end with it', async () => {
    const { watches, listeners, add } = setUp();
    const [one, two] = [fakeClient(), fakeClient()];
    await add(one.client, 's1', 'a');
    await add(two.client, 's1', 'b');
    one.close();
    expect(watches.holds('s1')).toBe(true);
    two.close();
    expect(watches.holds('s1')).toBe(false);
    await Promise.resolve();
    expect(listeners.size).toBe(0);
  });

  test('a connection that watches already and closes while it adds a watch leaves none', async () => {
    let arm = () => {};
    const armed = new Promise<void>((resolve) => (arm = resolve));
    const { watches, add } = setUp(() => (watches.holds('s1') ? armed : Promise.resolve()));
    const { client, close } = fakeClient();
    await add(client, 's1', 'a');
    const adding = add(client, 's2', 'b');
    await vi.waitFor(() => expect(watches.holds('s2')).toBe(true));
    close();
    arm();
    await adding;
    expect(watches.holds('s1')).toBe(false);
    expect(watches.holds('s2')).toBe(false);
  });

  test('a refused watch leaves no state, and the next attempt starts a new one', async () => {
    let full = true;
    const { watches, add } = setUp(async () => {
      if (full) throw new Error('ENOSPC: System limit for number of file watchers reached');
    });
    const { client } = fakeClient();
    const refusal = { code: 50003, message: 'ENOSPC: System limit for number of file watchers reached' };
    await expect(add(client, 's1', 'a')).rejects.toMatchObject(refusal);
    expect(watches.holds('s1')).toBe(false);
    full = false;
    expect(await add(client, 's1', 'a')).toEqual({ watched_paths: ['a'], current_count: 1 });
  });
});

describe('changes of one path in a window', () => {
  test.each<[ChangeType[], ChangeType[]]>([
    [['created', 'modified'], ['created']],
    [['deleted', 'created'], ['modified']],
    [['created', 'deleted'], []],
    [['modified', 'deleted'], ['deleted']],
    [['modified', 'modified'], ['modified']],
    [['created', 'deleted', 'created'], ['created']],
    [['deleted', 'created', 'deleted'], ['deleted']],
  ])('%j become %j', (changes, left) => {
    const window = createChangeWindow();
    for (const change of changes) window.add({ path: 'x', change, kind: 'file' });
    expect(window.list().map(({ change }) => change)).toEqual(left);
    expect(window.count()).toBe(left.length);
  });
});

describe('watched paths', () => {
  test.each<[string, boolean, string, boolean]>([
    ['.', true, 'a/b/c', true],
    ['.', true, '.', true],
    ['.', false, 'a', true],
    ['.', false, 'a/b', false],
    ['a', true, 'a', true],
    ['a', true, 'a/b/c', true],
    ['a', true, 'ab', false],
    ['a', false, 'a/b', true],
    ['a', false, 'a/b/c', false],
    ['a/b', true, 'a', false],
  ])('%s (recursive: %s) and %s', (path, recursive, changed, covered) => {
    const paths = createWatchedPaths();
    paths.add(path, recursive);
    expect(paths.cover({ path: changed })).toBe(covered);
  });
});
