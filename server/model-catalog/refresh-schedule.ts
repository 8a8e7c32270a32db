/**
 * Refreshes the models of the home at the start and by an interval. Of several servers of a home one refreshes; a home
 * without a provider that can be refreshed sends no request.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Documents } from '#server/storage/documents.ts';
import { acquireLease, leaseOwner, type Lease, type LeaseHolder } from '#server/storage/lease.ts';

const FOLDER = 'cache';
const FILE = 'model-refresh.json';
const KEY = `${FOLDER}:${FILE}`;
/** `at`: end of the last run. */
const lastRunSchema = z.object({ at: z.iso.datetime(), server_id: z.string() });

/** The first replies of the server must not wait for modules and requests of a refresh. */
const START_DELAY_MS = 100;
const DEFAULT_INTERVAL_MS = 21_600_000;
/** Servers that start at the same time refresh a single time. */
const RECENT_MS = 60_000;
/** Between two checks whether the run of another server has ended. */
const POLL_MS = 1000;

export interface RefreshSchedule {
  /** To be called once the server listens. */
  start(): void;
  /** Starts no further run. */
  stop(): void;
  /** Resolves when no run is in progress. Never rejects. */
  settled(): Promise<void>;
}

export interface RefreshScheduleDeps {
  home: string;
  serverId: string;
  holder: LeaseHolder;
  documents: Documents;
  config: Pick<Config, 'effective' | 'onSeen'>;
  /** Whether a provider of the home can be refreshed. */
  hasSources(): Promise<boolean>;
  /** Refreshes all providers; failures of sources are not errors. */
  refresh(): Promise<unknown>;
  clock: Clock;
  log: Logger;
}

/** Creates the schedule; nothing runs before its start. */
export function createRefreshSchedule(deps: RefreshScheduleDeps): RefreshSchedule {
  const { home, serverId, holder, documents, config, hasSources, refresh, clock, log } = deps;
  const path = join(home, FOLDER, `${FILE}.lock`);
  let stopped = false;
  let running: Promise<void> | undefined;
  let cancelStart = () => {};
  let cancelTimer = () => {};
  /** Ends the wait for the run of another server. */
  let wake = () => {};

  const settings = () => config.effective().modelCatalog ?? {};
  const intervalMs = () => settings().refreshIntervalMs ?? DEFAULT_INTERVAL_MS;

  /** Returns the lease after any run of another server; undefined if the schedule was stopped meanwhile. */
  async function acquire(): Promise<Lease | undefined> {
    await mkdir(join(home, FOLDER), { recursive: true, mode: 0o700 });
    for (;;) {
      if (stopped) return undefined;
      if (!(await leaseOwner(path, holder))) {
        const taken = await acquireLease(path, holder);
        if ('lease' in taken) return taken.lease;
      }
      await new Promise<void>((resolve) => {
        const cancel = clock.setTimeout(resolve, POLL_MS);
        wake = () => {
          cancel();
          resolve();
        };
      });
    }
  }

  async function isRecent(isRecentRun: (ageMs: number, server: string) => boolean): Promise<boolean> {
    // An unreadable document is treated as missing.
    const last = await documents.get(KEY, lastRunSchema).catch(() => undefined);
    const ageMs = last ? clock.now() - Date.parse(last.at) : -1;
    // A time in the future was written with another clock.
    return last !== undefined && ageMs >= 0 && isRecentRun(ageMs, last.server_id);
  }

  async function attempt(isRecentRun: (ageMs: number, server: string) => boolean): Promise<void> {
    if (!(await hasSources())) return;
    const lease = await acquire();
    if (!lease) return;
    try {
      if (await isRecent(isRecentRun)) return;
      await refresh();
      lease.fence();
      const at = new Date(clock.now()).toISOString();
      await documents.set(KEY, lastRunSchema, { at, server_id: serverId });
    } finally {
      await lease.release();
    }
  }

  function launch(isRecentRun: (ageMs: number, server: string) => boolean): void {
    if (stopped || running) return;
    running = attempt(isRecentRun)
      .catch((error: unknown) => {
        if (!stopped) log.warn('the scheduled refresh of models failed', { err: error });
      })
      .finally(() => (running = undefined));
  }

  /** The interval is read again after each run and when it changes. */
  function arm(): void {
    cancelTimer();
    const ms = intervalMs();
    if (stopped || ms === 0) return;
    cancelTimer = clock.setTimeout(() => {
      launch((ageMs) => ageMs < ms / 2);
      arm();
    }, ms);
  }
  const unsubscribe = config.onSeen(({ fields }) => {
    if (fields.includes('modelCatalog')) arm();
  });

  return {
    start() {
      arm();
      if (settings().refreshOnStart === false) return;
      cancelStart = clock.setTimeout(
        () => launch((ageMs, server) => server !== serverId && ageMs < RECENT_MS),
        START_DELAY_MS,
      );
    },
    stop() {
      stopped = true;
      unsubscribe();
      cancelStart();
      cancelTimer();
      wake();
    },
    settled: async () => running,
  };
}
