/**
 * Registry of file watches: the paths of each connection, by session. A watch belongs to a session, keeps it loaded,
 * numbers its frames, and ends with its last path, its last connection, or the session.
 */
import { createTimeSlice } from '#server/async/yield.ts';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import type { Client } from '#server/events/frame-handler.ts';
import { relativePath, type RelativePath } from '#server/files/work-directory.ts';
import { envInteger } from '#server/env.ts';
import type { Logger } from '#server/logging/log.ts';
import { LOCAL_RUNTIME } from '#server/runtime/local.ts';
import { iso } from '#schema/scalars.ts';
import type { FilesChanged } from '#schema/frames/server-frames.ts';
import type { Change } from './changes.ts';
import type { ChangeBatch } from './tree-watcher.ts';
import type { Reporting, Trees } from './trees.ts';
import { createWatchedPaths } from './watched-paths.ts';
import type { WatchedPaths } from './watched-paths.ts';

const MAX_PATHS_PER_CONNECTION = 100;
const WINDOW_MS = 200;
const MAX_CHANGES_PER_WINDOW = 500;

/** Time for which changes are collected. */
export const windowMs = (env: NodeJS.ProcessEnv): number =>
  envInteger(env, 'SERVICE_CODE_FS_WATCH_DEBOUNCE_MS') ?? WINDOW_MS;

const maxChanges = (env: NodeJS.ProcessEnv): number =>
  envInteger(env, 'SERVICE_CODE_FS_WATCH_MAX_CHANGES_PER_WINDOW') ?? MAX_CHANGES_PER_WINDOW;

export interface WatchRequest {
  session_id: string;
  paths: readonly string[];
  runtime_id: string;
}

export interface Watched {
  watched_paths: string[];
  current_count: number;
}

/** A session's workspace and root. */
export interface WatchedRoot {
  workspaceId: string;
  root: string;
}

export interface Watches {
  /** Resolves when changes are reported. On an error, such as `fs.watch_limit_exceeded`, no path is added. */
  add(request: WatchRequest & { recursive: boolean }, client: Client): Promise<Watched>;
  remove(request: WatchRequest, client: Client): Watched;
  /** Whether a connection watches files of the session. */
  holds(sessionId: string): boolean;
  /** Ends the watch of the session. */
  release(sessionId: string): Promise<void>;
}

export interface WatchesDeps {
  trees: Pick<Trees, 'report'>;
  /** Loads the session and runs `work` while it is loaded. Throws `session.not_found`. */
  use<T>(sessionId: string, work: (place: WatchedRoot) => T): Promise<T>;
  env(): NodeJS.ProcessEnv;
  log: Logger;
}

/** The state of a watching connection. */
interface Receiver {
  paths: WatchedPaths;
  /** Whether a frame is waiting for the socket (backpressure). */
  sending: boolean;
  /** Number of changes that were dropped while waiting; only their number is sent. */
  missed: number;
}

/** The watch of a session. */
interface Watch {
  sessionId: string;
  seq: number;
  receivers: Map<Client, Receiver>;
  /** Number of requests that wait for it to be armed. */
  arriving: number;
  reporting: Promise<Reporting>;
  over: boolean;
}

const notFound = () => new ServiceError('session.not_found', 'session not found');

