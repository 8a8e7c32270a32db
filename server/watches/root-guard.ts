/** Detects that a directory is removed or created, by watching its parent or the nearest existing ancestor. */
import { basename, dirname, relative, sep } from 'node:path';
import type { SystemWatch, SystemWatcher } from './system-watch.ts';

export interface RootGuard {
  close(): void;
}

/** Calls back whenever the directory may have been created or removed. Ancestors that cannot be watched are skipped. */
export function guardRoot(path: string, changed: () => void, system: SystemWatcher): RootGuard {
  let watch: SystemWatch | undefined;
  let closed = false;

  /** Returns false when the ancestor does not exist or cannot be watched. */
  function watchIn(ancestor: string): boolean {
    const [next] = relative(ancestor, path).split(sep);
    const own = basename(ancestor);
    const onChange = (name: string | undefined) => {
      if (name !== undefined && name !== next && name !== own) return;
      // The watched directory may have been removed, and another created at its path.
      arm();
      changed();
    };
    try {
      watch = system.watch(ancestor, onChange, false);
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
