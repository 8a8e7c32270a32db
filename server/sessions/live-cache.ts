/**
 * Which sessions are loaded: a cache whose limit is kept when one is opened. Lifecycle calls on one session run one
 * after the other and concurrent loads share one. An unloading waits for those who use the session, and who wants it
 * meanwhile gets it anew: so no change meets a session that is half closed.
 */
import type { UnloadReason } from '#server/agent/contract/feature.ts';
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';

const IDLE_UNLOAD_MS = 30 * 60 * 1000;
const MAX_LIVE = 200;
/** Journals of the loaded sessions together; a loaded session takes about twice its journal. */
const MAX_LIVE_BYTES = 256 * 1024 * 1024;
/** Sessions that stay loaded for what is to come in them. */
export const MAX_KEPT = 50;
/** So far above the limit nobody waits for the unloading that makes room. */
const SPARE = 8;
/** A request that hangs must not keep an archive or the stop for ever. */
const MAX_USE_MS = 5_000;

export interface LiveCache<Item> {
  /** The session when it is loaded, also while it is being unloaded. */
  get(id: string): Item | undefined;
  /** Longest unused first. */
  all(): Item[];
  /** Resolves when no load of the session is under way, whatever became of it. */
  loaded(id: string): Promise<void>;
  /**
   * Loads the session unless it is, and keeps it until the work is done. The work is a request's: it waits for no turn
   * and no lifecycle call of the session.
   */
  use<T>(id: string, work: (item: Item) => T | Promise<T>): Promise<T>;
  /** Puts in what `make` returns, once there is room for it. */
  add(id: string, make: () => Promise<Item>): Promise<Item>;
  /** Runs after the lifecycle calls on the session so far. */
  inTurn<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** Waits for those who use the session and unloads it; to be called in turn. */
  unload(id: string, reason: UnloadReason): Promise<void>;
  /** Unloads what nobody has used for 30 minutes, what is kept beyond its limit, and what is above the limit and free by now. */
  unloadIdle(): Promise<void>;
  /** Unloads everything; nothing is loaded any more. */
  close(): Promise<void>;
}

export interface LiveCacheDeps<Item> {
  load(id: string): Promise<Item>;
  /** Releases what the session has; `get` finds it until this resolves. */
  unload(id: string, item: Item, reason: UnloadReason): Promise<void>;
  /** Something beside its users needs it loaded. */
  holds(id: string, item: Item): boolean;
  /** Bytes of its journal. */
  bytes(item: Item): number;
  /** Something is to come in it: so many of those stay loaded that nobody has used for long. */
  keeps(item: Item): boolean;
  /** It is kept, and goes because too many are; awaited in its turn. */
  dropped(item: Item): Promise<void>;
  log: Pick<Logger, 'warn' | 'error'>;
  clock: Clock;
  /** Sessions in memory above which opening one unloads the longest unused that nothing holds; 200 unless given. */
  maxLive?: number | undefined;
  /** The same for the bytes of their journals; 256 MiB by default. */
  maxLiveBytes?: number | undefined;
}

interface Entry<Item> {
  readonly id: string;
  readonly item: Item;
  usedAt: number;
  /** Requests at work on it, and who waits for the last of them. */
  users: number;
  unused: (() => void)[];
  unloading: boolean;
}

