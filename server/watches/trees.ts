/** Reference-counted tree watchers, one per work directory: created with the first user, closed with the last. */
import type { Logger } from '#server/logging/log.ts';
import { realPath } from '#server/runtime/real-path.ts';
import { reportedView } from './reported-view.ts';
import { createSystemWatcher } from './system-watch.ts';
import type { ChangeBatch, TreeWatcher } from './tree-watcher.ts';

export interface Lease {
  readonly watcher: TreeWatcher;
  release(): void;
}

export interface Reporting {
  end(): void;
}

export interface Trees {
  /** Leases the watcher of a directory, which need not exist; to be released. */
  lease(directory: string): Promise<Lease>;
  /** Publishes changes from the moment this resolves. Rejects with the system's errors. */
  report(directory: string, listener: (batch: ChangeBatch) => void): Promise<Reporting>;
  close(): Promise<void>;
}

export interface TreesDeps {
  /** Length of a window of changes; called for each. */
  windowMs(): number;
  log: Logger;
}

interface Shared {
  watcher: TreeWatcher;
  users: number;
  reporters: number;
  /** Pending or active reported view; undefined without reporters. */
  shown: Promise<void> | undefined;
}

/** Creates the registry without any watcher. */
export function createTrees({ windowMs, log }: TreesDeps): Trees {
  const system = createSystemWatcher();
  /** Keyed by the directory's real path. */
  const open = new Map<string, Shared>();
  const closing = new Set<Promise<void>>();

  async function take(directory: string): Promise<{ shared: Shared; release(): void }> {
    const { createTreeWatcher } = await import('./tree-watcher.ts');
    const root = await realPath(directory);
    const shared = open.get(root) ?? {
      watcher: createTreeWatcher({ root, windowMs, system, log }),
      users: 0,
      reporters: 0,
      shown: undefined,
    };
    open.set(root, shared);
    shared.users += 1;
    let released = false;
    return {
      shared,
      release() {
        if (released) return;
        released = true;
        shared.users -= 1;
        if (shared.users > 0) return;
        open.delete(root);
        const closed = shared.watcher.close().finally(() => closing.delete(closed));
        closing.add(closed);
      },
    };
  }

  return {
    async lease(directory) {
      const { shared, release } = await take(directory);
      return { watcher: shared.watcher, release };
    },
    async report(directory, listener) {
      const { shared, release } = await take(directory);
      const { watcher } = shared;
      const off = watcher.onChanges(listener);
      shared.reporters += 1;
      const end = () => {
        off();
        shared.reporters -= 1;
        if (shared.reporters === 0) {
          shared.shown = undefined;
          if (shared.users > 1) void watcher.hide('reported');
        }
        release();
      };
      shared.shown ??= watcher.show('reported', reportedView);
      const { shown } = shared;
      try {
        await shown;
      } catch (error) {
        // The next caller tries again.
        if (shared.shown === shown) shared.shown = undefined;
        end();
        throw error;
      }
      return { end };
    },
    async close() {
      const watchers = [...open.values()].map(({ watcher }) => watcher.close());
      open.clear();
      await Promise.all([...watchers, ...closing]);
    },
  };
}
