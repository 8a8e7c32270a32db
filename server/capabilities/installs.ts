/** Installations in the background: one at a time per capability, their state in memory only. */
import { isDeepStrictEqual } from 'node:util';
import { createLatestAtRate, type LatestAtRate } from '#server/async/latest-at-rate.ts';
import type { Clock } from '#server/clock.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import { cutText } from '#server/text/truncate.ts';
import type { CapabilityInstall } from '#schema/rest/capability.ts';
import type { Installer, Progress } from './capability.ts';

/** Shortest time between two published states of one capability, in ms. */
export const PUBLISH_INTERVAL_MS = 100;
/** Percentage that an installation does not exceed before its end. */
const MAX_PERCENT = 99;
/** Longest text of a failure, in UTF-16 units. */
export const FAILURE_MAX_CHARS = 2000;

export interface Installs {
  /** The state of the capability's last installation in this process. */
  state(id: string): CapabilityInstall;
  /** Starts an installation; false while one of the capability runs. */
  start(id: string, installer: Installer): boolean;
  /** Aborts the running installations without waiting for them; no state changes afterwards. */
  close(): void;
}

export interface InstallsDeps {
  /** Called with each state, at most ten times a second per capability; the last state is always among them. */
  publish(id: string, install: CapabilityInstall): void;
  clock: Clock;
  log: Logger;
}

/** The text of a failure for clients, bounded. */
export const failureText = (error: unknown): string => cutText(errorMessage(error), FAILURE_MAX_CHARS);

/** Applies a report to the state of a running installation. */
function advanced(state: CapabilityInstall, { step = state.step, percent }: Progress): CapabilityInstall {
  const known = step === state.step ? state.percent : undefined;
  const next = percent === undefined ? known : Math.min(MAX_PERCENT, Math.max(0, Math.floor(percent)));
  return {
    running: true,
    ...(step === undefined ? {} : { step }),
    ...(next === undefined || Number.isNaN(next) ? {} : { percent: next }),
  };
}

/** Creates the installations of a server. */
export function createInstalls({ publish, clock, log }: InstallsDeps): Installs {
  const states = new Map<string, CapabilityInstall>();
  const publishers = new Map<string, LatestAtRate<CapabilityInstall>>();
  const stop = new AbortController();

  const stateOf = (id: string): CapabilityInstall => states.get(id) ?? { running: false };

  function change(id: string, install: CapabilityInstall): void {
    if (stop.signal.aborted || isDeepStrictEqual(stateOf(id), install)) return;
    states.set(id, install);
    let publisher = publishers.get(id);
    if (!publisher) {
      publisher = createLatestAtRate(clock, PUBLISH_INTERVAL_MS, (state) => publish(id, state));
      publishers.set(id, publisher);
    }
    publisher.add(install);
  }

  async function run(id: string, installer: Installer): Promise<void> {
    let ended = false;
    function report(progress: Progress): void {
      // A report after the end must not change the result, nor the state of a later installation.
      if (!ended) change(id, advanced(stateOf(id), progress));
    }
    try {
      stop.signal.throwIfAborted();
      const { note } = await installer.install(report, stop.signal);
      ended = true;
      change(id, { running: false, ...(note === undefined ? {} : { note }) });
    } catch (error) {
      ended = true;
      if (!stop.signal.aborted) log.warn('a capability could not be installed', { capability: id, err: error });
      change(id, { running: false, error: failureText(error) });
    }
  }

  return {
    state: stateOf,
    start(id, installer) {
      if (stateOf(id).running) return false;
      change(id, { running: true });
      void run(id, installer);
      return true;
    },
    close() {
      stop.abort();
      for (const publisher of publishers.values()) publisher.close();
    },
  };
}
