/** Bash: runs one shell command, which the call waits for or starts in the background. */
import * as z from 'zod';
import { createOutputBuilder, cutText, OUTPUT_MAX_CHARS, OUTPUT_MAX_LINE_CHARS } from '#server/text/truncate.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { directoryProblem, resolveTarget } from '#server/runtime/path-policy.ts';
import type { Target } from '#server/runtime/path-policy.ts';
import type { ProcessIdentity } from '#server/processes/process-identity.ts';
import { runCommand } from '#server/processes/run-command.ts';
import { withExplicitRepositories } from '#server/git/environment.ts';
import type { CommandEnd } from '#server/processes/run-command.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import { BACKGROUND_TOOLS } from '#server/tasks/background-tools.ts';
import { OUTPUT_MAX_BYTES } from '#server/tasks/output.ts';
import { stopOf, type RunningTask, type TaskEnd, type WaitingCall } from '#server/tasks/task.ts';
import { endedResult, movedText, startedText, taskDescription } from './bash-texts.ts';
import { ABORT_GRACE_MS, defineTool, failed, ToolInputError } from '#server/tools/tool.ts';
import type { RunContext, ToolEnvironment, ToolResult } from '#server/tools/tool.ts';

export const BASH_DEFAULT_TIMEOUT_S = 60;
export const BASH_MAX_TIMEOUT_S = 300;
export const BASH_MAX_BACKGROUND_TIMEOUT_S = 86_400;
export const BASH_DEFAULT_BACKGROUND_TIMEOUT_S = 600;

