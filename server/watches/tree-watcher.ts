/**
 * Keeps the tree of a work directory up to date: it is listed a single time, and then follows the system's events.
 * Events are debounced by a window; a change is the difference between the stored entries and the state at the window's
 * end. All updates of the tree are serialized.
 */
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import type { Logger } from '#server/logging/log.ts';
import { createChangeWindow } from './changes.ts';
import type { Change } from './changes.ts';
import { createEndings } from './endings.ts';
import { inDirectory, isUnreachable } from './open-directory.ts';
import { guardRoot } from './root-guard.ts';
import type { SystemWatch, SystemWatcher } from './system-watch.ts';
import { createTree, pathIn } from './tree.ts';
import type { Directory, Tree } from './tree.ts';
import { createTreeScan } from './tree-scan.ts';
import { createTreeUpdate, viewNames } from './tree-update.ts';
import type { Scan, ViewName } from './tree-update.ts';
import type { View } from './view.ts';

/** From this number of changed entries of a directory in a window on, the directory is listed instead. */
const LIST_FROM = 16;
/** With more changed entries in a window, they are dropped and everything is scanned again. */
const MAX_NOTED = 20_000;

/** The changes of one window. */
export interface ChangeBatch {
  changes: readonly Change[];
  /** Number of changes; greater than the listed ones if there were more than a window stores. */
  count: number;
  /** Whether the system refused to watch a part, so that changes may be missing. */
  incomplete: boolean;
}

export interface TreeWatcher {
  readonly tree: Pick<Tree, 'root' | 'size'>;
  /**
   * Starts a view; resolves when all that it sees is watched. Rejects with the system's errors, and for a search when
   * there are too many entries; the view is then not active.
   */
  show(name: ViewName, view: View): Promise<void>;
  /** Stops a view and drops the entries that only it saw. */
  hide(name: ViewName): Promise<void>;
  /** Whether the tree currently contains all entries of the view. */
  knows(name: ViewName): boolean;
  /** Resolves when all events received so far are applied to the tree. */
  settle(): Promise<void>;
  /** Publishes changes of the reported view, one batch per window, until the returned function is called. */
  onChanges(listener: (batch: ChangeBatch) => void): () => void;
  close(): Promise<void>;
}

export interface TreeWatcherDeps {
  /** Absolute, with links resolved; it need not exist. */
  root: string;
  windowMs(): number;
  system: SystemWatcher;
  log: Logger;
  maxEntries?: number;
  /** Whether one watch on the root covers everything below. */
  subtree?: boolean;
}

/** Keyed by name; true when the entry may have been replaced. */
type Notes = Map<string, boolean>;

const canWatchSubtrees = process.platform === 'darwin' || process.platform === 'win32';

