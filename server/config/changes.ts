/** Reports changed configuration domains, debounced: at most once per window and client. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#server/clock.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { EffectiveConfig } from './effective.ts';

export const CHANGE_WINDOW_MS = 200;

/** Domains that are not part of the API. */
const UNNAMED: ReadonlySet<string> = new Set(['cloud', 'swarm']);

export interface ChangeWindow {
  /** Must be called after each change of any layer; `by` is the client that made it. */
  look(by?: Caller): void;
  close(): void;
}

/**
 * `emit` receives the sorted names of the domains that differ from its last call, and the client that made all these
 * changes (undefined for edits of the file). A change by another client ends the window, so that each is attributed
 * correctly. `seen` receives the names of each change immediately.
 */
export function createChangeWindow(
  clock: Clock,
  current: () => EffectiveConfig,
  emit: (fields: string[], by: Caller | undefined) => void,
  seen: (fields: string[], by: Caller | undefined) => void,
): ChangeWindow {
  let reported = current();
  let known = reported;
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
    const fields = changed(known, reported);
    reported = known;
    if (fields.length > 0) emit(fields, caller);
  }
  return {
    look(by) {
      const latest = current();
      const fresh = changed(latest, known);
      if (fresh.length === 0) return;
      if (cancelTimer && !isDeepStrictEqual(by, caller)) flush();
      known = latest;
      caller = by;
      seen(fresh, by);
      cancelTimer ??= clock.setTimeout(flush, CHANGE_WINDOW_MS);
    },
    close() {
      cancelTimer?.();
      cancelTimer = undefined;
    },
  };
}
