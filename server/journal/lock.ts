/**
 * Who may write a session: the owner of the highest `lock.<n>` in its folder (architecture, "The journal"). A dead
 * owner's lock is taken over by linking a finished file to `lock.<n+1>`; the link that succeeds wins. Numbers only rise,
 * also over a release, which leaves an empty file: a slow taker can so never link a number that was used before.
 */
import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { link, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { processAlive } from '#server/processes/process-alive.ts';
import { errorCode } from '#server/files/errno.ts';

const ownerSchema = z.object({
  pid: z.number().int(),
  /** When the process started, in whatever form the system tells it; a pid alone may be given again. */
  start: z.string(),
});
export type LockOwner = z.infer<typeof ownerSchema>;

export interface Lock {
  release(): Promise<void>;
}

/** Lost races before giving up; each one means that another process took the number. */
const MAX_ATTEMPTS = 100;

/** The live process that holds the session in `dir`, if any. */
export async function lockOwner(dir: string): Promise<LockOwner | undefined> {
  const current = await highest(dir);
  return current === 0 ? undefined : liveOwner(lockPath(dir, current));
}

/** Whether the last owner gave the lock back, or there never was one; false also while a live process has it. */
export async function wasReleased(dir: string): Promise<boolean> {
  const current = await highest(dir);
  return current === 0 || (await stat(lockPath(dir, current)).then(({ size }) => size === 0));
}

/** Takes the session's lock, or tells which live process has it. Throws what the file system throws. */
export async function acquireLock(dir: string): Promise<{ lock: Lock } | { owner: LockOwner }> {
  const temporary = join(dir, `.lock-${process.pid}-${randomBytes(4).toString('hex')}`);
  const self: LockOwner = { pid: process.pid, start: (await processStart(process.pid)) ?? '' };
  await writeFile(temporary, JSON.stringify(self), { mode: 0o600, flag: 'wx' });
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const current = await highest(dir);
      const owner = current === 0 ? undefined : await liveOwner(lockPath(dir, current));
      if (owner) return { owner };
      const own = lockPath(dir, current + 1);
      if (!(await linked(temporary, own))) continue;
      // Somebody may have passed this number between the look and the link.
      if ((await highest(dir)) === current + 1) {
        if (current > 0) await rm(lockPath(dir, current), { force: true });
        return { lock: { release: () => truncate(own, 0) } };
      }
      await rm(own, { force: true });
    }
    throw new Error(`no lock could be taken in ${dir} after ${MAX_ATTEMPTS} attempts`);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Takes a folder that only one process may write; undefined while a live one has it. */
export async function claimFolder(dir: string): Promise<Lock | undefined> {
  const taken = await acquireLock(dir);
  return 'lock' in taken ? taken.lock : undefined;
}

const lockPath = (dir: string, number: number) => join(dir, `lock.${number}`);

async function highest(dir: string): Promise<number> {
  const numbers = (await readdir(dir)).flatMap((name) => /^lock\.(\d+)$/.exec(name)?.[1] ?? []);
  return Math.max(0, ...numbers.map(Number));
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

async function liveOwner(path: string): Promise<LockOwner | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (text === '') return undefined;
  const owner = ownerSchema.safeParse(parseJson(text)).data;
  return owner && (await processStart(owner.pid)) === owner.start ? owner : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** When the process started, or undefined when there is none of this id. */
async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') return linuxStart(pid);
  if (!processAlive(pid)) return undefined;
  if (process.platform === 'win32') return '';
  const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]);
  return stdout.trim();
}

async function linuxStart(pid: number): Promise<string | undefined> {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    ]);
    // Behind the command name, which may hold anything: state is field 3, the start time field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${boot.trim()}/${fields[19]}`;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ESRCH') return undefined;
    throw error;
  }
}
