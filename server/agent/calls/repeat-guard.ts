/** Loop guard for a model that repeats the same call: adds reminders, then stops the turn. */
import type { RepeatGuard } from '../contract/calls.ts';

const MILD = 3;
const STRONG = 5;
const FINAL = 8;
const STOP = 12;

/** Canonical JSON: sorted keys, so that equal arguments give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** Key of a call; equal calls have equal keys. */
export const callKey = (name: string, args: unknown): string => `${name}\n${canonicalJson(args)}`;

/** Creates the counter of one agent. */
export function createRepeatGuard(): RepeatGuard {
  let last: string | undefined;
  let streak = 0;
  return {
    count(key) {
      streak = key === last ? streak + 1 : 1;
      last = key;
      if (streak < MILD) return { stopTurn: false };
      const times = `This exact call was made ${streak} times in a row.`;
      if (streak < STRONG)
        return { reminder: `${times} Consider whether it can still tell you anything new.`, stopTurn: false };
      if (streak < FINAL) {
        return {
          reminder: `${times} The result will not change. Do something else, or explain what blocks you.`,
          stopTurn: false,
        };
      }
      return {
        reminder: `${times} Stop calling tools and give the user your final answer in text now.`,
        stopTurn: streak >= STOP,
      };
    },
    reset() {
      last = undefined;
      streak = 0;
    },
  };
}
