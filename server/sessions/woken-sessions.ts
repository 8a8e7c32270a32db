/**
 * Loads the sessions that have scheduled jobs, right after the start: jobs of others fire when those are used again.
 * Archived ones, and those that another server holds, are left alone.
 */
import { lockOwner } from '#server/journal/lock.ts';
import type { Logger } from '#server/logging/log.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import { MAX_KEPT } from './live-cache.ts';
import type { LiveSessions } from './live-sessions.ts';
import { createSlots } from '#server/slots.ts';
import type { SessionHeader } from './session-header.ts';
import type { SessionIndex } from './session-index.ts';

const LOADS = 4;

export interface CronSessions {
  start(): void;
  /** Resolves when those that are being loaded are through. */
  close(): Promise<void>;
}

export interface CronSessionsDeps {
  index: Pick<SessionIndex, 'ready' | 'cronRows'>;
  live: Pick<LiveSessions, 'open' | 'directory'>;
  /** Jobs do not fire. */
  disabled(): boolean;
  holder: LeaseHolder;
  log: Pick<Logger, 'warn' | 'error'>;
}

export function createCronSessions(deps: CronSessionsDeps): CronSessions {
  const { index, live, holder, log } = deps;
  let running = Promise.resolve();
  let closed = false;

  async function loadAll(): Promise<void> {
    await index.ready();
    if (deps.disabled()) return;
    const rows = index.cronRows();
    if (rows.length > MAX_KEPT) {
      log.warn('more sessions have scheduled jobs than are kept loaded; only those used last fire', {
        sessions: rows.length,
        loaded: MAX_KEPT,
      });
    }
    const slots = createSlots(LOADS);
    // The one used last is loaded last, so that it is also the last one to be unloaded.
    const wanted = rows.slice(0, MAX_KEPT).toReversed();
    await Promise.all(wanted.map((header) => slots.run(() => load(header))));
  }

  async function load(header: SessionHeader): Promise<void> {
    if (closed) return;
    try {
      if (!(await lockOwner(live.directory(header), holder))) await live.open(header.id);
    } catch (error) {
      log.error('a session with scheduled jobs could not be loaded', { sessionId: header.id, err: error });
    }
  }

  return {
    start() {
      running = loadAll().catch((error: unknown) => {
        log.error('sessions with scheduled jobs were not loaded', { err: error });
      });
    },
    async close() {
      closed = true;
      await running;
    },
  };
}
