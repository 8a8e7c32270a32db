/** Reports changed configuration domains, debounced: at most once per window and client. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#server/clock.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { EffectiveConfig } from './effective.ts';
import type { StoredConfig } from './stored.ts';

export const CHANGE_WINDOW_MS = 200;

/** Domains that are not part of the API. */
const UNNAMED: ReadonlySet<string> = new Set(['cloud', 'swarm']);

/** A change of the configuration, published immediately. */
export interface SeenChange {
  /** Sorted names of the domains whose value in effect changed. */
  fields: string[];
  /** The client that made the change; undefined for edits of the file and for changes by the server itself. */
  by: Caller | undefined;
  /** The `origin` that the writer passed to `Config.update`; undefined for all other changes. */
  origin: symbol | undefined;
  /** The file layer before and after the change. Contains secrets. */
  before: StoredConfig;
  after: StoredConfig;
}

/** The author of a change: the client that requested it, and the part of the server that wrote it. */
export interface Author {
  by?: Caller | undefined;
  origin?: symbol | undefined;
}

export interface Layers {
  effective: EffectiveConfig;
  stored: StoredConfig;
}

export interface ChangeWindow {
  /** Must be called after each change of any layer. */
  look(author?: Author): void;
  close(): void;
}

/**
 * `emit` receives the sorted names of the domains that differ from its last call, and the client that made all these
 * changes (undefined for edits of the file). A change by another client ends the window, so that each is attributed
 * correctly. `seen` receives each change immediately.
 */
export function createChangeWindow(
  clock: Clock,
  current: () => Layers,
  emit: (fields: string[], by: Caller | undefined) => void,
  seen: (change: SeenChange) => void,
): ChangeWindow {
  let known = current();
  let reported = known;
  let caller: Caller | undefined;
  let cancelTimer: (() => void) | undefined;
  const changed = (now: EffectiveConfig, from: EffectiveConfig): string[] => {
    const before = new Map(Object.entries(from));
    const after = new Map(Object.entries(now));
    return [...new Set([...before.keys(), ...after.keys()])]
      .filter((name) => !UNNAMED.has(name) && !isDeepStrictEqual(before.get(name), after.get(name)))
      .sort();
  };
  function flush(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    const fields = changed(known.effective, reported.effective);
    reported = known;
    if (fields.length > 0) emit(fields, caller);
  }
  return {
    look({ by, origin } = {}) {
      const latest = current();
      const fields = changed(latest.effective, known.effective);
      if (fields.length === 0) return;
      if (cancelTimer && !isDeepStrictEqual(by, caller)) flush();
      const before = known.stored;
      known = latest;
      caller = by;
      seen({ fields, by, origin, before, after: latest.stored });
      cancelTimer ??= clock.setTimeout(flush, CHANGE_WINDOW_MS);
    },
    close() {
      cancelTimer?.();
      cancelTimer = undefined;
    },
  };
}
