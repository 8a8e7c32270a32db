/** Identity of a process across machines; distinguishes it from a later process with the same id. */
import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { errorCode } from '#server/errors/errno.ts';
import { processAlive } from './process-alive.ts';

export interface ProcessIdentity {
  /** Scope of the process id: one boot of one system, and its process namespace. */
  machine: string;
  pid: number;
  /** Start time as the system reports it; an id may be reused. */
  start: string;
}

const run = promisify(execFile);

const orUndefined = (reading: Promise<string>): Promise<string | undefined> =>
  reading.then(
    (text) => text.trim(),
    () => undefined,
  );

async function bootId(): Promise<string> {
  let id: string | undefined;
  if (process.platform === 'linux') id = await orUndefined(readFile('/proc/sys/kernel/random/boot_id', 'utf8'));
  if (process.platform === 'darwin') {
    id = await orUndefined(run('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid']).then(({ stdout }) => stdout));
  }
  return id || hostname();
}

/** Hosts may share a name, and all initial process namespaces have the same number: only the boot id is unique. */
async function machineId(): Promise<string> {
  const namespace = process.platform === 'linux' ? await orUndefined(readlink('/proc/self/ns/pid')) : undefined;
  return [await bootId(), namespace].filter(Boolean).join(' ');
}

async function readThisProcess(): Promise<ProcessIdentity> {
  const { pid } = process;
  const [machine, start = ''] = await Promise.all([machineId(), processStart(pid)]);
  return { machine, pid, start };
}

let own: Promise<ProcessIdentity> | undefined;

/** Identity of this process, memoized. */
export const thisProcess = (): Promise<ProcessIdentity> => (own ??= readThisProcess());

/** Identity of a process of this machine; undefined if it has exited or the system reports no start time. */
export async function identityOf(pid: number): Promise<ProcessIdentity | undefined> {
  const [{ machine }, start] = await Promise.all([thisProcess(), processStart(pid)]);
  return start ? { machine, pid, start } : undefined;
}

/** True if this exact process runs, as opposed to a later one with its id or one of another machine or boot. */
export async function stillRuns({ machine, pid, start }: ProcessIdentity): Promise<boolean> {
  const now = await identityOf(pid);
  return now?.machine === machine && now.start === start;
}

/** Start time of a process of this machine; undefined if there is no process with this id. */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') return linuxStart(pid);
  if (!processAlive(pid)) return undefined;
  if (process.platform === 'win32') return '';
  // Absolute path, since npx puts folders of the project first in PATH; fixed language and time zone.
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const started = await orUndefined(
    run('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], { env }).then(({ stdout }) => stdout),
  );
  return started || undefined;
}

/** Start time in clock ticks since boot. */
async function linuxStart(pid: number): Promise<string | undefined> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ESRCH') return undefined;
    throw error;
  }
  // Fields after the command name, which may contain any characters: state is field 3, the start time field 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}
