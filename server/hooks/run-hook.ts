/** Runs one command of a hook; a stopped command has exited completely when the call settles. */
import type { Spawn, SpawnRequest } from '#server/processes/spawn.ts';

/** Bytes read per pipe; the rest is dropped. */
export const HOOK_PIPE_BYTES = 1024 * 1024;
/** Time between SIGTERM and SIGKILL after a time-out. */
export const HOOK_KILL_GRACE_MS = 100;

export interface HookCommand extends Pick<SpawnRequest, 'cwd' | 'env'> {
  command: string;
  /** Written to its standard input. */
  input: string;
  timeoutMs: number;
  /** Kills it immediately. */
  signal: AbortSignal;
}

export interface HookEnd {
  exitCode: number;
  /** Undefined when it exited without being stopped. */
  stopped: 'timeout' | 'aborted' | undefined;
  stdout: string;
  stderr: string;
}

/** Retains the first bytes of a pipe. */
function boundedOutput() {
  const kept: Buffer[] = [];
  let room = HOOK_PIPE_BYTES;
  return {
    take(chunk: Buffer) {
      if (room === 0) return;
      const piece = chunk.subarray(0, room);
      room -= piece.length;
      kept.push(piece);
    },
    text: () => Buffer.concat(kept).toString('utf8'),
  };
}

/**
 * Runs the command with `/bin/sh`: bash reads the user's `~/.bashrc` when its standard input is a socket. Rejects when
 * it cannot be started.
 */
export async function runHook(spawn: Spawn, request: HookCommand): Promise<HookEnd> {
  const { command, cwd, env, input, timeoutMs, signal } = request;
  const pipes = { stdout: boundedOutput(), stderr: boundedOutput() };
  signal.throwIfAborted();
  const running = await spawn({
    file: '/bin/sh',
    args: ['-c', command],
    cwd,
    env,
    input,
    onOutput: (pipe, chunk) => pipes[pipe].take(chunk),
  });
  let stopped: HookEnd['stopped'];
  const stop = (reason: 'timeout' | 'aborted') => {
    stopped ??= reason;
    running.stop(reason === 'timeout' ? HOOK_KILL_GRACE_MS : 0);
  };
  const timer = setTimeout(() => stop('timeout'), timeoutMs);
  const onAbort = () => stop('aborted');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const exitCode = await running.ended;
    return { exitCode, stopped, stdout: pipes.stdout.text(), stderr: pipes.stderr.text() };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
