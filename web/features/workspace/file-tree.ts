/** The file tree of one session, updated while it is visible. */
import { shallowRef } from 'vue';
import type { Rest } from '@service-code/client';
import { listDirectories } from './requests.ts';
import { ROOT, emptyTree, openDirectories, touched, withListed, withOpen } from './tree.ts';

export type FileTree = ReturnType<typeof createFileTree>;

export function createFileTree(rest: Pick<Rest, 'request'>, sessionId: string, report: (error: unknown) => void) {
  const tree = shallowRef(emptyTree);
  /** Whether the work directory itself could not be read. */
  const failed = shallowRef(false);
  let wanted = new Set<string>();
  let reading = false;

  /** Coalesces concurrent calls: one request at a time; paths added meanwhile are read by the next. */
  async function read(paths: readonly string[]) {
    for (const path of paths) wanted.add(path);
    if (reading) return;
    reading = true;
    try {
      while (wanted.size > 0) {
        const asked = [...wanted];
        wanted = new Set();
        const found = await listDirectories(rest, sessionId, asked);
        tree.value = withListed(tree.value, asked, found);
        if (asked.includes(ROOT)) failed.value = !found.has(ROOT);
      }
    } catch (error) {
      wanted.clear();
      report(error);
    } finally {
      reading = false;
    }
  }

  return {
    tree,
    failed,
    refresh: () => read(openDirectories(tree.value)),
    /** Undefined: anything may have changed. */
    changed: (paths: readonly string[] | undefined) =>
      read(paths ? touched(tree.value, paths) : openDirectories(tree.value)),
    async toggle(path: string) {
      const opened = !tree.value.open.has(path);
      tree.value = withOpen(tree.value, path, opened);
      if (opened) await read([path]);
    },
  };
}
