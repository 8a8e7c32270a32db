/** Jobs of many sessions that ask for the same minute do not all come at once: each has its own share of a delay. */
import { createHash } from 'node:crypto';

const PERIOD_SHARE = 0.1;
export const MAX_DELAY_MS = 15 * 60_000;
export const MAX_LEAD_MS = 90_000;

/** Between 0 and 1, the same for an id at all times. */
const shareOf = (id: string): number => createHash('sha256').update(id).digest().readUInt32BE(0) / 2 ** 32;

/** How much later a recurring job comes, in ms; `period` is the time until it would come again. */
export const delay = (id: string, period: number): number =>
  Math.floor(shareOf(id) * Math.min(period * PERIOD_SHARE, MAX_DELAY_MS));

/** How much earlier a job comes that comes once, in ms: one that was put on the full or the half hour. */
export const lead = (id: string, scheduled: number): number =>
  new Date(scheduled).getMinutes() % 30 === 0 ? Math.floor(shareOf(id) * MAX_LEAD_MS) : 0;
