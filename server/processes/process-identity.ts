/** Which process of which machine: what tells a live process from a later one that was given the same number. */
import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { errorCode } from '#server/files/errno.ts';
import { processAlive } from './process-alive.ts';

export interface ProcessIdentity {
  /** Where the process number means something: one boot of one system, and there one process namespace. */
  machine: string;
  pid: number;
  /** When the process started, as the system tells it; a number alone may be given again. */
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

/** Two hosts may have one name, and all initial process namespaces have one number: only the boot tells them apart. */
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

/** This process; asked of the system once. */
export const thisProcess = (): Promise<ProcessIdentity> => (own ??= readThisProcess());

/** The identity of a process of this machine; undefined when it has exited, or the system reports no start time. */
export async function identityOf(pid: number): Promise<ProcessIdentity | undefined> {
  const [{ machine }, start] = await Promise.all([thisProcess(), processStart(pid)]);
  return start ? { machine, pid, start } : undefined;
}

/** Whether the very process runs: not a later one with its number, and not one of another machine or boot. */
export async function stillRuns({ machine, pid, start }: ProcessIdentity): Promise<boolean> {
  const now = await identityOf(pid);
  return now?.machine === machine && now.start === start;
}

/** When a process of this machine started, or undefined when there is none of this number. */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') return linuxStart(pid);
  if (!processAlive(pid)) return undefined;
  if (process.platform === 'win32') return '';
  // By its path, since npx puts folders of the project first in PATH; in one language and one time zone.
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const started = await orUndefined(
    run('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], { env }).then(({ stdout }) => stdout),
  );
  return started || undefined;
}

/** Ticks since the boot. */
async function linuxStart(pid: number): Promise<string | undefined> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ESRCH') return undefined;
    throw error;
  }
  // Behind the command name, which may hold anything: state is field 3, the start time field 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}
