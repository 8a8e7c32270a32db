/** An agent program without hooks. */
import type { Hooks } from '#server/hooks/hooks.ts';

export const noHooks: Hooks = { wanted: () => false, run: () => Promise.resolve({ texts: [] }) };
