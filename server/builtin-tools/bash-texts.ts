/** Result texts about a command: how it exited, that it runs in the background, where its full output is. */
import type { OutputBuilder } from '#server/text/truncate.ts';
import type { CommandEnd } from '#server/processes/run-command.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';
import { OUTPUT_MAX_BYTES, type OutputFile } from '#server/tasks/output.ts';
import type { TaskStop } from '#server/tasks/task.ts';
import type { ToolResult } from '#server/tools/tool.ts';

const DESCRIPTION_COMMAND_CHARS = 60;

/** Description of a task that runs a command. */
export function taskDescription({
  command,
  description,
}: {
  command: string;
  description?: string | undefined;
}): string {
  const given = description?.trim();
  if (given) return given;
  const shown =
    command.length > DESCRIPTION_COMMAND_CHARS ? `${command.slice(0, DESCRIPTION_COMMAND_CHARS)}…` : command;
  return `Bash: ${shown}`;
}

export interface ForegroundEnd {
  taskId: string;
  command: CommandEnd;
  stop: TaskStop | undefined;
  file: OutputFile | undefined;
  timeoutMs: number;
}

/** The result of a command that the call waited for. */
export function endedResult(builder: OutputBuilder, end: ForegroundEnd): ToolResult {
  const { stopped, exitCode } = end.command;
  const closing: string[] = [];
  if (end.stop && end.stop.by !== 'time') closing.push('Interrupted by user');
  else {
    if (end.stop) closing.push(`The command was killed after its time limit of ${end.timeoutMs / 1000} s.`);
    if (stopped === 'output')
      closing.push(`The command was killed because it wrote more than ${OUTPUT_MAX_BYTES} bytes.`);
    if (stopped || exitCode !== 0) closing.push(`Exit code: ${exitCode}`);
  }
  const saved = builder.truncated && end.file ? savedBlock(end.taskId, end.file) : [];
  const { output, truncated } = builder.finish([...saved, ...closing]);
  return { output, ...(truncated ? { truncated } : {}), ...(closing.length > 0 ? { isError: true } : {}) };
}

const savedBlock = (taskId: string, { path, bytes }: OutputFile): string[] => [
  '[Full output saved]',
  `task_id: ${taskId}`,
  `output_path: ${path}`,
  `output_size_bytes: ${bytes}`,
  'next_step: Use Read with line_offset and n_lines, or Grep, on output_path to look at the parts you need.',
];

const oneLine = (text: string) => text.replace(/\s+/g, ' ');

const taskLines = (info: TaskInfo): string[] => [
  `task_id: ${info.taskId}`,
  ...(info.kind === 'process' ? [`pid: ${info.pid}`] : []),
  `description: ${oneLine(info.description)}`,
  'status: running',
];

const hint = (path: string) => `human_shell_hint: tail -f ${path}`;

/** The result of a call that started a command in the background. */
export const startedText = (info: TaskInfo, path: string): string =>
  [
    ...taskLines(info),
    'automatic_notification: true',
    'next_step: Go on with other work; you will be notified when the command has ended. Do not wait or poll for it. TaskOutput shows its output so far, TaskStop ends it.',
    hint(path),
  ].join('\n');

/** The result of a call that waited for a command which was moved to the background. */
export function movedText(info: TaskInfo, path: string, by: 'user' | 'timeout', output: string): string {
  const why =
    by === 'user'
      ? 'The user moved this command to the background'
      : 'The command reached its time limit and was moved to the background';
  return [
    ...taskLines(info),
    ...(by === 'user' ? ['detached_by_user: true'] : []),
    'automatic_notification: true',
    `next_step: ${why}; you will be notified when it has ended. Do not wait or poll for it; go on with other work.`,
    hint(path),
    '',
    'foreground_output:',
    output,
  ].join('\n');
}
