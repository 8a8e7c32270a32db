/** Renders tasks for the model as lines of `key: value`. */
import type { TaskInfo } from '#schema/events/tasks.ts';
import { iso } from '#schema/scalars.ts';
import type { ListedTask } from '../listed-tasks.ts';

export const SEPARATOR = '\n---\n';

const oneLine = (text: string) => text.replace(/\s+/g, ' ');

/** The lines of a task without its output. */
export function taskLines({ info, path }: Pick<ListedTask, 'info' | 'path'>): string[] {
  return [
    `task_id: ${info.taskId}`,
    `kind: ${info.kind}`,
    `status: ${info.status}`,
    `description: ${oneLine(info.description)}`,
    `started_at: ${iso(info.startedAt)}`,
    ...(info.endedAt === null ? [] : [`ended_at: ${iso(info.endedAt)}`]),
    ...ownLines(info),
    ...(info.stopReason === undefined ? [] : [`stop_reason: ${oneLine(info.stopReason)}`]),
    ...(path === undefined ? [] : [`output_path: ${path}`]),
  ];
}

function ownLines(info: TaskInfo): string[] {
  switch (info.kind) {
    case 'process':
      return [
        `command: ${oneLine(info.command)}`,
        `pid: ${info.pid}`,
        ...(info.exitCode === null ? [] : [`exit_code: ${info.exitCode}`]),
      ];
    case 'agent':
      return [
        ...(info.agentId === undefined ? [] : [`agent_id: ${info.agentId}`]),
        ...(info.subagentType === undefined ? [] : [`subagent_type: ${info.subagentType}`]),
      ];
    case 'question':
      return [`question_count: ${info.questionCount}`];
  }
}

/** The reason of its end, unless it completed. */
export function terminalReason({ status }: TaskInfo): string[] {
  const reasons = { timed_out: 'timed_out', killed: 'stopped', failed: 'failed', lost: 'failed' } as const;
  return status === 'running' || status === 'completed' ? [] : [`terminal_reason: ${reasons[status]}`];
}

export const noSuchTask = (id: string) => `There is no task ${id}. TaskList shows those that there are.`;
