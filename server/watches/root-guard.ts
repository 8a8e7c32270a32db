/** Notices that a directory goes away or comes back: its parent is watched, or the nearest ancestor that is there. */
import { basename, dirname, relative, sep } from 'node:path';
import type { SystemWatch, SystemWatcher } from './system-watch.ts';

export interface RootGuard {
  close(): void;
}

/** Calls back whenever the directory may have come or gone. What cannot be watched goes unnoticed. */
export function guardRoot(path: string, changed: () => void, system: SystemWatcher): RootGuard {
  let watch: SystemWatch | undefined;
  let closed = false;

  /** False when it is not there, or lets nobody watch. */
  function watchIn(ancestor: string): boolean {
    const [next] = relative(ancestor, path).split(sep);
    const own = basename(ancestor);
    const told = (name: string | undefined) => {
      if (name !== undefined && name !== next && name !== own) return;
      // What was watched may be gone, and what is there now another directory.
      arm();
      changed();
    };
    try {
      watch = system.watch(ancestor, told, false);
      return true;
    } catch {
      return false;
    }
  }

  function arm(): void {
    watch?.close();
    watch = undefined;
    if (closed) return;
    let ancestor = dirname(path);
    while (!watchIn(ancestor) && ancestor !== dirname(ancestor)) ancestor = dirname(ancestor);
  }

  arm();
  return {
    close() {
      closed = true;
      watch?.close();
    },
  };
}
