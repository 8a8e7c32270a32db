/**
 * Settles sessions that a killed server left running: loads each session that is open in the index and whose lock has
 * no owner. Runs after the start and every minute, because a server on another machine is recognised as dead only after
 * a while.
 */
import type { Clock } from '#server/clock.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import { lockOwner } from '#server/journal/lock.ts';
import type { Logger } from '#server/logging/log.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { SessionIndex } from '../index/session-index.ts';

const EVERY_MS = 60_000;

export interface SessionRecovery {
  start(): void;
  /** Stops; resolves when the session that is being settled is loaded. */
  close(): Promise<void>;
}

export interface SessionRecoveryDeps {
  index: Pick<SessionIndex, 'ready' | 'openRows'>;
  live: Pick<LiveSessions, 'get' | 'open' | 'directory'>;
  holder: LeaseHolder;
  log: Logger;
  clock: Clock;
}

export function createSessionRecovery(deps: SessionRecoveryDeps): SessionRecovery {
  const { index, live, holder, log, clock } = deps;
  /** Sessions that cannot be loaded; a request for one receives the reason. */
  const failed = new Set<string>();
  let callOff = () => {};
  let running = Promise.resolve();
  let closed = false;

  async function settleAll(): Promise<void> {
    await index.ready();
    for (const header of index.openRows()) {
      if (closed) return;
      if (live.get(header.id) || failed.has(header.id)) continue;
      try {
        if (await lockOwner(live.directory(header), holder)) continue;
        await live.open(header.id);
      } catch (error) {
        failed.add(header.id);
        log.error('an interrupted session could not be settled', { sessionId: header.id, err: error });
      }
    }
  }

  function run(): void {
    running = settleAll().catch((error: unknown) => log.error('interrupted sessions were not settled', { err: error }));
    void running.then(() => {
      if (!closed) callOff = clock.setTimeout(run, EVERY_MS);
    });
  }

  return {
    start: run,
    async close() {
      closed = true;
      callOff();
      await running;
    },
  };
}