const LABEL_COMMAND_CHARS = 50;
/** Exit codes of shells above it encode signals. */
const SIGNAL_CODES = 128;

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
        `Seconds that the command may take. Default ${BASH_DEFAULT_TIMEOUT_S}, at most ${BASH_MAX_TIMEOUT_S}; in the background ${BASH_DEFAULT_BACKGROUND_TIMEOUT_S} and ${BASH_MAX_BACKGROUND_TIMEOUT_S}.`,
      ),
    description: z
      .string()
      .optional()
      .describe('What the command does, in a few words, for people. Needed with run_in_background.'),
    run_in_background: z
      .boolean()
      .optional()
      .describe('Start the command and go on without waiting for it; you are notified when it has ended.'),
    disable_timeout: z.boolean().optional().describe('No time limit; only together with run_in_background.'),
  })
  .superRefine((args, issues) => {
    if (args.run_in_background) {
      if (!args.description?.trim()) {
        issues.addIssue({
          code: 'custom',
          message: 'is needed with run_in_background',
          input: args.description,
          path: ['description'],
        });
      }
      return;
    }
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

/** The shell for commands on the runtime's machine. */
export async function findShell({ which }: Pick<Runtime, 'which'>): Promise<string> {
  for (const path of ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash']) if (await which(path)) return path;
  return (await which('bash')) ?? '/bin/sh';
}

function commandLabel(args: BashArguments): string {
  // The label escapes other white space.
  const line = args.command.replace(/[ \t\n]+/g, ' ');
  const shown = line.length > LABEL_COMMAND_CHARS ? `${cutText(line, LABEL_COMMAND_CHARS)}…` : line;
  return args.run_in_background ? `Starting background: ${shown}` : `Running: ${shown}`;
}

const missingTools = ({ activeTools }: Pick<ToolEnvironment, 'activeTools'>) =>
  BACKGROUND_TOOLS.filter((name) => !activeTools.has(name));

function limitsOf({ timeout, run_in_background: background = false, disable_timeout }: BashArguments) {
  const usual = background ? BASH_DEFAULT_BACKGROUND_TIMEOUT_S : BASH_DEFAULT_TIMEOUT_S;
  return { background, timeoutMs: disable_timeout ? 0 : (timeout ?? usual) * 1000 };
}

function commandRequest(args: BashArguments, target: Target, { runtime, explicitGit }: RunContext, shell: string) {
  const inherited = runtime.environment();
  return {
    file: shell,
    args: ['-c', args.command],
    cwd: target.path,
    // The shell resolves `cd ..` from PWD: permissions are decided for the directory as it is named here.
    env: {
      GIT_TERMINAL_PROMPT: '0',
      ...(explicitGit ? withExplicitRepositories(inherited) : inherited),
      NO_COLOR: '1',
      TERM: 'dumb',
      SHELL: shell,
      PWD: target.path,
    },
  };
}

/** After an abort the next turn must not find this command still running; a stop of the server takes 4 s. */
function graceOf(signal: AbortSignal, usual: number): number {
  const by = stopOf(signal)?.by;
  return by === 'turn' || by === 'exit' ? Math.min(usual, ABORT_GRACE_MS) : usual;
}

async function run(args: BashArguments, target: Target, context: RunContext): Promise<ToolResult> {
  const { runtime, signal, tasks } = context;
  if (signal.aborted) return failed('Interrupted by user');
  const problem = await directoryProblem(target, runtime);
  if (problem) return failed(problem);
  const shell = await findShell(runtime);
  const request = commandRequest(args, target, context, shell);
  const { timeoutMs, background } = limitsOf(args);
  const { killGraceMs, detachedTimeoutMs, detachOnTimeout } = tasks.settings();
  const builder = createOutputBuilder();
  let command: CommandEnd | undefined;
  let moved: ToolResult | undefined;
  let path = '';

  async function work(task: RunningTask): Promise<TaskEnd> {
    const { output } = task;
    ({ path } = output);
    const flood = new AbortController();
    let exitCode: number | null = null;
    command = await runCommand(runtime.spawn, {
      ...request,
      ...(background ? { output: await output.open(() => flood.abort()) } : {}),
      signal: background ? AbortSignal.any([task.signal, flood.signal]) : task.signal,
      maxOutputBytes: OUTPUT_MAX_BYTES,
      graceMs: () => graceOf(task.signal, flood.signal.aborted ? 0 : killGraceMs),
      async onStart({ pid, outlive, identity }) {
        const own = { command: args.command, parentToolCallId: context.toolCallId };
        let process: ProcessIdentity | undefined;
        const identified = identity().then((found) => (process = found));
        // A background task is recorded when it starts, with its identity; one in the foreground only when it is moved.
        if (background) await identified;
        task.started(() => ({ kind: 'process', pid, exitCode, ...own }), { outlive, process: () => process });
      },
      onBytes: output.write,
      onText(kind, text) {
        if (moved) return;
        builder.write(text);
        if (builder.truncated) output.keep();
        context.progress({ kind, text });
      },
    });
    const { stopped } = command;
    // A command that was ended by a signal has reported no exit code.
    exitCode = stopped && command.exitCode > SIGNAL_CODES ? -1 : command.exitCode;
    if (stopped === 'output' || flood.signal.aborted) {
      return { status: 'killed', reason: `more than ${OUTPUT_MAX_BYTES} bytes of output` };
    }
    if (stopped) return { status: 'stopped' };
    return { status: exitCode === 0 ? 'completed' : 'failed' };
  }

  const waiting: WaitingCall = {
    signal,
    onTimeout: detachOnTimeout && missingTools(context).length === 0 ? 'detach' : 'stop',
    detachedTimeoutMs,
    released(info, by) {
      moved = { output: movedText(info, path, by, builder.finish().output), truncated: true };
      return context.finish(moved);
    },
  };
  try {
    const released = await tasks.run(
      {
        kind: 'process',
        agentId: context.agentId,
        description: taskDescription(args),
        timeoutMs,
        ...(background ? {} : { waiting }),
      },
      work,
    );
    if (moved) return moved;
    if (released.how === 'background') return { output: startedText(released.info, path) };
    if (!command) return failed(released.end.result ?? 'The command did not end when it was stopped.');
    const { stop, file } = released;
    const { taskId } = released.info;
    return endedResult(builder, { taskId, command, stop, file, timeoutMs });
  } catch (error) {
    if (signal.aborted) return failed('Interrupted by user');
    return failed(`The command could not be started: ${errorMessage(error)}`);
  }
}

export const bashTool = defineTool({
  name: 'Bash',
  permission: 'ask',
  effects: 'any',
  description: [
    'Runs a shell command and returns its output, stdout and stderr together.',
    'Every call is a fresh shell: directory changes and variables do not last. Standard input is closed, so nothing can be typed in.',
    `After ${BASH_DEFAULT_TIMEOUT_S} seconds, or after timeout seconds (at most ${BASH_MAX_TIMEOUT_S}), it is moved to the background, or killed with everything it started where that cannot be.`,
    'With run_in_background it starts there: use that for what takes long or does not end by itself, such as servers and watchers.',
    `Output is cut to ${OUTPUT_MAX_CHARS} characters and ${OUTPUT_MAX_LINE_CHARS} a line. A failing command ends with a line giving its exit code.`,
    'Prefer Read, Grep, Glob, Edit and Write over cat, grep, find, sed and echo.',
  ].join('\n'),
  parameters,
  async prepare(args, environment) {
    const target = await resolveTarget(args.cwd ?? '.', environment);
    if (args.run_in_background) {
      const missing = missingTools(environment).join(', ');
      if (missing) {
        throw new ToolInputError(
          `Commands cannot run in the background: the tools ${missing} are not active. Run it in the foreground.`,
        );
      }
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
