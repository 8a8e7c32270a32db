/** Bash: one shell command in the foreground (engine.md §5.4). */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { createOutputBuilder, OUTPUT_MAX_CHARS, OUTPUT_MAX_LINE_CHARS } from '#server/bounded-text.ts';
import type { OutputBuilder } from '#server/bounded-text.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { findOnPath, isExecutable } from '#server/processes/executables.ts';
import { directoryProblem, movedSince, resolveTarget } from '#server/files/paths.ts';
import type { Target } from '#server/files/paths.ts';
import { killAtExit, terminateGroup } from '#server/processes/process-group.ts';
import { defineTool, failed, ToolInputError } from './tool.ts';
import type { RunContext, Tool, ToolResult } from './tool.ts';

export const BASH_DEFAULT_TIMEOUT_S = 60;
export const BASH_MAX_TIMEOUT_S = 300;
export const BASH_MAX_BACKGROUND_TIMEOUT_S = 86_400;
export const BASH_MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
export const BASH_KILL_GRACE_MS = 5000;
/** How long the pipes are read after the shell has ended. */
export const BASH_PIPE_WAIT_MS = 250;

const LABEL_COMMAND_CHARS = 50;
const BACKGROUND_TOOLS = ['TaskList', 'TaskOutput', 'TaskStop'];

export interface BashOptions {
  /** Time between SIGTERM and SIGKILL, in ms; asked at every kill (`task.kill_grace_period_ms`). */
  killGraceMs?: () => number;
  /** Bytes of output that kill a command. */
  maxOutputBytes?: number;
}

const parameters = z
  .object({
    command: z.string().min(1).describe('The command line, run by the shell with -c.'),
    cwd: z.string().optional().describe('Directory to run in. Default is the working directory.'),
    timeout: z
      .int()
      .min(1)
      .max(BASH_MAX_BACKGROUND_TIMEOUT_S)
      .optional()
      .describe(
        `Seconds until the command is killed. Default ${BASH_DEFAULT_TIMEOUT_S}, at most ${BASH_MAX_TIMEOUT_S}.`,
      ),
    description: z.string().optional().describe('What the command does, in a few words, for people.'),
    run_in_background: z.boolean().optional().describe('Start the command and go on without waiting for it.'),
    disable_timeout: z.boolean().optional().describe('No time limit; only together with run_in_background.'),
  })
  .superRefine((args, issues) => {
    if (args.run_in_background) return;
    if (args.timeout !== undefined && args.timeout > BASH_MAX_TIMEOUT_S) {
      issues.addIssue({
        code: 'too_big',
        maximum: BASH_MAX_TIMEOUT_S,
        origin: 'number',
        inclusive: true,
        input: args.timeout,
        path: ['timeout'],
      });
    }
    if (args.disable_timeout) {
      issues.addIssue({ code: 'custom', message: 'needs run_in_background', input: true, path: ['disable_timeout'] });
    }
  });
type BashArguments = z.output<typeof parameters>;

/** The shell that commands run in. */
export async function findShell(): Promise<string> {
  for (const path of ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash']) if (await isExecutable(path)) return path;
  return (await findOnPath('bash')) ?? '/bin/sh';
}

function commandLabel(args: BashArguments): string {
  const line = args.command.replace(/\s+/g, ' ');
  const shown = line.length > LABEL_COMMAND_CHARS ? `${line.slice(0, LABEL_COMMAND_CHARS)}…` : line;
  return args.run_in_background ? `Starting background: ${shown}` : `Running: ${shown}`;
}

function childEnvironment(shell: string): NodeJS.ProcessEnv {
  // The server's own second credential is nobody's business in there.
  const { SERVICE_CODE_PASSWORD: _password, ...inherited } = process.env;
  return { GIT_TERMINAL_PROMPT: '0', ...inherited, NO_COLOR: '1', TERM: 'dumb', SHELL: shell };
}

/** Rejects when the shell cannot be started. */
function startShell(shell: string, command: string, cwd: string): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(shell, ['-c', command], {
      cwd,
      env: childEnvironment(shell),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.once('spawn', () => resolve(child));
    child.once('error', reject);
  });
}

type Stopped = 'timeout' | 'interrupted' | 'output';

interface Ended {
  exitCode: number;
  stopped: Stopped | undefined;
}

interface Pipe {
  /** Keeps nothing more. The stream goes on flowing, so that what still runs can write; the server may end meanwhile. */
  letGo(): void;
}

/** Hands on decoded text; a character split between two chunks comes whole with the second. */
function readPipe(stream: Readable | null, onChunk: (bytes: number, text: string) => void): Pipe {
  const decoder = new StringDecoder('utf8');
  const onData = (chunk: Buffer) => onChunk(chunk.length, decoder.write(chunk));
  stream?.on('data', onData);
  return {
    letGo() {
      const rest = decoder.end();
      if (rest) onChunk(0, rest);
      stream?.off('data', onData);
      stream?.on('error', () => undefined);
      if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
    },
  };
}

