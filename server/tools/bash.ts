/** Bash: one shell command in the foreground. */
import { z } from 'zod';
import { createOutputBuilder, OUTPUT_MAX_CHARS, OUTPUT_MAX_LINE_CHARS } from '#server/bounded-text.ts';
import type { OutputBuilder } from '#server/bounded-text.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { directoryProblem, resolveTarget } from '#server/files/paths.ts';
import type { Target } from '#server/files/paths.ts';
import { runCommand } from '#server/processes/run-command.ts';
import type { CommandEnd, StopReason } from '#server/processes/run-command.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import { ABORT_GRACE_MS, defineTool, failed, ToolInputError } from './tool.ts';
import type { RunContext, Tool, ToolResult } from './tool.ts';

export const BASH_DEFAULT_TIMEOUT_S = 60;
export const BASH_MAX_TIMEOUT_S = 300;
export const BASH_MAX_BACKGROUND_TIMEOUT_S = 86_400;
export const BASH_MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
export const BASH_KILL_GRACE_MS = 5000;

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

/** The shell that commands run in on that machine. */
export async function findShell({ which }: Pick<Runtime, 'which'>): Promise<string> {
  for (const path of ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash']) if (await which(path)) return path;
  return (await which('bash')) ?? '/bin/sh';
}

function commandLabel(args: BashArguments): string {
  const line = args.command.replace(/\s+/g, ' ');
  const shown = line.length > LABEL_COMMAND_CHARS ? `${line.slice(0, LABEL_COMMAND_CHARS)}…` : line;
  return args.run_in_background ? `Starting background: ${shown}` : `Running: ${shown}`;
}

function report(
  builder: OutputBuilder,
  { exitCode, stopped }: CommandEnd,
  timeoutS: number,
  maxBytes: number,
): ToolResult {
  const closing: string[] = [];
  if (stopped === 'aborted') closing.push('Interrupted by user');
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

  /** After an abort the turn ends, and the next one must not meet this command still running. */
  const graceFor = (reason: StopReason) => (reason === 'aborted' ? Math.min(graceMs(), ABORT_GRACE_MS) : graceMs());

  async function run(args: BashArguments, target: Target, context: RunContext): Promise<ToolResult> {
    const { runtime, signal } = context;
    if (signal.aborted) return failed('Interrupted by user');
    const problem = await directoryProblem(target, runtime);
    if (problem) return failed(problem);
    const timeoutS = args.timeout ?? BASH_DEFAULT_TIMEOUT_S;
    const shell = await findShell(runtime);
    const builder = createOutputBuilder();
    let end: CommandEnd;
    try {
      end = await runCommand(runtime.spawn, {
        file: shell,
        args: ['-c', args.command],
        cwd: target.path,
        // PWD is what the shell takes `cd ..` from: permissions are decided for the directory as it is named here.
        env: {
          GIT_TERMINAL_PROMPT: '0',
          ...runtime.environment(),
          NO_COLOR: '1',
          TERM: 'dumb',
          SHELL: shell,
          PWD: target.path,
        },
        signal,
        timeoutMs: timeoutS * 1000,
        maxOutputBytes,
        graceMs: graceFor,
        onText(kind, text) {
          builder.write(text);
          context.progress({ kind, text });
        },
      });
    } catch (error) {
      return failed(`The command could not be started: ${errorMessage(error)}`);
    }
    return report(builder, end, timeoutS, maxOutputBytes);
  }

  return defineTool({
    name: 'Bash',
    permission: 'ask',
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
        subject: { text: args.command, match: 'command', directory: target.path },
        run: (context) => run(args, target, context),
      };
    },
  });
}
