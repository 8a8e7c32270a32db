/** Which domains changed, told at most once in a window. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#server/clock.ts';
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
export function createChangeWindow(
  clock: Clock,
  current: () => EffectiveConfig,
  emit: (fields: string[]) => void,
): ChangeWindow {
  let told = current();
  let callOff: (() => void) | undefined;
  const changed = (now: EffectiveConfig): string[] => {
    const before = new Map(Object.entries(told));
    const after = new Map(Object.entries(now));
    return [...new Set([...before.keys(), ...after.keys()])]
      .filter((name) => !UNNAMED.has(name) && !isDeepStrictEqual(before.get(name), after.get(name)))
      .sort();
  };
  return {
    look() {
      if (callOff || changed(current()).length === 0) return;
      callOff = clock.setTimeout(() => {
        callOff = undefined;
        const now = current();
        const fields = changed(now);
        told = now;
        if (fields.length > 0) emit(fields);
      }, CHANGE_WINDOW_MS);
    },
    close() {
      callOff?.();
      callOff = undefined;
    },
  };
}
