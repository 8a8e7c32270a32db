/** Session logs in a temporary folder, with everything they publish, log and report. */
import { access, constants, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, onTestFinished } from 'vitest';
import { systemClock } from '#server/clock.ts';
import { frameText, type EventFrame } from '#server/events/frame.ts';
import { features } from '#server/features/features.ts';
import { openSessionLog, type SessionLog, type SessionLogOptions } from '#server/journal/session-log.ts';
import type { ServiceError } from '#server/errors/service-error.ts';
import { leaseHolder } from './lease-holder.ts';

export const SESSION_ID = 'session_S1';

export interface OpenedLog {
  log: SessionLog;
  dir: string;
  frames: EventFrame[];
  /** The durable frames as clients receive them. */
  durable(): string[];
  failures: ServiceError[];
  warnings: string[];
}

/** Linux's file system in memory: writing thousands of small files there does not wait for a disk. */
const MEMORY = '/dev/shm';

export async function temporaryFolder({ inMemory = false } = {}): Promise<{ path: string; remove(): Promise<void> }> {
  const fits =
    inMemory &&
    (await access(MEMORY, constants.W_OK).then(
      () => true,
      () => false,
    ));
  const path = await mkdtemp(join(fits ? MEMORY : tmpdir(), 'journal-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** A folder of its own for each test of the file that calls it. */
export function useTemporaryFolder(options?: { inMemory?: boolean }): { readonly path: string } {
  let folder: Awaited<ReturnType<typeof temporaryFolder>> | undefined;
  beforeEach(async () => {
    const made = await temporaryFolder(options);
    folder = made;
    // The first that is registered is called last: what the test has opened is closed before.
    onTestFinished(() => made.remove());
  });
  return {
    get path() {
      if (!folder) throw new Error('the folder exists only during a test');
      return folder.path;
    },
  };
}

export function logOptions(dir: string, extra: Partial<SessionLogOptions> = {}) {
  const frames: EventFrame[] = [];
  const failures: ServiceError[] = [];
  const warnings: string[] = [];
  const texts: string[] = [];
  const options: SessionLogOptions = {
    dir,
    sessionId: SESSION_ID,
    version: '1.0.0',
    holder: leaseHolder(),
    clock: systemClock,
    sink: {
      publish(frame) {
        frames.push(frame);
        if (!frame.volatile) texts.push(frameText(frame));
      },
    },
    log: {
      warn: (message) => void warnings.push(message),
      error: (message) => void warnings.push(message),
    },
    onFailure: (error) => void failures.push(error),
    projections: features.flatMap((feature) => feature.projection ?? []),
    ...extra,
  };
  return { options, told: { dir, frames, durable: () => texts, failures, warnings } };
}

/** Opens the log of a folder; creates the folder if it is missing. */
export async function openLog(dir: string, extra: Partial<SessionLogOptions> = {}): Promise<OpenedLog> {
  await mkdir(dir, { recursive: true });
  const { options, told } = logOptions(dir, extra);
  return { log: await openSessionLog(options), ...told };
}
