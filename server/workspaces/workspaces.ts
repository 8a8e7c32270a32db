/**
 * The registry of workspaces: the document `workspaces.json`, which all servers of the home share. It is
 * read again when it changed, operations of this process run one after the other, and an id whose root has the same key
 * as another's is an alias of it.
 */
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import { iso, workspaceId } from '#schema/scalars.ts';
import type { Workspace } from '#schema/workspace.ts';
import type { SessionIndex } from '#server/sessions/session-index.ts';
import type { Documents } from '#server/storage/documents.ts';
import { defaultName, normalRoot, rootKey, workspaceIdOf } from './workspace-root.ts';

const DOCUMENT = 'workspaces.json';
/** Leaves time to write within 250 ms. */
const TOUCH_WRITE_DELAY_MS = 200;

export interface Workspaces {
  /** In the order of registration, one for each root. */
  list(): Promise<Workspace[]>;
  /** A known root is touched and keeps its name; a new one is added. The directory is not looked at. */
  register(root: string, name?: string): Promise<Workspace>;
  /** Throws 40410, as all that take an id. */
  get(id: string): Promise<Workspace>;
  /** `last_opened_at` = now. The event goes at once, the document is written within 250 ms. */
  touch(id: string): Promise<Workspace>;
  /** All ids of the workspace, its own included: what a filter by workspace must accept. */
  aliases(id: string): Promise<string[]>;
  /** Writes what is still in memory. */
  close(): Promise<void>;
}

export interface WorkspacesDeps {
  documents: Documents;
  index: Pick<SessionIndex, 'ready' | 'workDirs' | 'countByWorkspace'>;
  publish(type: 'event.workspace.created' | 'event.workspace.updated', fields: { workspace: Workspace }): void;
  log: Logger;
  clock: Clock;
}

const entrySchema = z.object({
  root: z.string().min(1),
  name: z.string().min(1).max(100),
  created_at: z.iso.datetime(),
  last_opened_at: z.iso.datetime(),
});
type Entry = z.infer<typeof entrySchema>;

const registrySchema = z.object({
  version: z.literal(1),
  /** In order of registration. Entries that make no sense are left out. */
  workspaces: z.record(z.string(), z.unknown()).transform((entries) => {
    const valid: Record<string, Entry> = {};
    for (const [id, value] of Object.entries(entries)) {
      const entry = entrySchema.safeParse(value);
      if (entry.success && workspaceId.safeParse(id).success) valid[id] = entry.data;
    }
    return valid;
  }),
  deleted_workspace_ids: z.array(z.string()).default([]),
});
type Registry = z.output<typeof registrySchema>;

const empty = (): Registry => ({ version: 1, workspaces: {}, deleted_workspace_ids: [] });

const workspaceNotFound = (id: string) => new ServiceError('workspace.not_found', `workspace ${id} does not exist`);

/** A workspace: the entry that stands for its root, and every id that leads to it. */
interface Known {
  id: string;
  entry: Entry;
  ids: Set<string>;
}

