/**
 * Lease on a file that one server of a home may write, with fencing: the owner of the highest `<path>.<n>` has it. A
 * dead owner's lease is taken over by linking a finished file to `<path>.<n+1>`; the link that succeeds wins. Numbers
 * only rise, also after a release, which leaves an empty file, so a slow server can never link a number that was used
 * before.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import { link, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { errorCode } from '#server/errors/errno.ts';
import { tryParseJson } from '#server/text/json.ts';
import { runAtExit } from '#server/processes/process-exit.ts';

const ownerSchema = z.object({
  /** Part of the name of its instance file, so it must contain no path separators. */
  server_id: z.string().regex(/^[\w-]+$/),
  machine: z.string(),
  pid: z.number().int(),
  start: z.string(),
});
/** A server: its id and its process. */
export type LeaseOwner = z.infer<typeof ownerSchema>;

/** A server that acquires leases, and its view of heartbeats. */
export interface LeaseHolder {
  readonly self: LeaseOwner;
  /** True if the owner of a lease is alive. */
  alive(owner: LeaseOwner): Promise<boolean>;
  /**
   * Number of silences of this server's heartbeat that were long enough for others to treat it as dead. Renews a
   * currently silent heartbeat synchronously; otherwise only compares numbers. Throws file system errors.
   */
  silences(): number;
}

export interface Lease {
  /**
   * Must be called before each write; cheap unless this server was suspended, because only then another server may have
   * taken the lease. Throws `LeaseLostError` permanently if so, and file system errors if that cannot be determined.
   */
  fence(): void;
  release(): Promise<void>;
}

/** Another server has taken the lease while this one was suspended. */
export class LeaseLostError extends Error {
  /** Undefined if the new owner has already released it. */
  readonly owner: LeaseOwner | undefined;

  constructor(path: string, owner: LeaseOwner | undefined) {
    super(`the lease of ${path} went to ${owner ? `server ${owner.server_id}` : 'another server'}`);
    this.owner = owner;
  }
}

/** Number of lost races before giving up; each means that another process linked the number. */
const MAX_ATTEMPTS = 100;

/**
 * Reference count of lease files that leases of this process own or are about to link. A file that names this process
 * but is not counted was left by a failed acquisition.
 */
const held = new Map<string, number>();

function addHeld(file: string, change: 1 | -1): void {
  const count = (held.get(file) ?? 0) + change;
  if (count > 0) held.set(file, count);
  else held.delete(file);
}

/** The live server that owns the lease; undefined if there is none. */
export async function leaseOwner(path: string, holder: LeaseHolder): Promise<LeaseOwner | undefined> {
  return liveOwner(`${path}.${await highest(path)}`, holder);
}

/** True if the last owner released the lease or it never had one; false while a live server owns it. */
export async function leaseReleased(path: string): Promise<boolean> {
  const current = await highest(path);
  return current === 0 || (await stat(`${path}.${current}`)).size === 0;
}

/** Acquires the lease, or returns the live server that owns it. The folder must exist. Throws file system errors. */
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
      // Read before the link, so that the first fence detects any silence after it.
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
 * Links the number after `current` unless another process has passed it. Throws file system errors; the number is then
 * removed if possible, and in any case it is not counted as owned by this process.
 */
async function linkNext(path: string, current: number, temporary: string): Promise<boolean> {
  const own = `${path}.${current + 1}`;
  addHeld(own, 1);
  let won = false;
  try {
    if (!(await linked(temporary, own))) return false;
    try {
      // Another process may have passed this number between the check and the link.
      won = (await highest(path)) === current + 1;
    } finally {
      if (!won) await removeQuietly(own);
    }
    return won;
  } finally {
    if (!won) addHeld(own, -1);
  }
}

/** Best effort: a file that remains names no live owner, or a process without such a lease. */
async function removeQuietly(path: string): Promise<void> {
  await rm(path).catch(() => undefined);
}

function createLease(path: string, number: number, holder: LeaseHolder, silencesSeen: number): Lease {
  const own = `${path}.${number}`;
  // Also releases the lease if the process exits before it could await the release.
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
        // The lease was taken over or the folder was removed, so there is no file to release.
        if (errorCode(error) !== 'ENOENT') throw error;
      } finally {
        addHeld(own, -1);
      }
      forget();
    },
  };
}

/** The highest number; 0 if there is no lease file, since numbers start at 1. */
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

/** A file that was removed meanwhile has no owner. */
function orGone(error: unknown): string {
  if (errorCode(error) === 'ENOENT') return '';
  throw error;
}

/** Undefined for a released lease, and for a text that was lost in a crash of the machine. */
function parseOwner(text: string): LeaseOwner | undefined {
  return ownerSchema.safeParse(tryParseJson(text)).data;
}
