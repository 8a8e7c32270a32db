/** Makes system calls of a running process fail, using strace. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';

export interface Fault {
  syscall: string;
  /** An error name such as `EIO`. */
  error: string;
  /** Which call of each thread fails, counted from 1; default: each. */
  nth?: number;
  /** Files whose calls fail; default: all. */
  paths?: string[];
}

/** Why faults cannot be injected on this machine; undefined if they can. */
export function straceMissing(): string | undefined {
  const { error, status, stderr } = spawnSync('strace', ['-o', '/dev/null', 'true'], { encoding: 'utf8' });
  if (error) return 'strace is not installed';
  return status === 0 ? undefined : `strace does not run here: ${stderr.trim()}`;
}

/**
 * Runs `work` while calls of the process fail; stops waiting if the process exits. Returns the failed calls as strace
 * prints them, with the paths of their descriptors.
 */
export async function withFault(process: ChildProcess, fault: Fault, work: () => Promise<void>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'service-code-strace-'));
  const log = join(folder, 'log');
  const { syscall, error, nth, paths = [] } = fault;
  const inject = `inject=${syscall}:error=${error}:when=${nth ?? '1+'}`;
  const args = ['-f', '-y', '-o', log, '-e', `trace=${syscall}`, '-e', inject, '-p', String(process.pid)];
  for (const path of paths) args.push('-P', path);
  const tracer = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(tracer, 'exit');
  const over = new AbortController();
  let printed = '';
  tracer.stderr.on('data', (piece: Buffer) => (printed += piece.toString()));
  const attached = async () => {
    await expect.poll(() => printed).toMatch(/ attached/);
    return work();
  };
  const dead = aborted(process, over.signal);
  try {
    await Promise.race([attached(), dead]);
  } finally {
    tracer.kill('SIGINT');
    // strace does not exit after the process has aborted.
    await Promise.race([exited, dead]);
    tracer.kill('SIGKILL');
    await exited;
    over.abort();
  }
  const lines = (await readFile(log, 'utf8')).split('\n');
  await rm(folder, { recursive: true });
  return injectedCalls(lines);
}

/** Resolves when the process has exited, even as a zombie: while it is traced, its parent is not notified. */
async function aborted({ pid }: ChildProcess, over: AbortSignal): Promise<void> {
  const state = () => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') X ');
  while (!over.aborted && !/\) [ZX] /.test(await state())) await delay(20);
}

/** strace prints an interrupted call in two lines, of which the second has no arguments. */
function injectedCalls(lines: string[]): string[] {
  const begun = new Map<string, string>();
  const calls: string[] = [];
  for (const line of lines) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (text.endsWith('<unfinished ...>')) begun.set(thread, text.replace(/<unfinished \.\.\.>$/, ''));
    if (text.endsWith('(INJECTED)')) calls.push(text.startsWith('<...') ? `${begun.get(thread)}${text}` : text);
  }
  return calls;
}