const pause = (ms: number, until: Promise<unknown>) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    void until.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Waits for the command and collects its output; kills its whole group on time-out, abort or too much output. */
async function supervise(
  child: ChildProcess,
  limits: { timeoutMs: number; graceMs: () => number; maxOutputBytes: number },
  builder: OutputBuilder,
  context: RunContext,
): Promise<Ended> {
  let stopped: Stopped | undefined;
  let bytes = 0;
  let termination: Promise<void> | undefined;
  let giveUp = () => {};
  const abandoned = new Promise<void>((resolve) => (giveUp = resolve));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<number>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))),
  );

  const stop = (why: Stopped) => {
    if (stopped || child.pid === undefined) return;
    stopped = why;
    termination = terminateGroup(child.pid, limits.graceMs()).then(giveUp);
  };
  const receive = (kind: 'stdout' | 'stderr') => (size: number, text: string) => {
    bytes += size;
    if (stopped === 'output') return;
    if (text) {
      builder.write(text);
      context.progress({ kind, text });
    }
    if (bytes > limits.maxOutputBytes) stop('output');
  };
  const pipes = [readPipe(child.stdout, receive('stdout')), readPipe(child.stderr, receive('stderr'))];
  const timer = setTimeout(() => stop('timeout'), limits.timeoutMs);
  const survive = child.pid === undefined ? undefined : killAtExit(child.pid);
  const onAbort = () => stop('interrupted');
  context.signal.addEventListener('abort', onAbort, { once: true });
  if (context.signal.aborted) onAbort();

  const exitCode = await Promise.race([exited, abandoned.then(() => 128 + constants.signals.SIGKILL)]);
  clearTimeout(timer);
  context.signal.removeEventListener('abort', onAbort);
  // Children that outlive the shell of a stopped command are still in its group.
  await termination;
  survive?.();
  await pause(BASH_PIPE_WAIT_MS, closed);
  for (const pipe of pipes) pipe.letGo();
  return { exitCode, stopped };
}

function report(builder: OutputBuilder, { exitCode, stopped }: Ended, timeoutS: number, maxBytes: number): ToolResult {
  const closing: string[] = [];
  if (stopped === 'interrupted') closing.push('Interrupted by user');
  else {
    if (stopped === 'timeout') closing.push(`The command was killed after its time limit of ${timeoutS} s.`);
    if (stopped === 'output') closing.push(`The command was killed because it wrote more than ${maxBytes} bytes.`);
    if (stopped || exitCode !== 0) closing.push(`Exit code: ${exitCode}`);
  }
  const { output, truncated } = builder.finish(closing);
  return { output, ...(truncated ? { truncated } : {}), ...(closing.length > 0 ? { isError: true } : {}) };
}

/** Makes the tool; `options` carry what configuration decides. */
export function createBashTool(options: BashOptions = {}): Tool {
  const graceMs = options.killGraceMs ?? (() => BASH_KILL_GRACE_MS);
  const maxOutputBytes = options.maxOutputBytes ?? BASH_MAX_OUTPUT_BYTES;

  async function run(args: BashArguments, target: Target, context: RunContext): Promise<ToolResult> {
    if (context.signal.aborted) return failed('Interrupted by user');
    const problem = (await movedSince(target)) ?? (await directoryProblem(target.path));
    if (problem) return failed(problem);
    const timeoutS = args.timeout ?? BASH_DEFAULT_TIMEOUT_S;
    let child: ChildProcess;
    try {
      child = await startShell(await findShell(), args.command, target.path);
    } catch (error) {
      return failed(`The command could not be started: ${errorMessage(error)}`);
    }
    const builder = createOutputBuilder();
    const limits = { timeoutMs: timeoutS * 1000, graceMs, maxOutputBytes };
    const ended = await supervise(child, limits, builder, context);
    return report(builder, ended, timeoutS, maxOutputBytes);
  }

  return defineTool({
    name: 'Bash',
    description: [
      'Runs a shell command and returns its output, stdout and stderr together.',
      'Every call is a fresh shell: directory changes and variables do not last. Standard input is closed, so nothing can be typed in.',
      `It is killed with everything it started after ${BASH_DEFAULT_TIMEOUT_S} seconds, or after timeout seconds (at most ${BASH_MAX_TIMEOUT_S}).`,
      `Output is cut to ${OUTPUT_MAX_CHARS} characters and ${OUTPUT_MAX_LINE_CHARS} a line. A failing command ends with a line giving its exit code.`,
      'Prefer Read, Grep, Glob, Edit and Write over cat, grep, find, sed and echo.',
    ].join('\n'),
    parameters,
    async prepare(args, environment) {
      const target = await resolveTarget(args.cwd ?? '.', environment);
      if (args.run_in_background) {
        const missing = BACKGROUND_TOOLS.filter((name) => !environment.activeTools.has(name));
        const why =
          missing.length > 0 ? `the tools ${missing.join(', ')} are not active` : 'this server cannot start them';
        throw new ToolInputError(`Commands cannot run in the background: ${why}. Run it in the foreground.`);
      }
      return {
        accesses: [{ kind: 'all' }],
        label: commandLabel(args),
        display: {
          kind: 'command',
          command: args.command,
          cwd: args.cwd ?? environment.cwd,
          ...(args.description ? { description: args.description } : {}),
          language: 'bash',
        },
        subject: { text: args.command, match: 'command' },
        run: (context) => run(args, target, context),
      };
    },
  });
}