/** Creates it, empty. */
export function createLiveCache<Item>(deps: LiveCacheDeps<Item>): LiveCache<Item> {
  const { log, clock, maxLive = MAX_LIVE, maxLiveBytes = MAX_LIVE_BYTES } = deps;
  /** Longest unused first. */
  const live = new Map<string, Entry<Item>>();
  const loading = new Map<string, Promise<Entry<Item>>>();
  const lifecycles = new Map<string, Promise<unknown>>();
  const evictions = new Map<Entry<Item>, Promise<void>>();
  /** Sessions that are about to come in. */
  let arriving = 0;
  let closed = false;

  function inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const mine = (lifecycles.get(id) ?? Promise.resolve()).then(work, work);
    lifecycles.set(id, mine);
    const forget = () => {
      if (lifecycles.get(id) === mine) lifecycles.delete(id);
    };
    mine.then(forget, forget);
    return mine;
  }

  async function enter(id: string, make: () => Promise<Item>): Promise<Entry<Item>> {
    arriving += 1;
    try {
      await makeRoom();
      const entry = { id, item: await make(), usedAt: clock.now(), users: 0, unused: [], unloading: false };
      live.set(id, entry);
      return entry;
    } finally {
      arriving -= 1;
    }
  }

  function loadShared(id: string): Promise<Entry<Item>> {
    if (closed) return Promise.reject(stopping());
    let shared = loading.get(id);
    if (!shared) {
      const loaded = async () => live.get(id) ?? enter(id, () => deps.load(id));
      shared = inTurn(id, loaded).finally(() => loading.delete(id));
      loading.set(id, shared);
    }
    return shared;
  }

  /** The session, loaded, and not to be unloaded before `leave`. */
  async function take(id: string): Promise<Entry<Item>> {
    let entry = live.get(id);
    while (!entry || entry.unloading) entry = await loadShared(id);
    entry.users += 1;
    entry.usedAt = clock.now();
    live.delete(id);
    live.set(id, entry);
    return entry;
  }

  function leave(entry: Entry<Item>): void {
    entry.users -= 1;
    entry.usedAt = clock.now();
    if (entry.users === 0) for (const resolve of entry.unused.splice(0)) resolve();
  }

  /** Unloads what is too many; waits for that only far above the limit, and not for what is held. */
  async function makeRoom(): Promise<void> {
    for (;;) {
      evictExcess();
      if (live.size + arriving <= maxLive + SPARE || evictions.size === 0) return;
      await Promise.race(evictions.values());
    }
  }

  function evictExcess(): void {
    let bytes = 0;
    for (const entry of live.values()) if (!evictions.has(entry)) bytes += deps.bytes(entry.item);
    for (const entry of live.values()) {
      if (live.size + arriving - evictions.size <= maxLive && bytes <= maxLiveBytes) return;
      // Where a lifecycle call runs, the eviction would wait for it, and that maybe for room.
      if (!isIdle(entry) || lifecycles.has(entry.id)) continue;
      bytes -= deps.bytes(entry.item);
      evictions.set(
        entry,
        unloadIf(entry, () => isIdle(entry)).finally(() => evictions.delete(entry)),
      );
    }
  }

  const isFree = ({ id, item, users, unloading }: Entry<Item>) => !unloading && users === 0 && !deps.holds(id, item);
  const isIdle = (entry: Entry<Item>) => isFree(entry) && !deps.keeps(entry.item);

  /** Unloads the longest unused of those that are kept, as far as they are too many. */
  async function dropSurplus(): Promise<void> {
    const kept = [...live.values()].filter(({ item }) => deps.keeps(item));
    for (const entry of kept.slice(0, Math.max(0, kept.length - MAX_KEPT))) {
      if (isFree(entry)) await unloadIf(entry, () => isFree(entry), deps.dropped);
    }
  }

  /** Looks again in the session's turn: a request may have come meanwhile. Never rejects. */
  async function unloadIf(
    entry: Entry<Item>,
    due: () => boolean,
    first?: LiveCacheDeps<Item>['dropped'],
  ): Promise<void> {
    const { id } = entry;
    try {
      await inTurn(id, async () => {
        if (live.get(id) !== entry || !due()) return;
        await first?.(entry.item);
        await unload(id, 'idle');
      });
    } catch (error) {
      log.error('an idle session could not be unloaded', { sessionId: id, err: error });
    }
  }

  async function unload(id: string, reason: UnloadReason): Promise<void> {
    const entry = live.get(id);
    if (!entry) return;
    entry.unloading = true;
    await whenUnused(entry);
    try {
      await deps.unload(id, entry.item, reason);
    } finally {
      live.delete(id);
    }
  }

  /** Resolves when no request is at work on it any more, or one hangs. */
  async function whenUnused(entry: Entry<Item>): Promise<void> {
    if (entry.users === 0) return;
    await new Promise<void>((resolve) => {
      const callOff = clock.setTimeout(resolve, MAX_USE_MS);
      entry.unused.push(() => {
        callOff();
        resolve();
      });
    });
    if (entry.users > 0) log.warn('a session is unloaded under a request', { sessionId: entry.id });
  }

  return {
    get: (id) => live.get(id)?.item,
    all: () => [...live.values()].map(({ item }) => item),
    async loaded(id) {
      await loading.get(id)?.catch(() => undefined);
    },
    async use(id, work) {
      const entry = await take(id);
      try {
        return await work(entry.item);
      } finally {
        leave(entry);
      }
    },
    async add(id, make) {
      if (closed) throw stopping();
      return (await inTurn(id, () => enter(id, make))).item;
    },
    inTurn,
    unload,
    async unloadIdle() {
      const due = (entry: Entry<Item>) => isIdle(entry) && clock.now() - entry.usedAt > IDLE_UNLOAD_MS;
      for (const entry of [...live.values()].filter(due)) await unloadIf(entry, () => due(entry));
      await dropSurplus();
      evictExcess();
      await Promise.all(evictions.values());
    },
    async close() {
      closed = true;
      await Promise.allSettled(loading.values());
      // One that fails must not keep the others from being stored.
      const unloads = await Promise.allSettled([...live.keys()].map((id) => inTurn(id, () => unload(id, 'exit'))));
      for (const one of unloads) {
        if (one.status === 'rejected') log.error('a session could not be closed', { err: one.reason });
      }
    },
  };
}

const stopping = () => new ServiceError('internal.error', 'the server is stopping');