/** Creates a watcher without a view, which only detects whether the root is created or removed. */
export function createTreeWatcher(deps: TreeWatcherDeps): TreeWatcher {
  const { root, system, log, subtree = canWatchSubtrees } = deps;
  const ending = createEndings();
  const tree = createTree(ending.add, deps.maxEntries);
  const views: Partial<Record<ViewName, View>> = {};
  const known = new Set<ViewName>();
  const listeners = new Set<(batch: ChangeBatch) => void>();
  let noted = new Map<Directory, Notes>();
  let notedCount = 0;
  let lost = false;
  let window = createChangeWindow();
  let incomplete = false;
  let timer: NodeJS.Timeout | undefined;
  let present = false;
  let closed = false;
  const updates = createSerialQueue();

  const update = createTreeUpdate({
    tree,
    tell(path, change, kind) {
      if (listeners.size > 0) window.add({ path, change, kind });
    },
  });
  const { within, scan, reconsider } = createTreeScan({ root, tree, update, views, watch, isClosed: () => closed });

  function startWindow(): void {
    if (!closed) timer ??= setTimeout(() => void endWindow(), deps.windowMs());
  }

  function note(directory: Directory, name: string, renamed: boolean): void {
    const notes: Notes = noted.get(directory) ?? new Map();
    if (notes.size === 0) noted.set(directory, notes);
    if (!notes.has(name)) notedCount += 1;
    notes.set(name, renamed || notes.get(name) === true);
    if (notedCount > MAX_NOTED) noteLoss();
    else startWindow();
  }

  /** Notes an event of a subtree watch; paths in directories that no view sees are ignored. */
  function noteBelow(path: string, renamed: boolean): void {
    const segments = path.split(/[/\\]/);
    const name = segments.pop();
    let directory: Directory | undefined = tree.root;
    for (const segment of segments) directory = directory?.directories?.get(segment);
    if (directory && name !== undefined) note(directory, name, renamed);
  }

  function noteLoss(): void {
    if (tree.size() === 0 && !present) return;
    lost = true;
    noted = new Map();
    notedCount = 0;
    startWindow();
  }

  function watch(directory: Directory, at: string): SystemWatch | undefined {
    if (subtree && directory !== tree.root) return undefined;
    return system.watch(
      at,
      (name, renamed) => {
        if (closed || lost) return;
        if (!name) noteLoss();
        else if (subtree) noteBelow(name, renamed);
        else note(directory, name, renamed);
      },
      subtree,
    );
  }

  /** Scans everything: the root may be missing, have been created again, or be another directory than before. */
  async function scanRoot(reports: boolean): Promise<void> {
    try {
      if (!present) await inDirectory(root, async () => undefined);
      if (!present && reports && views.reported) window.add({ path: '.', change: 'created', kind: 'directory' });
      present = true;
      await scan([{ directory: tree.root, tell: reports, deep: true }]);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      if (present && views.reported) window.add({ path: '.', change: 'deleted', kind: 'directory' });
      present = false;
      update.empty(tree.root, true);
    }
  }

  /** Runs work that no caller awaits: logs its error and marks the batch as incomplete. */
  async function background(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      incomplete = true;
      known.clear();
      log.warn('a part of a work directory cannot be watched', { root, err: error });
    }
  }

  async function look(directory: Directory, notes: Notes): Promise<Scan[]> {
    if (directory.gone) return [];
    const next: Scan[] = [];
    try {
      await within(directory, async (opened) => {
        const listed = notes.size >= LIST_FROM ? await opened.list() : undefined;
        for (const [name, renamed] of notes) {
          const kind = listed ? listed.get(name) : await opened.kind(name);
          next.push(...update.entry(directory, name, kind, renamed));
        }
      });
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      // The removal of any other directory is reported by its parent.
      if (directory === tree.root) await scanRoot(true);
    }
    return next;
  }

  function outdatedViews(changed: ReadonlyMap<Directory, Notes>): Set<ViewName> {
    const outdated = new Set<ViewName>();
    for (const [directory, notes] of changed) {
      for (const name of notes.keys()) {
        for (const view of viewNames) if (views[view]?.isRuleFile(pathIn(directory, name))) outdated.add(view);
      }
    }
    return outdated;
  }

  async function renew(name: ViewName): Promise<void> {
    known.delete(name);
    if (!views[name]) return;
    await reconsider(name);
    known.add(name);
  }

  /** Applies the noted events to the tree. */
  async function catchUp(): Promise<void> {
    const [changed, all] = [noted, lost];
    noted = new Map();
    notedCount = 0;
    lost = false;
    if (closed || (changed.size === 0 && !all)) return;
    const outdated = all ? new Set(viewNames) : outdatedViews(changed);
    for (const view of outdated) known.delete(view);
    await background(async () => {
      if (all) await scanRoot(true);
      else for (const [directory, notes] of changed) await scan(await look(directory, notes));
    });
    for (const view of outdated) await background(() => renew(view));
  }

  async function endWindow(): Promise<void> {
    timer = undefined;
    await updates.run(catchUp);
    const ended = window;
    const batch = { changes: ended.list(), count: ended.count(), incomplete };
    window = createChangeWindow();
    incomplete = false;
    if (batch.count > 0 || batch.incomplete) for (const listener of listeners) listener(batch);
  }

  async function show(name: ViewName, view: View): Promise<void> {
    const first = viewNames.every((other) => !views[other]);
    views[name] = view;
    try {
      await (first ? scanRoot(false) : reconsider(name));
      if (name === 'searched' && !tree.whole()) throw new Error('the directory has too many entries');
      known.add(name);
    } catch (error) {
      await conceal(name);
      throw error;
    }
  }

  async function conceal(name: ViewName): Promise<void> {
    delete views[name];
    known.delete(name);
    if (viewNames.every((other) => !views[other])) {
      tree.leave(tree.root);
      present = false;
    } else await background(() => reconsider(name));
  }

  const guard = guardRoot(
    root,
    () => {
      if (closed || viewNames.every((name) => !views[name])) return;
      startWindow();
      void updates.run(() => background(() => scanRoot(true)));
    },
    system,
  );
  const offLoss = system.onLoss(noteLoss);

  return {
    tree,
    show: (name, view) => updates.run(() => show(name, view)),
    hide: (name) => updates.run(() => conceal(name)),
    knows: (name) => known.has(name) && !lost && tree.whole(),
    settle: () => updates.run(catchUp),
    onChanges(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      guard.close();
      offLoss();
      await updates.settled();
      tree.leave(tree.root);
      await ending.done();
    },
  };
}
