/**
 * Cache of watched trees: the first search of a directory starts a watcher, which is released five minutes after the
 * last search. No request waits for that, and it keeps no session loaded.
 */
import { lstat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '#server/clock.ts';
import { createIgnoreRules } from '#server/ignore-rules/ignore-rules.ts';
import { within } from '#server/files/open-within.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { Directory } from '#server/watches/tree.ts';
import type { TreeWatcher } from '#server/watches/tree-watcher.ts';
import type { Lease, Trees } from '#server/watches/trees.ts';
import { searchedView } from './searched-view.ts';

const KEPT_MS = 5 * 60 * 1000;
/** Time that a search waits for a changing tree, before ripgrep is used. */
const SETTLE_MS = 100;

/** Directories are identified by their real paths. */
export interface KnownTrees {
  /** Returns the root of the tree if it is complete and up to date. */
  find(directory: string): Promise<Directory | undefined>;
  /** Starts or prolongs the watch of a tree, after a search. */
  keep(directory: string): void;
  /** Like `find`, but waits for the tree; undefined on failure, or when `over` is aborted first. */
  wait(directory: string, over: AbortSignal): Promise<Directory | undefined>;
  close(): void;
}

export interface KnownTreesDeps {
  trees: Pick<Trees, 'lease'>;
  env(): NodeJS.ProcessEnv;
  topOf: Projects['topOf'];
  clock: Clock;
  log: Logger;
}

interface Kept {
  lease: Promise<Lease>;
  /** Resolves to false when the tree is too large, or the system refused to watch it. */
  shown: Promise<boolean>;
  /** Stamps of the ignore files outside of the tree when it was listed. */
  outside: Promise<string>;
  cancel(): void;
}

/** Returns the files that affect what is ignored, but whose changes the tree does not report. */
function outsideFiles(root: string, env: NodeJS.ProcessEnv): string[] {
  const home = env.HOME || homedir();
  const configHome = env.XDG_CONFIG_HOME || join(home, '.config');
  const files = [join(home, '.gitconfig'), join(configHome, 'git', 'config'), join(configHome, 'git', 'ignore')];
  for (let directory = root; ; directory = dirname(directory)) {
    files.push(join(directory, '.git', 'info', 'exclude'));
    if (directory !== root) files.push(join(directory, '.gitignore'), join(directory, '.ignore'));
    if (directory === dirname(directory)) return files;
  }
}

async function stampOf(root: string, env: NodeJS.ProcessEnv): Promise<string> {
  const stamps = await Promise.all(
    outsideFiles(root, env).map((file) =>
      lstat(file).then(
        ({ mtimeMs, size, ino }) => `${mtimeMs}-${size}-${ino}`,
        () => '',
      ),
    ),
  );
  return stamps.join();
}

/** Resolves to the promise's result, or to undefined as soon as the signal is aborted. */
function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve(undefined);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Creates an empty cache. */
export function createKnownTrees({ trees, env, topOf, clock, log }: KnownTreesDeps): KnownTrees {
  /** Keyed by real path. */
  const kept = new Map<string, Kept>();

  async function show(root: string, lease: Promise<Lease>): Promise<boolean> {
    try {
      const directory = { root, additionalDirs: () => [] };
      const readRules = async () => createIgnoreRules(directory, await within(directory), { env: env(), topOf });
      await (await lease).watcher.show('searched', searchedView(readRules));
      return true;
    } catch (error) {
      log.info('files of a directory are searched without a watch', { root, err: error });
      return false;
    }
  }

  /** Releases the tree, unless another one has replaced it. */
  function forget(root: string, found: Kept): void {
    if (kept.get(root) !== found) return;
    kept.delete(root);
    found.cancel();
    // A lease that failed needs no release.
    found.lease.then(
      async (lease) => {
        await lease.watcher.hide('searched');
        lease.release();
      },
      () => undefined,
    );
  }

  function begin(root: string): Kept {
    const lease = trees.lease(root);
    const begun = {
      lease,
      outside: stampOf(root, env()),
      shown: show(root, lease),
      cancel: () => undefined,
    };
    kept.set(root, begun);
    return begun;
  }

  function keepReal(root: string): Kept {
    const found = kept.get(root) ?? begin(root);
    found.cancel();
    found.cancel = clock.setTimeout(() => forget(root, found), KEPT_MS);
    return found;
  }

  /** Returns the watcher of a complete tree, unless ignore files outside of it have changed. */
  async function watcherOf(root: string, found: Kept): Promise<TreeWatcher | undefined> {
    const watcher = await found.lease.then(
      (held) => held.watcher,
      () => undefined,
    );
    if (!watcher?.knows('searched')) return undefined;
    if ((await found.outside) === (await stampOf(root, env()))) return watcher;
    forget(root, found);
    return undefined;
  }

  async function settledRoot(watcher: TreeWatcher): Promise<Directory | undefined> {
    await watcher.settle();
    return watcher.knows('searched') ? watcher.tree.root : undefined;
  }

  async function shownRoot(root: string, found: Kept): Promise<Directory | undefined> {
    const watcher = (await found.shown) && (await watcherOf(root, found));
    return watcher ? settledRoot(watcher) : undefined;
  }

  return {
    async find(root) {
      const found = kept.get(root);
      const watcher = found && (await watcherOf(root, found));
      return watcher && unlessAborted(AbortSignal.timeout(SETTLE_MS), settledRoot(watcher));
    },
    keep: (root) => void keepReal(root),
    async wait(root, over) {
      const first = keepReal(root);
      const tree = await unlessAborted(over, shownRoot(root, first));
      if (tree || over.aborted) return tree;
      // The tree is incomplete, for example after a watch failed, so it is listed again; one that only changes is kept.
      forget(root, first);
      return unlessAborted(over, shownRoot(root, keepReal(root)));
    },
    close() {
      for (const [root, found] of kept) forget(root, found);
    },
  };
}
