/**
 * LRU cache of the loaded sessions; opening a session evicts others above the limit. Lifecycle operations of one
 * session run serially, and concurrent loads share one. An unload waits for the session's users, and a request that
 * arrives meanwhile loads the session again: no request sees a half-closed session.
 */
import type { UnloadReason } from '#server/agent/contract/feature.ts';
import { createKeyedQueue } from '#server/async/keyed-queue.ts';
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';

const IDLE_UNLOAD_MS = 30 * 60 * 1000;
const MAX_LIVE = 200;
/** Total journal bytes of the loaded sessions; a loaded session takes about twice its journal in memory. */
const MAX_LIVE_BYTES = 256 * 1024 * 1024;
/** How many unused sessions stay loaded because a feature wants them loaded, such as for scheduled jobs. */
export const MAX_KEPT = 50;
/** Up to this many sessions above the limit, a load does not wait for evictions. */
const SPARE = 8;
/** A hanging request must not block archiving or the server's stop forever. */
const MAX_USE_MS = 5_000;

export interface LiveCache<Item> {
  /** Returns the session if it is loaded, also while it is being unloaded. */
  get(id: string): Item | undefined;
  /** Returns the loaded sessions, least recently used first. */
  all(): Item[];
  /** Resolves when no load of the session is running, regardless of its outcome. */
  loaded(id: string): Promise<void>;
  /**
   * Loads the session if necessary, and keeps it loaded until `work` settles. `work` belongs to a request: it must not
   * wait for a turn or a lifecycle operation of the session.
   */
  use<T>(id: string, work: (item: Item) => T | Promise<T>): Promise<T>;
  /** Adds the session that `make` creates, after evicting others if the cache is full. */
  add(id: string, make: () => Promise<Item>): Promise<Item>;
  /** Runs `work` after the queued lifecycle operations of the session. */
  inTurn<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** Waits for the session's users and unloads it; must be called within `inTurn`. */
  unload(id: string, reason: UnloadReason): Promise<void>;
  /**
   * Unloads the sessions that were not used for 30 minutes, those that features want loaded beyond `MAX_KEPT`, and the
   * free ones above the limits.
   */
  unloadIdle(): Promise<void>;
  /** Unloads all sessions; later loads are rejected. */
  close(): Promise<void>;
}

export interface LiveCacheDeps<Item> {
  load(id: string): Promise<Item>;
  /** Releases the session's resources; `get` returns the session until this resolves. */
  unload(id: string, item: Item, reason: UnloadReason): Promise<void>;
  /** Whether something other than its users needs the session loaded, such as a turn, a task or a subscriber. */
  holds(id: string, item: Item): boolean;
  /** Bytes of the session's journal. */
  bytes(item: Item): number;
  /** Whether a feature wants the session loaded although it is idle; at most `MAX_KEPT` of these stay loaded. */
  keeps(item: Item): boolean;
  /** Called before a session that features want loaded is evicted, because more than `MAX_KEPT` are. */
  dropped(item: Item): Promise<void>;
  log: Pick<Logger, 'warn' | 'error'>;
  clock: Clock;
  /** Number of loaded sessions above which opening one evicts the least recently used idle session; default: 200. */
  maxLive?: number | undefined;
  /** The same for the bytes of their journals; 256 MiB by default. */
  maxLiveBytes?: number | undefined;
}

interface Entry<Item> {
  readonly id: string;
  readonly item: Item;
  usedAt: number;
  /** Number of running requests on the session, and the callbacks that wait for the last of them. */
  users: number;
  unused: (() => void)[];
  unloading: boolean;
}

/** Creates an empty cache. */
export function createLiveCache<Item>(deps: LiveCacheDeps<Item>): LiveCache<Item> {
  const { log, clock, maxLive = MAX_LIVE, maxLiveBytes = MAX_LIVE_BYTES } = deps;
  /** Least recently used first. */
  const live = new Map<string, Entry<Item>>();
  const loading = new Map<string, Promise<Entry<Item>>>();
  const lifecycles = createKeyedQueue();
  const inTurn = lifecycles.run;
  const evictions = new Map<Entry<Item>, Promise<void>>();
  /** Number of sessions that are being loaded or created. */
  let arriving = 0;
  let closed = false;

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

  /** Returns the loaded session and counts a user; it is not unloaded before `leave`. */
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

  /**
   * Evicts sessions above the limits; waits for evictions only when more than `SPARE` above. Busy sessions are never
   * waited for.
   */
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
      // The eviction would wait for a running lifecycle operation, which may itself wait for capacity.
      if (!isIdle(entry) || lifecycles.isBusy(entry.id)) continue;
      bytes -= deps.bytes(entry.item);
      evictions.set(
        entry,
        unloadIf(entry, () => isIdle(entry)).finally(() => evictions.delete(entry)),
      );
    }
  }

  const isFree = ({ id, item, users, unloading }: Entry<Item>) => !unloading && users === 0 && !deps.holds(id, item);
  const isIdle = (entry: Entry<Item>) => isFree(entry) && !deps.keeps(entry.item);

  /** Evicts the least recently used of the sessions that features want loaded, down to `MAX_KEPT`. */
  async function dropSurplus(): Promise<void> {
    const kept = [...live.values()].filter(({ item }) => deps.keeps(item));
    for (const entry of kept.slice(0, Math.max(0, kept.length - MAX_KEPT))) {
      if (isFree(entry)) await unloadIf(entry, () => isFree(entry), deps.dropped);
    }
  }

  /** Checks `due` again within `inTurn`, because a request may have arrived meanwhile. Never rejects. */
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

  /** Resolves when no request uses the session any more, or after `MAX_USE_MS`. */
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
      // A session that fails must not prevent the others from being stored.
      const unloads = await Promise.allSettled([...live.keys()].map((id) => inTurn(id, () => unload(id, 'exit'))));
      for (const one of unloads) {
        if (one.status === 'rejected') log.error('a session could not be closed', { err: one.reason });
      }
    },
  };
}

const stopping = () => new ServiceError('internal.error', 'the server is stopping');
