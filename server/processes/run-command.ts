/** Running a command to its end within limits of time and output. */
import { StringDecoder } from 'node:string_decoder';
import type { RunningProcess, Spawn, SpawnRequest } from './spawn.ts';

/** Why a command did not end by itself. */
export type StopReason = 'timeout' | 'aborted' | 'output';

export interface CommandRequest extends Omit<SpawnRequest, 'onOutput'> {
  signal: AbortSignal;
  /** Absent: who asks has its own limit. */
  timeoutMs?: number;
  /** Bytes of output, both streams together, above which the command is stopped. */
  maxOutputBytes: number;
  /** Time between SIGTERM and SIGKILL, in ms; asked when the command is stopped, 0 kills at once. */
  graceMs(reason: StopReason): number;
  /** Told the output as it comes, in whole characters; nothing more once there was too much. */
  onText(stream: 'stdout' | 'stderr', text: string): void;
  /** Told every piece as it comes, before `onText`. */
  onBytes?(chunk: Buffer): void;
  /** Called when it runs; what it writes is read meanwhile. A failure ends it. */
  onStart?(running: RunningProcess): void | Promise<void>;
}

export interface CommandEnd {
  exitCode: number;
  /** Undefined when the command ended by itself. The first reason counts. */
  stopped: StopReason | undefined;
}

/** Settles when nothing that was stopped runs any more. Rejects when the command cannot be started. */
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
  // Also when it was stopped before: an abort may leave less time than what stopped it first.
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
