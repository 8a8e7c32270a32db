/**
 * The registry of workspaces: the document `workspaces.json`, which all servers of the home share. It is read again
 * when it changed, operations of this process are serialized, a change holds a lock from reading to replacing, and an
 * id whose root has the same key as another's is an alias of it.
 */
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { directoryFault } from '#server/files/file-kind.ts';
import type { Logger } from '#server/logging/log.ts';
import { iso } from '#schema/scalars.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { Workspace } from '#schema/rest/workspace.ts';
import type { ChangeLock } from '#server/storage/change-lock.ts';
import type { Documents } from '#server/storage/documents.ts';
import { coalesced } from '#server/async/coalesce.ts';
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import { DOCUMENT, emptyRegistry, registrySchema, type Entry, type RegistryWriter } from './registry-document.ts';
import { defaultName, normalRoot, rootKey, workspaceIdOf } from './workspace-root.ts';

/** Leaves time to write within 250 ms. */
const TOUCH_WRITE_DELAY_MS = 200;

export interface Workspaces {
  /** Returns the workspaces in the order of registration, one per root. */
  list(): Promise<Workspace[]>;
  /**
   * Registers a new root. A registered one keeps its name and is touched: `last_opened_at` = now, whose event is
   * published immediately and which is written within 250 ms. The directory is not checked.
   */
  register(root: string, name?: string): Promise<Workspace>;
  /** Throws `workspace.not_found`, like all methods with an id. */
  get(id: string): Promise<Workspace>;
  /** Resolves an id or an absolute path; registers an existing directory. Throws `workspace.not_found`. */
  refer(reference: string): Promise<Workspace>;
  rename(id: string, name: string, by?: Caller): Promise<Workspace>;
  /** Publishes a change of its trust or its additional directories, unless it was removed meanwhile. */
  announceChange(id: string, by: Caller): Promise<void>;
  /** Removes it with its aliases; sessions and files remain. */
  unregister(id: string): Promise<void>;
  /** Whether the root of a workspace resolves to this real path. */
  isRoot(real: string): Promise<boolean>;
  /** Returns all ids of the workspace, including its main one: the ids that a filter by workspace must accept. */
  aliases(id: string): Promise<string[]>;
  /**
   * Returns the workspace of each id that is registered or has sessions, also of ids whose workspace was removed. Unlike
   * `aliases`, it throws for no id.
   */
  byId(): Promise<ReadonlyMap<string, WorkspaceIds>>;
  /** Writes pending touches. */
  close(): Promise<void>;
}

/** A root with all its ids. */
export interface WorkspaceIds {
  root: string;
  ids: readonly string[];
}

/** The part of the session index that the registry reads. */
export interface IndexedWorkspaces {
  /** Resolves when every session is indexed. */
  ready(): Promise<void>;
  /** Each workspace id with sessions: the directory of one of them, and their number. */
  workspaces(): { workspaceId: string; cwd: string; sessions: number }[];
}

export interface WorkspacesDeps {
  documents: Pick<Documents, 'get' | 'version'>;
  /** Shared by the servers of the home; writes the document. */
  lock: ChangeLock<RegistryWriter>;
  index: IndexedWorkspaces;
  publish(
    type: 'event.workspace.created' | 'event.workspace.updated',
    fields: { workspace: Workspace; by?: Caller },
  ): void;
  publish(type: 'event.workspace.deleted', fields: { workspace_id: string; root: string }): void;
  log: Logger;
  clock: Clock;
}

const workspaceNotFound = (id: string) => new ServiceError('workspace.not_found', `workspace ${id} does not exist`);

/** A workspace: the entry of its root, its id and aliases, and their number of sessions. */
interface Known {
  id: string;
  entry: Entry;
  ids: Set<string>;
  sessions: number;
}

