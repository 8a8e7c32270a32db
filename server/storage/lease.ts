/**
 * A lease on a file that one server of a home may write: the owner of the highest `<path>.<n>` has it. A dead owner's
 * lease is taken over by linking a finished file to `<path>.<n+1>`; the link that succeeds wins. Numbers only rise,
 * also over a release, which leaves an empty file: a slow taker can so never link a number that was used before.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import { link, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { errorCode } from '#server/files/errno.ts';
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

/** The live server that holds the lease, if any. */
export async function leaseOwner(path: string, holder: LeaseHolder): Promise<LeaseOwner | undefined> {
  const current = await highest(path);
  return current === 0 ? undefined : liveOwner(`${path}.${current}`, holder);
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
      const owner = current === 0 ? undefined : await liveOwner(`${path}.${current}`, holder);
      if (owner) return { owner };
      // Before the link: a silence from here on shows at the first fence.
      const silences = holder.silences();
      const own = `${path}.${current + 1}`;
      if (!(await linked(temporary, own))) continue;
      // Somebody may have passed this number between the look and the link.
      if ((await highest(path)) === current + 1) {
        if (current > 0) await rm(`${path}.${current}`, { force: true });
        return { lease: createLease(path, current + 1, holder, silences) };
      }
      await rm(own, { force: true });
    }
    throw new Error(`no lease could be taken at ${path} after ${MAX_ATTEMPTS} attempts`);
  } finally {
    await rm(temporary, { force: true });
  }
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
        lost = new LeaseLostError(path, current > number ? parseOwner(textSync(`${path}.${current}`)) : undefined);
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
      }
      forget();
    },
  };
}

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
  return owner && (await holder.alive(owner)) ? owner : undefined;
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
  try {
    return ownerSchema.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined;
    throw error;
  }
}
