/** Spawns a program in a separate process group and stops the whole group. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { waitAtMost } from '#server/async/wait-at-most.ts';
import { coveredDescriptors } from './hidden-descriptors.ts';
import { watchMemory, withMemoryLimit } from './memory-limit.ts';
import { groupGone, killAtExit, signalGroup } from './process-group.ts';
import { identityOf, type ProcessIdentity } from './process-identity.ts';

/** How long the pipes are read after the program has exited: background children keep them open. */
export const PIPE_WAIT_MS = 250;
/** Only the kernel can delay an exit after SIGKILL; the wait is limited to this. */
const KILLED_WAIT_MS = 1000;

export interface SpawnRequest {
  file: string;
  args: readonly string[];
  cwd: string;
  /** The child's complete environment. */
  env: NodeJS.ProcessEnv;
  /** Memory limit in bytes; default: unlimited. `exceededMemory` recognizes the exit code. */
  maxMemory?: number | undefined;
  /** Content of the standard input; it is empty by default. */
  input?: string;
  /**
   * Interactive program: the caller uses `pipes`, `onOutput` receives only stderr, and children that still run when the
   * program exits are killed.
   */
  talks?: boolean;
  /** Receives output chunks as they arrive; not called after `ended` has resolved. */
  onOutput(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  /** Descriptor, open for appending, to which both streams are redirected; `onOutput` is not called then. */
  output?: number | undefined;
}

export interface RunningProcess {
  readonly pid: number;
  /** Identity that distinguishes the program from a later one with its id; undefined after its exit. Never rejects. */
  identity(): Promise<ProcessIdentity | undefined>;
  /** Only for interactive programs (`talks`). */
  readonly pipes?: { input: Writable; output: Readable };
  /**
   * The exit code, or 128 + signal number. Resolves after the program has exited, its output is read and, after `stop`,
   * the whole group has exited. Its background children are neither awaited nor killed. Never rejects.
   */
  readonly ended: Promise<number>;
  /**
   * Sends SIGTERM to the group, and SIGKILL after the grace time (0: immediately). A further call can only shorten the
   * time. No-op after the program has exited.
   */
  stop(graceMs: number): void;
  /** Lets the program continue after the server exits. */
  outlive(): void;
}

/** Rejects if the program cannot be started. The group is killed if the server exits before the program. */
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
    // A program may exit without reading its input.
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

/** Drains the stream, so that background children can write; unreferenced, so that the server can exit. */
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
    await waitAtMost(PIPE_WAIT_MS, closed);
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
      // Its id may belong to another process by then.
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

/** Creates a `Spawn` that behaves as on the given platform. */
export const createSpawn =
  (platform: NodeJS.Platform): Spawn =>
  (request) =>
    spawnOn(platform, request);

/** `Spawn` for this machine's platform. */
export const spawnGroup = createSpawn(process.platform);