/** Creates the service, without watches. */
export function createWatches({ trees, use, env, log }: WatchesDeps): Watches {
  const watches = new Map<string, Watch>();
  /** The watches of each connection. */
  const clients = new Map<Client, Set<Watch>>();
  /** Connections with a close listener. */
  const met = new WeakSet<Client>();

  function countOf(client: Client): number {
    let count = 0;
    for (const { receivers } of clients.get(client) ?? []) count += receivers.get(client)?.paths.size() ?? 0;
    return count;
  }

  const watchedBy = (client: Client, sessionId: string): Watched => ({
    watched_paths: watches.get(sessionId)?.receivers.get(client)?.paths.list() ?? [],
    current_count: countOf(client),
  });

  function send(watch: Watch, client: Client, receiver: Receiver, payload: FilesChanged['payload']): void {
    const frame: FilesChanged = {
      type: 'event.fs.changed',
      seq: watch.seq,
      session_id: watch.sessionId,
      timestamp: iso(Date.now()),
      volatile: true,
      payload,
    };
    receiver.sending = true;
    client.send('event', JSON.stringify(frame));
    void client.room().then(() => {
      receiver.sending = false;
      const { missed } = receiver;
      receiver.missed = 0;
      if (missed === 0 || watch.receivers.get(client) !== receiver) return;
      watch.seq += 1;
      send(watch, client, receiver, truncated(missed));
    });
  }

  const truncated = (count: number): FilesChanged['payload'] => ({
    changes: [],
    coalesced_window_ms: windowMs(env()),
    truncated: true,
    count,
  });

  function deliver(watch: Watch, { changes, count, incomplete }: ChangeBatch): void {
    const cut = count > maxChanges(env()) || incomplete;
    const sent: [Client, Receiver, Change[]][] = [];
    for (const [client, receiver] of watch.receivers) {
      const own = cut ? [] : changes.filter(receiver.paths.cover);
      if (!cut && own.length === 0) continue;
      if (receiver.sending) receiver.missed += cut ? count : own.length;
      else sent.push([client, receiver, own]);
    }
    if (sent.length === 0) return;
    watch.seq += 1;
    for (const [client, receiver, own] of sent) {
      send(watch, client, receiver, cut ? truncated(count) : { changes: own, coalesced_window_ms: windowMs(env()) });
    }
  }

  /** Returns the session's watch; creates and starts to arm it if there is none. */
  function watchOf(sessionId: string, root: string): Watch {
    const present = watches.get(sessionId);
    if (present) return present;
    const watch: Watch = {
      sessionId,
      seq: 0,
      receivers: new Map(),
      arriving: 0,
      over: false,
      reporting: trees.report(root, (batch) => deliver(watch, batch)),
    };
    watches.set(sessionId, watch);
    return watch;
  }

  function end(watch: Watch): void {
    if (watch.over) return;
    watch.over = true;
    watches.delete(watch.sessionId);
    for (const client of watch.receivers.keys()) forget(client, watch);
    watch.reporting.then(
      (reporting) => reporting.end(),
      () => undefined,
    );
  }

  function endUnused(watch: Watch): void {
    if (watch.receivers.size === 0 && watch.arriving === 0) end(watch);
  }

  function forget(client: Client, watch: Watch): void {
    watch.receivers.delete(client);
    const own = clients.get(client);
    own?.delete(watch);
    if (own?.size === 0) clients.delete(client);
  }

  function leave(client: Client): void {
    for (const watch of clients.get(client) ?? []) {
      forget(client, watch);
      endUnused(watch);
    }
  }

  function enter(client: Client, watch: Watch): Receiver {
    const present = watch.receivers.get(client);
    if (present) return present;
    const receiver = { paths: createWatchedPaths(), sending: false, missed: 0 };
    watch.receivers.set(client, receiver);
    const own = clients.get(client);
    if (own) own.add(watch);
    else clients.set(client, new Set([watch]));
    if (!met.has(client)) {
      client.onClose(() => {
        met.delete(client);
        leave(client);
      });
    }
    met.add(client);
    return receiver;
  }

  function newPaths(sessionId: string, paths: readonly string[], client: Client): Set<string> {
    const known = watches.get(sessionId)?.receivers.get(client)?.paths;
    return new Set(paths.filter((path) => !known?.has(path)));
  }

  function assertRoom(added: number, client: Client): void {
    if (countOf(client) + added <= MAX_PATHS_PER_CONNECTION) return;
    const message = `a connection watches at most ${MAX_PATHS_PER_CONNECTION} paths`;
    throw new ServiceError('fs.watch_limit_exceeded', message);
  }

  async function armed(watch: Watch): Promise<void> {
    try {
      await watch.reporting;
    } catch (error) {
      end(watch);
      log.warn('files of a session cannot be watched', { sessionId: watch.sessionId, err: error });
      throw new ServiceError('persistence.failure', errorMessage(error), { cause: error });
    } finally {
      watch.arriving -= 1;
    }
  }

  return {
    async add({ session_id, paths: given, runtime_id, recursive }, client) {
      const readPaths = await checkedPaths(given);
      const begun = await use(session_id, ({ root, workspaceId }) => {
        if (runtime_id !== LOCAL_RUNTIME) {
          const message = `runtime ${runtime_id} does not exist in workspace ${workspaceId}`;
          throw new ServiceError('runtime.not_found', message);
        }
        const paths = readPaths();
        assertRoom(newPaths(session_id, paths, client).size, client);
        if (paths.length === 0) return undefined;
        const watch = watchOf(session_id, root);
        // From now on `holds` keeps the session loaded.
        watch.arriving += 1;
        return { paths, watch };
      }).catch((error: unknown) => {
        throw error instanceof ServiceError && error.name === 'session.not_found' ? notFound() : error;
      });
      if (!begun) return watchedBy(client, session_id);
      const { paths, watch } = begun;
      await armed(watch);
      if (watch.over) throw notFound();
      try {
        // Frames of one connection are handled serially, but the connection may close during the await.
        assertRoom(newPaths(session_id, paths, client).size, client);
        const receiver = enter(client, watch);
        for (const path of paths) receiver.paths.add(path, recursive);
      } finally {
        endUnused(watch);
      }
      return watchedBy(client, session_id);
    },
    remove({ session_id, paths, runtime_id }, client) {
      const watch = watches.get(session_id);
      const receiver = runtime_id === LOCAL_RUNTIME ? watch?.receivers.get(client) : undefined;
      if (watch && receiver) {
        for (const path of paths) receiver.paths.delete(normal(path));
        if (receiver.paths.size() === 0) forget(client, watch);
        endUnused(watch);
      }
      return runtime_id === LOCAL_RUNTIME
        ? watchedBy(client, session_id)
        : { watched_paths: [], current_count: countOf(client) };
    },
    holds: (sessionId) => watches.has(sessionId),
    async release(sessionId) {
      const watch = watches.get(sessionId);
      if (watch) end(watch);
    },
  };
}

/**
 * Validates paths cooperatively: a frame may have any number of them. The returned function returns the paths, or
 * throws the error of the first invalid one, because the session and the runtime are validated first.
 */
async function checkedPaths(given: readonly string[]): Promise<() => RelativePath[]> {
  const slice = createTimeSlice();
  const paths: RelativePath[] = [];
  for (const path of given) {
    try {
      paths.push(relativePath(path, 'paths'));
    } catch (error) {
      return () => {
        throw error;
      };
    }
    if (slice.due()) await slice.rest();
  }
  return () => paths;
}

/** Normalizes a path; an invalid one is returned unchanged, and is watched by no connection. */
function normal(path: string): string {
  try {
    return relativePath(path);
  } catch {
    return path;
  }
}
