/** Starting a program in a process group of its own, and stopping the whole group. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { atMost } from './at-most.ts';
import { coveredDescriptors } from './hidden-descriptors.ts';
import { watchMemory, withMemoryLimit } from './memory-limit.ts';
import { groupGone, killAtExit, signalGroup } from './process-group.ts';
import { identityOf, type ProcessIdentity } from './process-identity.ts';

/** How long the pipes are read after the program has ended: what it left running keeps them open. */
export const PIPE_WAIT_MS = 250;
/** After SIGKILL only the kernel can hold a process back; it is not waited for longer. */
const KILLED_WAIT_MS = 1000;

export interface SpawnRequest {
  file: string;
  args: readonly string[];
  cwd: string;
  /** All variables of the child. */
  env: NodeJS.ProcessEnv;
  /** Bytes of memory that the program may allocate; unlimited by default. `exceededMemory` recognizes its exit code. */
  maxMemory?: number | undefined;
  /** What the program reads from its standard input; closed without it. */
  input?: string;
  /**
   * The program is talked with for as long as it runs: `pipes` are the caller's, `onOutput` is told its errors alone, and
   * what it leaves running when it exits is killed.
   */
  talks?: boolean;
  /** Told what the program writes, as it comes; nothing after `ended`. */
  onOutput(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  /** A file of this process that is open for appending: both streams go there, and `onOutput` is told nothing. */
  output?: number | undefined;
}

export interface RunningProcess {
  readonly pid: number;
  /** What distinguishes the program from a later one with its number; undefined once it has exited. Never rejects. */
  identity(): Promise<ProcessIdentity | undefined>;
  /** Of a program that is talked with. */
  readonly pipes?: { input: Writable; output: Readable };
  /**
   * The exit code, 128 + its number for death by a signal. Settles once the program has exited, its output is read and,
   * after `stop`, the whole group is gone. What it left running behind is not waited for and left alone. Never rejects.
   */
  readonly ended: Promise<number>;
  /**
   * SIGTERM to the group, SIGKILL after the grace time, at once when that is 0. Another call can only shorten it. No
   * effect once the program has exited.
   */
  stop(graceMs: number): void;
  /** The end of the server does not kill it any more. */
  outlive(): void;
}

/** Rejects when the program cannot be started. The group is killed when the server exits before the program does. */
export type Spawn = (request: SpawnRequest) => Promise<RunningProcess>;

function start(request: SpawnRequest, platform: NodeJS.Platform): Promise<ChildProcess & { pid: number }> {
  const { cwd, env, input, talks = false, output = 'pipe', maxMemory } = request;
  const { file, args } = maxMemory === undefined ? request : withMemoryLimit(request, maxMemory, platform);
  return new Promise((resolve, reject) => {
    const stdin = input === undefined && !talks ? 'ignore' : 'pipe';
    const child = spawn(file, args, {
      cwd,
      env,
      detached: true,
      stdio: [stdin, output, output, ...coveredDescriptors()],
    });
    // A program may end without having read it.
    child.stdin?.on('error', () => undefined);
    if (!talks) child.stdin?.end(input);
    child.once('error', reject);
    child.once('spawn', () => {
      const { pid } = child;
      if (pid === undefined) reject(new Error(`${file} has no process id`));
      else resolve(Object.assign(child, { pid }));
    });
  });
}

/** Reads on without keeping anything, so that what still runs can write; the server may end meanwhile. */
function letGo(stream: Readable | null): void {
  stream?.removeAllListeners('data');
  stream?.on('error', () => undefined);
  stream?.resume();
  if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
}

async function spawnOn(platform: NodeJS.Platform, request: SpawnRequest): Promise<RunningProcess> {
  const child = await start(request, platform);
  const groupId = child.pid;
  const survive = killAtExit(groupId);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<number>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))),
  );
  if (!request.talks) child.stdout?.on('data', (chunk: Buffer) => request.onOutput('stdout', chunk));
  child.stderr?.on('data', (chunk: Buffer) => request.onOutput('stderr', chunk));

  let running = true;
  let killAt = Infinity;
  let killTimer: NodeJS.Timeout | undefined;
  let stopped: Promise<void> | undefined;
  let abandon = () => {};
  const abandoned = new Promise<number>((resolve) => (abandon = () => resolve(128 + constants.signals.SIGKILL)));

  function stop(graceMs: number): void {
    const at = performance.now() + graceMs;
    if ((!running && !stopped) || at >= killAt) return;
    killAt = at;
    clearTimeout(killTimer);
    const kill = () => void signalGroup(groupId, 'SIGKILL');
    if (graceMs <= 0) kill();
    else {
      if (!stopped) signalGroup(groupId, 'SIGTERM');
      killTimer = setTimeout(kill, graceMs);
    }
    stopped ??= groupGone(groupId, () => killAt + KILLED_WAIT_MS).then(() => {
      clearTimeout(killTimer);
      abandon();
    });
  }

  const { maxMemory: maxBytes } = request;
  const unwatch = maxBytes && watchMemory(groupId, { maxBytes, platform, onExceeded: () => stop(0) });

  async function end(): Promise<number> {
    const exitCode = await Promise.race([exited, abandoned]);
    if (unwatch) unwatch();
    running = false;
    if (request.talks && !stopped) signalGroup(groupId, 'SIGKILL');
    // Children that outlive the shell of a stopped command are still in its group.
    await stopped;
    survive();
    await atMost(PIPE_WAIT_MS, closed);
    child.stdin?.destroy();
    letGo(child.stdout);
    letGo(child.stderr);
    return exitCode;
  }

  const { stdin: input, stdout: output } = child;
  return {
    pid: groupId,
    async identity() {
      const identity = await identityOf(groupId).catch(() => undefined);
      // Its number may belong to another process by then.
      return running ? identity : undefined;
    },
    ...(request.talks && input && output ? { pipes: { input, output } } : {}),
    ended: end(),
    stop,
    outlive() {
      survive();
      child.unref();
    },
  };
}

/** Creates what spawns on this machine as on a system of that platform. */
export const createSpawn =
  (platform: NodeJS.Platform): Spawn =>
  (request) =>
    spawnOn(platform, request);

/** Spawns on this machine. */
export const spawnGroup = createSpawn(process.platform);
