/**
 * The trees that searches know: the first search of a directory begins to watch it, and five minutes after the last one
 * it is forgotten. Nobody waits for that, and no session is held by it.
 */
import { lstat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '#server/clock.ts';
import { createIgnoreRules } from '#server/files/ignore-rules.ts';
import { within } from '#server/files/open-within.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { Directory } from '#server/watches/tree.ts';
import type { Lease, Trees } from '#server/watches/trees.ts';
import { searchedView } from './searched-view.ts';

const KEPT_MS = 5 * 60 * 1000;
/** A tree that changes all the time is not waited for where ripgrep can answer; */
const SETTLE_MS = 100;
/** and for so long where it cannot. */
const WAIT_MS = 10_000;

/** Directories are named by their real paths. */
export interface KnownTrees {
  /** The root of the tree if all of it is known, and true at this moment. */
  find(directory: string): Promise<Directory | undefined>;
  /** A search was answered: the tree is known soon, and kept for a while. */
  keep(directory: string): void;
  /** As `find`, and waits until the tree is known; undefined when it cannot be. */
  wait(directory: string): Promise<Directory | undefined>;
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
  /** False when the tree is too large, or the system refused to watch it. */
  shown: Promise<boolean>;
  /** What ignore files outside of the tree were when it was listed. */
  outside: Promise<string>;
  callOff(): void;
}

/** Files that decide what is ignored, and whose changes the tree does not tell of. */
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

/** Creates it, knowing nothing. */
export function createKnownTrees({ trees, env, topOf, clock, log }: KnownTreesDeps): KnownTrees {
  /** By real path. */
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

  function forget(root: string): void {
    const found = kept.get(root);
    if (!found) return;
    kept.delete(root);
    found.callOff();
    // One that could not be had needs no release.
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
      callOff: () => undefined,
    };
    kept.set(root, begun);
    return begun;
  }

  function keepReal(root: string): Kept {
    const found = kept.get(root) ?? begin(root);
    found.callOff();
    found.callOff = clock.setTimeout(() => forget(root), KEPT_MS);
    return found;
  }

  async function rootOf(root: string, { lease, outside }: Kept, settleMs: number): Promise<Directory | undefined> {
    const watcher = await lease.then(
      (held) => held.watcher,
      () => undefined,
    );
    if (!watcher?.knows('searched')) return undefined;
    if ((await outside) !== (await stampOf(root, env()))) {
      forget(root);
      return undefined;
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), settleMs);
    });
    const settled = await Promise.race([watcher.settle().then(() => true), late]);
    clearTimeout(timer);
    return settled && watcher.knows('searched') ? watcher.tree.root : undefined;
  }

  async function shownTree(root: string, found: Kept): Promise<Directory | undefined> {
    return (await found.shown) ? rootOf(root, found, WAIT_MS) : undefined;
  }

  return {
    async find(root) {
      const found = kept.get(root);
      return found && rootOf(root, found, SETTLE_MS);
    },
    keep: (root) => void keepReal(root),
    async wait(root) {
      const first = keepReal(root);
      const tree = await shownTree(root, first);
      if (tree) return tree;
      // What was kept is not true any more, as when a part could not be watched for a while.
      if (kept.get(root) === first) forget(root);
      return shownTree(root, keepReal(root));
    },
    close() {
      for (const root of kept.keys()) forget(root);
    },
  };
}
