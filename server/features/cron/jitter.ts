/** Jitter: spreads jobs of many sessions that are scheduled for the same minute, by a hash of the job's id. */
import { createHash } from 'node:crypto';

const PERIOD_SHARE = 0.1;
export const MAX_DELAY_MS = 15 * 60_000;
export const MAX_LEAD_MS = 90_000;

/** A constant per id, from 0 to 1. */
const shareOf = (id: string): number => createHash('sha256').update(id).digest().readUInt32BE(0) / 2 ** 32;

/** Delay of a recurring job, in ms; `period` is the time until its next scheduled one. */
export const delay = (id: string, period: number): number =>
  Math.floor(shareOf(id) * Math.min(period * PERIOD_SHARE, MAX_DELAY_MS));

/** Lead of a one-time job in ms: only jobs on the full or half hour are moved forward. */
export const lead = (id: string, scheduled: number): number =>
  new Date(scheduled).getMinutes() % 30 === 0 ? Math.floor(shareOf(id) * MAX_LEAD_MS) : 0;