/** Creates the registry; the first use reads it and adds the directories of sessions that are not registered. */
export function createWorkspaces(deps: WorkspacesDeps): Workspaces {
  const { documents, lock, index, log, clock } = deps;
  let registry = emptyRegistry();
  let version: string | undefined;
  let adopted = false;
  /** `last_opened_at` by id, not yet written to the document. */
  const touches = new Map<string, string>();
  let callOff: (() => void) | undefined;
  const operations = createSerialQueue();

  const versionNow = coalesced(() => documents.version(DOCUMENT));

  /**
   * Queues an operation, which runs with the current registry. The document's version is read while the operation is
   * queued, and concurrent callers share one read.
   */
  function withRegistry<T>(work: () => T | Promise<T>): Promise<T> {
    const seen = versionNow();
    // The error is reported when the operation runs.
    seen.catch(() => undefined);
    return operations.run(async () => {
      await load(seen);
      return work();
    });
  }

  /** Reads the document if it changed; `seen` is its version at the time of the request, or later. */
  async function read(seen?: Promise<string | undefined>): Promise<void> {
    if (version !== undefined && (await seen) === version) return;
    const present = await documents.version(DOCUMENT);
    if (present !== undefined && present === version) return;
    registry = (await documents.get(DOCUMENT, registrySchema)) ?? emptyRegistry();
    version = present;
  }

  async function load(seen: Promise<string | undefined>): Promise<void> {
    await read(seen);
    if (adopted) return;
    await index.ready();
    if (unregisteredRoots().length > 0) {
      await change(() => {
        for (const root of unregisteredRoots()) add(workspaceIdOf(root), root, defaultName(root));
      });
    }
    adopted = true;
  }

  /** Applies a change to the current registry and writes it. */
  async function change<T>(apply: () => T): Promise<T> {
    return lock.hold(async (writer) => {
      await read();
      try {
        const result = apply();
        for (const [id, time] of touches) {
          const entry = registry.workspaces[id];
          // Another server may have written a later time.
          if (entry && entry.last_opened_at < time) entry.last_opened_at = time;
        }
        await writer.write(registry);
        touches.clear();
        return result;
      } finally {
        // Memory and document may differ now; the next use reads the document.
        version = undefined;
      }
    });
  }

  /** Directories that have sessions are workspaces too, unless a user removed them. */
  function unregisteredRoots(): string[] {
    const keys = new Set(Object.values(registry.workspaces).map(({ root }) => rootKey(root)));
    const deleted = new Set(registry.deleted_workspace_ids);
    return index.workspaces().flatMap(({ workspaceId: indexedId, cwd }) => {
      const root = normalRoot(cwd);
      if (!isAbsolute(cwd) || keys.has(rootKey(root))) return [];
      if (deleted.has(workspaceIdOf(root)) || deleted.has(indexedId)) return [];
      keys.add(rootKey(root));
      return [root];
    });
  }

  function add(id: string, root: string, name: string): void {
    const now = iso(clock.now());
    registry.workspaces[id] = { root, name, created_at: now, last_opened_at: now };
  }

  function known(): Known[] {
    const byKey = new Map<string, Known>();
    for (const [id, entry] of Object.entries(registry.workspaces)) {
      const first = byKey.get(rootKey(entry.root));
      if (first) first.ids.add(id);
      else byKey.set(rootKey(entry.root), { id, entry, ids: new Set([id]), sessions: 0 });
    }
    const counts = new Map<string, number>();
    for (const { workspaceId: id, cwd, sessions } of index.workspaces()) {
      byKey.get(rootKey(normalRoot(cwd)))?.ids.add(id);
      counts.set(id, sessions);
    }
    for (const workspace of byKey.values()) {
      for (const id of workspace.ids) workspace.sessions += counts.get(id) ?? 0;
    }
    return [...byKey.values()];
  }

  function byId(): Map<string, WorkspaceIds> {
    const byKey = new Map<string, { root: string; ids: Set<string> }>();
    const add = (id: string, root: string) => {
      const known = byKey.get(rootKey(root));
      if (known) known.ids.add(id);
      else byKey.set(rootKey(root), { root, ids: new Set([id]) });
    };
    for (const [id, { root }] of Object.entries(registry.workspaces)) add(id, root);
    for (const { workspaceId: id, cwd } of index.workspaces()) if (isAbsolute(cwd)) add(id, normalRoot(cwd));
    return new Map(
      [...byKey.values()].flatMap(({ root, ids }) => {
        const workspace = { root, ids: [...ids] };
        return workspace.ids.map((id) => [id, workspace] as const);
      }),
    );
  }

  const find = (id: string) => known().find(({ ids }) => ids.has(id));

  function resolve(id: string): Known {
    const found = find(id);
    if (!found) throw workspaceNotFound(id);
    return found;
  }

  function view({ id, entry, sessions }: Known): Workspace {
    const touched = touches.get(id);
    return {
      id,
      root: entry.root,
      name: entry.name,
      created_at: entry.created_at,
      last_opened_at: touched !== undefined && touched > entry.last_opened_at ? touched : entry.last_opened_at,
      session_count: sessions,
    };
  }

  function touchKnown(workspace: Known): Workspace {
    touches.set(workspace.id, iso(clock.now()));
    callOff ??= clock.setTimeout(() => void writeTouches(), TOUCH_WRITE_DELAY_MS);
    const touched = view(workspace);
    deps.publish('event.workspace.updated', { workspace: touched });
    return touched;
  }

  function flush(): Promise<void> {
    callOff?.();
    callOff = undefined;
    return operations.run(async () => {
      if (touches.size > 0) await change(() => undefined);
    });
  }

  async function writeTouches(): Promise<void> {
    try {
      await flush();
    } catch (error) {
      // The times stay in memory and are written with the next change.
      log.error('the times of workspaces could not be written', { err: error });
    }
  }

  const atRoot = (root: string) => known().find(({ entry }) => rootKey(entry.root) === rootKey(root));

  async function register(root: string, name: string | undefined): Promise<Workspace> {
    const normal = normalRoot(root);
    const present = atRoot(normal);
    if (present) return touchKnown(present);
    const id = workspaceIdOf(normal);
    const isNew = await change(() => {
      // Another server may have registered the root first.
      if (atRoot(normal)) return false;
      add(id, normal, name ?? defaultName(normal));
      registry.deleted_workspace_ids = registry.deleted_workspace_ids.filter((deleted) => deleted !== id);
      return true;
    });
    const registered = resolve(id);
    if (!isNew) return touchKnown(registered);
    const workspace = view(registered);
    deps.publish('event.workspace.created', { workspace });
    return workspace;
  }

  async function refer(reference: string): Promise<Workspace> {
    const present = find(reference) ?? atRoot(normalRoot(reference));
    if (present) return view(present);
    if ((await directoryFault(reference, stat)) !== undefined) throw workspaceNotFound(reference);
    return register(reference, undefined);
  }

  async function rename(id: string, name: string, by: Caller | undefined): Promise<Workspace> {
    resolve(id);
    await change(() => {
      resolve(id).entry.name = name;
    });
    const workspace = view(resolve(id));
    deps.publish('event.workspace.updated', { workspace, ...(by ? { by } : {}) });
    return workspace;
  }

  async function unregister(id: string): Promise<void> {
    resolve(id);
    const root = await change(() => {
      const { entry, ids } = resolve(id);
      const { root } = entry;
      registry.workspaces = Object.fromEntries(
        Object.entries(registry.workspaces).filter(([, other]) => rootKey(other.root) !== rootKey(root)),
      );
      registry.deleted_workspace_ids = [...new Set([...registry.deleted_workspace_ids, ...ids])];
      for (const alias of ids) touches.delete(alias);
      return root;
    });
    deps.publish('event.workspace.deleted', { workspace_id: id, root });
  }

  return {
    list: () => withRegistry(() => known().map(view)),
    register: (root, name) => withRegistry(() => register(root, name)),
    get: (id) => withRegistry(() => view(resolve(id))),
    refer: (reference) => withRegistry(() => refer(reference)),
    rename: (id, name, by) => withRegistry(() => rename(id, name, by)),
    announceChange: (id, by) =>
      withRegistry(() => {
        const found = find(id);
        if (found) deps.publish('event.workspace.updated', { workspace: view(found), by });
      }),
    unregister: (id) => withRegistry(() => unregister(id)),
    aliases: (id) => withRegistry(() => [...resolve(id).ids]),
    byId: () => withRegistry(byId),
    async isRoot(real) {
      const roots = await withRegistry(() => known().map(({ entry }) => entry.root));
      if (roots.includes(real)) return true;
      const reals = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
      return reals.includes(real);
    },
    close: flush,
  };
}