/** Reads nothing yet; the first use adds the directories of sessions that are not registered. */
export function createWorkspaces({ documents, index, publish, log, clock }: WorkspacesDeps): Workspaces {
  let registry = empty();
  let version: string | undefined;
  let adopted = false;
  /** `last_opened_at` by id, not yet in the document. */
  const touches = new Map<string, string>();
  let callOff: (() => void) | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** Runs operations one after the other; a failed one does not stop the next. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  }

  async function load(): Promise<void> {
    const present = await documents.version(DOCUMENT);
    if (present === undefined || present !== version) {
      registry = (await documents.get(DOCUMENT, registrySchema)) ?? empty();
      version = present;
    }
    if (!adopted) await adopt();
  }

  async function save(): Promise<void> {
    for (const [id, time] of touches) {
      const entry = registry.workspaces[id];
      // Another server may have been later.
      if (entry && entry.last_opened_at < time) entry.last_opened_at = time;
    }
    try {
      await documents.set(DOCUMENT, registrySchema, registry);
      touches.clear();
    } finally {
      // What is in memory may not be what is stored; the next use reads it.
      version = undefined;
    }
  }

  /** Directories that have sessions are workspaces too, unless they were removed by hand. */
  async function adopt(): Promise<void> {
    await index.ready();
    const keys = new Set(Object.values(registry.workspaces).map(({ root }) => rootKey(root)));
    const deleted = new Set(registry.deleted_workspace_ids);
    let added = false;
    for (const { workspaceId: indexedId, cwd } of index.workDirs()) {
      const root = normalRoot(cwd);
      const id = workspaceIdOf(root);
      if (!isAbsolute(cwd) || keys.has(rootKey(root)) || deleted.has(id) || deleted.has(indexedId)) continue;
      add(id, root, defaultName(root));
      keys.add(rootKey(root));
      added = true;
    }
    if (added) await save();
    adopted = true;
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
      else byKey.set(rootKey(entry.root), { id, entry, ids: new Set([id]) });
    }
    for (const { workspaceId: id, cwd } of index.workDirs()) byKey.get(rootKey(normalRoot(cwd)))?.ids.add(id);
    return [...byKey.values()];
  }

  function resolve(id: string): Known {
    const found = known().find(({ ids }) => ids.has(id));
    if (!found) throw workspaceNotFound(id);
    return found;
  }

  function view({ id, entry, ids }: Known, counts = index.countByWorkspace([...ids])): Workspace {
    const touched = touches.get(id);
    return {
      id,
      root: entry.root,
      name: entry.name,
      created_at: entry.created_at,
      last_opened_at: touched !== undefined && touched > entry.last_opened_at ? touched : entry.last_opened_at,
      session_count: [...ids].reduce((sum, alias) => sum + (counts.get(alias) ?? 0), 0),
    };
  }

  function touchKnown(workspace: Known): Workspace {
    touches.set(workspace.id, iso(clock.now()));
    callOff ??= clock.setTimeout(() => void writeTouches(), TOUCH_WRITE_DELAY_MS);
    const touched = view(workspace);
    publish('event.workspace.updated', { workspace: touched });
    return touched;
  }

  function flush(): Promise<void> {
    callOff?.();
    callOff = undefined;
    return inTurn(async () => {
      if (touches.size === 0) return;
      await load();
      await save();
    });
  }

  async function writeTouches(): Promise<void> {
    try {
      await flush();
    } catch (error) {
      // They stay in memory and go with the next write.
      log.error('the times of workspaces could not be written', { err: error });
    }
  }

  async function register(root: string, name: string | undefined): Promise<Workspace> {
    await load();
    const normal = normalRoot(root);
    const present = known().find(({ entry }) => rootKey(entry.root) === rootKey(normal));
    if (present) return touchKnown(present);
    const id = workspaceIdOf(normal);
    add(id, normal, name ?? defaultName(normal));
    registry.deleted_workspace_ids = registry.deleted_workspace_ids.filter((deleted) => deleted !== id);
    await save();
    const workspace = view(resolve(id));
    publish('event.workspace.created', { workspace });
    return workspace;
  }

  return {
    list: () =>
      inTurn(async () => {
        await load();
        const all = known();
        const counts = index.countByWorkspace(all.flatMap(({ ids }) => [...ids]));
        return all.map((workspace) => view(workspace, counts));
      }),
    register: (root, name) => inTurn(() => register(root, name)),
    get: (id) =>
      inTurn(async () => {
        await load();
        return view(resolve(id));
      }),
    touch: (id) =>
      inTurn(async () => {
        await load();
        return touchKnown(resolve(id));
      }),
    aliases: (id) =>
      inTurn(async () => {
        await load();
        return [...resolve(id).ids];
      }),
    close: flush,
  };
}
