/** Which domains changed, told at most once in a window. */
import { isDeepStrictEqual } from 'node:util';
import type { EffectiveConfig } from './effective.ts';

export const CHANGE_WINDOW_MS = 200;

/** No domains of the API. */
const UNNAMED: ReadonlySet<string> = new Set(['cloud']);

export interface ChangeWindow {
  /** To be called after every change of any layer. */
  look(): void;
  close(): void;
}

/** `emit` gets the sorted names of the domains that differ from the last time it was called. */
export function createChangeWindow(current: () => EffectiveConfig, emit: (fields: string[]) => void): ChangeWindow {
  let told = current();
  let timer: NodeJS.Timeout | undefined;
  const changed = (now: EffectiveConfig): string[] => {
    const before = new Map(Object.entries(told));
    const after = new Map(Object.entries(now));
    return [...new Set([...before.keys(), ...after.keys()])]
      .filter((name) => !UNNAMED.has(name) && !isDeepStrictEqual(before.get(name), after.get(name)))
      .sort();
  };
  return {
    look() {
      if (timer || changed(current()).length === 0) return;
      timer = setTimeout(() => {
        timer = undefined;
        const now = current();
        const fields = changed(now);
        told = now;
        if (fields.length > 0) emit(fields);
      }, CHANGE_WINDOW_MS);
      timer.unref();
    },
    close() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
