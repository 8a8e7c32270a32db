/** Scalar shapes that many wire schemas share. */
import * as z from 'zod';

/** ISO 8601, UTC, with milliseconds. */
export const isoTime = z.string();
/** Non-empty text, mostly ids. */
export const nonEmpty = z.string().min(1);
export const count = z.number().int().min(0);

export const workspaceId = z.string().regex(/^wd_[a-z0-9._-]+_[0-9a-f]{12}$/, {
  error: 'workspace_id must be a wd_<slug>_<hash12> string',
});

export const pendingInteraction = z.enum(['none', 'approval', 'question']);
export type PendingInteraction = z.infer<typeof pendingInteraction>;

export const turnOutcome = z.enum(['completed', 'cancelled', 'failed']);
export type TurnOutcome = z.infer<typeof turnOutcome>;

/** Which tool calls need the user's approval. */
export const permissionModeSchema = z.enum(['manual', 'yolo', 'auto']);
export type PermissionMode = z.infer<typeof permissionModeSchema>;

let lastMs: number | undefined;
let lastIso = '';
let lastSecond: number | undefined;
/** ISO form of the last second, up to and including the dot before the milliseconds. */
let isoBeginning = '';

/**
 * Formats milliseconds since the epoch as ISO 8601, the format of all replies. Memoizes the last result and its second:
 * records of one batch have the same time, and following records are close to it.
 */
export function iso(ms: number): string {
  if (ms === lastMs) return lastIso;
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    isoBeginning = new Date(second * 1000).toISOString().slice(0, -4);
    lastSecond = second;
  }
  lastIso = `${isoBeginning}${String(Math.trunc(ms - second * 1000)).padStart(3, '0')}Z`;
  lastMs = ms;
  return lastIso;
}
