/**
 * A lease on a file that one server of a home may write: the owner of the highest `<path>.<n>` has it. A dead owner's
 * lease is taken over by linking a finished file to `<path>.<n+1>`; the link that succeeds wins. Numbers only rise,
 * also over a release, which leaves an empty file: a slow taker can so never link a number that was used before.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import { link, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { errorCode } from '#server/files/errno.ts';
import { tryParseJson } from '#server/json.ts';
import { runAtExit } from '#server/processes/process-exit.ts';

const ownerSchema = z.object({
  /** Names its instance file, so nothing that leads elsewhere. */
  server_id: z.string().regex(/^[\w-]+$/),
  machine: z.string(),
  pid: z.number().int(),
  start: z.string(),
});
/** A server: its id and its process. */
export type LeaseOwner = z.infer<typeof ownerSchema>;

/** A server that takes leases, as its heartbeat knows it. */
export interface LeaseHolder {
  readonly self: LeaseOwner;
  /** Whether the owner of a lease still lives. */
  alive(owner: LeaseOwner): Promise<boolean>;
  /**
   * How often the heartbeat was silent for so long that others may have taken this server for dead. Renews a heartbeat
   * that is silent just now, synchronously; else it only compares numbers. Throws what the file system throws.
   */
  silences(): number;
}

export interface Lease {
  /**
   * To be called before each write, and free unless this server was asleep: then another one may have taken the lease.
   * Throws `LeaseLostError` from then on; the file system's error when it cannot be told.
   */
  fence(): void;
  release(): Promise<void>;
}

/** The lease went to another server while this one was asleep. */
export class LeaseLostError extends Error {
  /** Undefined when the new owner is through with it. */
  readonly owner: LeaseOwner | undefined;

  constructor(path: string, owner: LeaseOwner | undefined) {
    super(`the lease of ${path} went to ${owner ? `server ${owner.server_id}` : 'another server'}`);
    this.owner = owner;
  }
}

/** Lost races before giving up; each one means that another process took the number. */
const MAX_ATTEMPTS = 100;

/**
 * How many leases of this process have, or are about to link, a file. A file that names this process and is not here was
 * left by an acquisition that failed.
 */
const held = new Map<string, number>();

function addHeld(file: string, change: 1 | -1): void {
  const count = (held.get(file) ?? 0) + change;
  if (count > 0) held.set(file, count);
  else held.delete(file);
}

/** The live server that holds the lease, if any. */
export async function leaseOwner(path: string, holder: LeaseHolder): Promise<LeaseOwner | undefined> {
  return liveOwner(`${path}.${await highest(path)}`, holder);
}

/** Whether the last owner gave the lease back, or there never was one; false also while a live server has it. */
export async function leaseReleased(path: string): Promise<boolean> {
  const current = await highest(path);
  return current === 0 || (await stat(`${path}.${current}`)).size === 0;
}

/** Takes the lease, or tells which live server has it. The folder must exist. Throws what the file system throws. */
export async function acquireLease(
  path: string,
  holder: LeaseHolder,
): Promise<{ lease: Lease } | { owner: LeaseOwner }> {
  const temporary = join(dirname(path), `.${basename(path)}-${process.pid}-${randomBytes(4).toString('hex')}`);
  await writeFile(temporary, JSON.stringify(holder.self), { mode: 0o600, flag: 'wx' });
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const current = await highest(path);
      const owner = await liveOwner(`${path}.${current}`, holder);
      if (owner) return { owner };
      // Before the link: a silence from here on shows at the first fence.
      const silences = holder.silences();
      if (!(await linkNext(path, current, temporary))) continue;
      await removeQuietly(`${path}.${current}`);
      return { lease: createLease(path, current + 1, holder, silences) };
    }
    throw new Error(`no lease could be taken at ${path} after ${MAX_ATTEMPTS} attempts`);
  } finally {
    await removeQuietly(temporary);
  }
}

/**
 * Links the next number after `current`, if no other process has passed it. Throws what the file system throws; then the
 * number is removed where possible, and names no owner for this process in any case.
 */
async function linkNext(path: string, current: number, temporary: string): Promise<boolean> {
  const own = `${path}.${current + 1}`;
  addHeld(own, 1);
  let won = false;
  try {
    if (!(await linked(temporary, own))) return false;
    try {
      // Another process may have passed this number between the look and the link.
      won = (await highest(path)) === current + 1;
    } finally {
      if (!won) await removeQuietly(own);
    }
    return won;
  } finally {
    if (!won) addHeld(own, -1);
  }
}

/** Cleaning up must not fail what is done; a file that stays names no live owner, or a process that has no such lease. */
async function removeQuietly(path: string): Promise<void> {
  await rm(path).catch(() => undefined);
}

function createLease(path: string, number: number, holder: LeaseHolder, silencesSeen: number): Lease {
  const own = `${path}.${number}`;
  // Also where the process ends before it could wait for the release.
  const forget = runAtExit(() => truncateSync(own));
  let seen = silencesSeen;
  let lost: LeaseLostError | undefined;
  return {
    fence() {
      if (lost) throw lost;
      const silences = holder.silences();
      if (silences === seen) return;
      const current = highestOf(readdirSync(dirname(path)), path);
      if (current !== number) {
        lost = new LeaseLostError(path, parseOwner(textSync(`${path}.${current}`)));
        throw lost;
      }
      seen = silences;
    },
    async release() {
      try {
        await truncate(own, 0);
      } catch (error) {
        // Taken over, or the folder is gone: nothing to give back.
        if (errorCode(error) !== 'ENOENT') throw error;
      } finally {
        addHeld(own, -1);
      }
      forget();
    },
  };
}

/** The highest number; 0 where there is none, which is no number of a lease. */
const highest = async (path: string) => highestOf(await readdir(dirname(path)), path);

function highestOf(names: string[], path: string): number {
  const prefix = `${basename(path)}.`;
  const numbers = names.flatMap((name) => {
    const number = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    return /^\d+$/.test(number) ? Number(number) : [];
  });
  return numbers.reduce((most, number) => Math.max(most, number), 0);
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function liveOwner(path: string, holder: LeaseHolder): Promise<LeaseOwner | undefined> {
  const text = await readFile(path, 'utf8').catch(orGone);
  const owner = parseOwner(text);
  if (!owner || (isDeepStrictEqual(owner, holder.self) && !held.has(path))) return undefined;
  return (await holder.alive(owner)) ? owner : undefined;
}

function textSync(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return orGone(error);
  }
}

/** A file that went meanwhile names nobody. */
function orGone(error: unknown): string {
  if (errorCode(error) === 'ENOENT') return '';
  throw error;
}

/** Undefined for a released lease, and for a text that the disk lost in a crash. */
function parseOwner(text: string): LeaseOwner | undefined {
  return ownerSchema.safeParse(tryParseJson(text)).data;
}
