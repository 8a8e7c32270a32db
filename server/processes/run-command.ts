/** Runs a command until it exits, with limits of time and output. */
import { StringDecoder } from 'node:string_decoder';
import type { RunningProcess, Spawn, SpawnRequest } from './spawn.ts';

/** Reason why a command was stopped. */
export type StopReason = 'timeout' | 'aborted' | 'output';

export interface CommandRequest extends Omit<SpawnRequest, 'onOutput'> {
  signal: AbortSignal;
  /** Undefined if the caller applies its limit itself. */
  timeoutMs?: number;
  /** Limit in bytes for both streams together, above which the command is stopped. */
  maxOutputBytes: number;
  /** Milliseconds between SIGTERM and SIGKILL, requested when the command is stopped; 0 kills immediately. */
  graceMs(reason: StopReason): number;
  /** Receives decoded output incrementally, in whole characters; not called after the output limit. */
  onText(stream: 'stdout' | 'stderr', text: string): void;
  /** Receives every raw chunk, before `onText`. */
  onBytes?(chunk: Buffer): void;
  /** Called after the start; its output is read meanwhile. If it throws, the command is killed. */
  onStart?(running: RunningProcess): void | Promise<void>;
}

export interface CommandEnd {
  exitCode: number;
  /** Undefined if the command exited without being stopped; otherwise the first reason. */
  stopped: StopReason | undefined;
}

/** Resolves after the command, and if stopped its whole group, has exited. Rejects if the command cannot be started. */
export async function runCommand(spawn: Spawn, request: CommandRequest): Promise<CommandEnd> {
  const { signal, timeoutMs, maxOutputBytes, graceMs, onText, onBytes, onStart, ...program } = request;
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  let stopped: StopReason | undefined;
  let bytes = 0;
  let stop = (reason: StopReason) => void (stopped ??= reason);

  const tell = (stream: 'stdout' | 'stderr', text: string) => {
    if (text && stopped !== 'output') onText(stream, text);
  };
  const running = await spawn({
    ...program,
    onOutput(stream, chunk) {
      if (stopped !== 'output') onBytes?.(chunk);
      tell(stream, decoders[stream].write(chunk));
      bytes += chunk.length;
      if (bytes > maxOutputBytes) stop('output');
    },
  });
  try {
    await onStart?.(running);
  } catch (error) {
    running.stop(0);
    await running.ended;
    throw error;
  }
  // Also if it is already being stopped: an abort may allow less time than the first reason.
  stop = (reason) => {
    stopped ??= reason;
    running.stop(graceMs(reason));
  };
  if (stopped) stop(stopped);
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop('timeout'), timeoutMs);
  const onAbort = () => stop('aborted');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const exitCode = await running.ended;
    tell('stdout', decoders.stdout.end());
    tell('stderr', decoders.stderr.end());
    return { exitCode, stopped };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
