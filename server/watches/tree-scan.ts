/**
 * Scans directories level by level. Each is watched before it is listed, so that no change is missed, and new
 * subdirectories are scanned next.
 */
import { join } from 'node:path';
import { createTimeSlice } from '#server/async/yield.ts';
import { kindOfEntry, seenOf, withSeen } from './entries.ts';
import { inDirectory, isUnreachable } from './open-directory.ts';
import type { OpenDirectory } from './open-directory.ts';
import type { SystemWatch } from './system-watch.ts';
import { pathIn } from './tree.ts';
import type { Directory, Tree } from './tree.ts';
import { viewFlags, viewNames } from './tree-update.ts';
import type { Scan, TreeUpdate, ViewName } from './tree-update.ts';
import type { View } from './view.ts';

/** Directories that are open at the same time. */
const WIDTH = 8;
/** Number of bytes that are read of an ignore file. */
const MAX_RULES_BYTES = 1024 * 1024;

export interface TreeScan {
  /** Opens a directory of the tree; rejects with `ENOENT` when it is no longer part of it. */
  within<T>(directory: Directory, work: (opened: OpenDirectory) => Promise<T>): Promise<T>;
  /**
   * Scans directories and the new ones below them. Rejects with the system's errors, and when the root is unreachable.
   */
  scan(first: Scan[]): Promise<void>;
  /** Applies a view's rules again: enters directories that became visible, drops those that no view sees. */
  reconsider(name: ViewName): Promise<void>;
}

export interface TreeScanDeps {
  /** Absolute, with links resolved. */
  root: string;
  tree: Tree;
  update: TreeUpdate;
  views: Readonly<Partial<Record<ViewName, View>>>;
  /** Watches a directory; undefined where another watch covers it. Throws the system's error. */
  watch(directory: Directory, at: string): SystemWatch | undefined;
  isClosed(): boolean;
}

export function createTreeScan({ root, tree, update, views, watch, isClosed }: TreeScanDeps): TreeScan {
  const within: TreeScan['within'] = (directory, work) =>
    inDirectory(directory.path === '' ? root : join(root, directory.path), work);

  const isSeen = ({ parent, name }: Directory, view: ViewName) =>
    !parent || (seenOf(parent.entries.get(name) ?? 0) & viewFlags[view]) !== 0;

  /** Computes a view's predicate for a directory; `opened` is undefined where ignore files are rarely read. */
  async function enterView(
    name: ViewName,
    directory: Directory,
    entries: { has(name: string): boolean },
    opened?: OpenDirectory,
  ): Promise<void> {
    const view = views[name];
    const inherited = directory.parent?.[name];
    if (!view || !isSeen(directory, name) || (directory.parent && !inherited)) {
      directory[name] = undefined;
      return;
    }
    const read = (file: string) =>
      opened
        ? opened.text(file, MAX_RULES_BYTES)
        : within(directory, (own) => own.text(file, MAX_RULES_BYTES)).catch(() => undefined);
    directory[name] = await view.enter({ path: directory.path, has: (file) => entries.has(file), read }, inherited);
  }

  function arm(directory: Directory, at: string): void {
    const armed = watch(directory, at);
    if (!armed) return;
    // Arm the new watch first: the system continues with a directory that is watched twice.
    directory.watch?.close();
    directory.watch = armed;
  }

  async function scan(first: Scan[]): Promise<void> {
    const slice = createTimeSlice();
    let turn: Promise<unknown> = Promise.resolve();

    async function look(one: Scan, opened: OpenDirectory): Promise<Scan[]> {
      const { directory } = one;
      if (directory.gone) return [];
      arm(directory, opened.at);
      const found = await opened.list();
      // Serialized, because concurrent updates would lengthen each other's time slices.
      const mine = turn.then(async () => {
        if (directory.gone) return [];
        for (const name of viewNames) await enterView(name, directory, found, opened);
        return update.listed(one, found, slice);
      });
      turn = mine.catch(() => undefined);
      return mine;
    }

    async function scanOne(one: Scan): Promise<Scan[]> {
      const { directory } = one;
      try {
        return await within(directory, (opened) => look(one, opened));
      } catch (error) {
        if (directory === tree.root) throw error;
        // A removed directory is reported by its parent; the contents of an unreadable one have to be reported here.
        const unreachable = isUnreachable(error);
        update.empty(directory, unreachable && one.tell);
        if (unreachable) return [];
        throw error;
      }
    }

    for (let level = first; level.length > 0 && !isClosed();) {
      // Only reports can use an incomplete tree.
      if (!tree.whole() && !views.reported) throw new Error('the directory has too many entries');
      const queue = level[Symbol.iterator]();
      const next: Scan[] = [];
      const work = async () => {
        for (const one of queue) next.push(...(await scanOne(one)));
      };
      const ends = await Promise.allSettled(Array.from({ length: WIDTH }, work));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
      level = next;
    }
  }

  async function reconsider(name: ViewName): Promise<void> {
    const flag = viewFlags[name];
    const slice = createTimeSlice();
    const scans: Scan[] = [];
    const waiting = [tree.root];
    for (let directory = waiting.pop(); directory && !isClosed(); directory = waiting.pop()) {
      await enterView(name, directory, directory.entries);
      for (const [entryName, entry] of directory.entries) {
        const kind = kindOfEntry(entry);
        const others = seenOf(entry) & ~flag;
        const seen = directory[name]?.(pathIn(directory, entryName), kind, entryName) ? others | flag : others;
        if (seen !== seenOf(entry)) directory.entries.set(entryName, withSeen(entry, seen));
        if (kind === 'directory') {
          const below = directory.directories?.get(entryName);
          if (below && seen === 0) tree.leave(below);
          else if (below) waiting.push(below);
          else if (seen !== 0) scans.push({ directory: tree.enter(directory, entryName), tell: false, deep: false });
        }
        if (slice.due()) await slice.rest();
      }
    }
    await scan(scans);
  }

  return { within, scan, reconsider };
}
