/**
 * Loads the sessions that wake right after the start: those that a feature wants loaded without a client asking, such
 * as for scheduled jobs. Archived sessions and those of another server are skipped.
 */
import type { Feature } from '#server/agent/contract/feature.ts';
import type { Config } from '#server/config/config.ts';
import { lockOwner } from '#server/journal/lock.ts';
import type { Logger } from '#server/logging/log.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import { MAX_KEPT } from './live-cache.ts';
import type { LiveSessions } from './live-sessions.ts';
import { createSemaphore } from '#server/async/semaphore.ts';
import type { SessionHeader } from '../index/session-header.ts';
import type { SessionIndex } from '../index/session-index.ts';

const LOADS = 4;

export interface WokenSessions {
  start(): void;
  /** Resolves when the sessions that are being loaded are loaded. */
  close(): Promise<void>;
}

export interface WokenSessionsDeps {
  index: Pick<SessionIndex, 'ready' | 'wakingRows'>;
  live: Pick<LiveSessions, 'open' | 'directory'>;
  features: readonly Pick<Feature, 'name' | 'disabled'>[];
  config: Pick<Config, 'effective'>;
  holder: LeaseHolder;
  log: Pick<Logger, 'warn' | 'error'>;
}

/** Creates the service; loads nothing before `start`. */
export function createWokenSessions(deps: WokenSessionsDeps): WokenSessions {
  const { index, live, holder, log } = deps;
  let running = Promise.resolve();
  let closed = false;

  /** Names of the features that are in the list and not switched off. */
  function enabledFeatures(): ReadonlySet<string> {
    const config = deps.config.effective();
    return new Set(deps.features.filter((feature) => !feature.disabled?.(config)).map(({ name }) => name));
  }

  async function loadAll(): Promise<void> {
    await index.ready();
    const enabled = enabledFeatures();
    const rows = index.wakingRows().filter(({ wakes }) => wakes.some((name) => enabled.has(name)));
    if (rows.length > MAX_KEPT) {
      log.warn('more sessions have scheduled jobs than are kept loaded; only those used last fire', {
        sessions: rows.length,
        loaded: MAX_KEPT,
      });
    }
    const slots = createSemaphore(LOADS);
    // The most recently used session is loaded last, so that it is evicted last.
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
