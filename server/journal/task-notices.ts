/** Notifications that inform an agent of its ended background tasks: one per task and end. */
import { tailText } from '#server/text/truncate.ts';
import type { DurableFields } from '#schema/events/catalogue.ts';
import type { ContextMessage } from '#schema/engine.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';
import type { LogState } from './fold.ts';
import type { KnownTask } from './projections/tasks.ts';
import { event, type Draft } from './records.ts';

/** Most bytes of an output that a notification contains itself. */
const PREVIEW_BYTES = 3000;
const LINE_CHARS = 300;

export interface TaskNotice {
  /** Precedes the message. */
  record: Draft;
  message: ContextMessage;
}

/** Key of a notification, to check whether it was delivered. */
export const noticeId = ({ taskId, status }: Pick<TaskInfo, 'taskId' | 'status'>): string => `task:${taskId}:${status}`;

/** Ended tasks of an agent whose notification was not delivered, oldest first. */
export function unreportedTasks({ tasks, context }: Pick<LogState, 'tasks' | 'context'>, agent: string): KnownTask[] {
  if (tasks.tasks.size === 0) return [];
  const delivered = context.agents.get(agent)?.delivered;
  return [...tasks.tasks.values()].filter(
    ({ agent: owner, info }) =>
      owner === agent &&
      info.status !== 'running' &&
      !info.terminalNotificationSuppressed &&
      !delivered?.has(noticeId(info)),
  );
}

/** The notification of an ended task; `survives`: the process of a lost task still runs. */
export function taskNotice(task: KnownTask, survives = false): TaskNotice {
  const { agent, info } = task;
  const { taskId, status } = info;
  const notificationId = noticeId(info);
  const title = titles[status];
  const severity = status === 'completed' ? 'info' : 'warning';
  const body = bodyOf(info, survives);
  const child = info.kind === 'agent' && info.agentId !== undefined ? ` agent_id="${info.agentId}"` : '';
  const text = [
    `<notification id="${notificationId}" category="task" type="task.${status}" source_kind="background_task" source_id="${taskId}"${child}>`,
    `Title: ${title}`,
    `Severity: ${severity}`,
    harmless(body),
    ...outputOf(task),
    '</notification>',
  ].join('\n');
  const fields: DurableFields<'task.notified'> = {
    notificationType: `task.${status}`,
    title,
    body,
    severity,
    sourceKind: 'background_task',
    sourceId: taskId,
  };
  return {
    record: event(agent, 'task.notified', fields),
    message: {
      role: 'user',
      content: [{ type: 'text', text }],
      toolCalls: [],
      origin: { kind: 'task', taskId, status, notificationId },
    },
  };
}

const titles: Record<TaskInfo['status'], string> = {
  running: 'Background task running',
  completed: 'Background task completed',
  failed: 'Background task failed',
  timed_out: 'Background task timed out',
  killed: 'Background task stopped',
  lost: 'Background task lost',
};

/** Informs models that the process of a lost command still runs. */
export const mayStillRun = (pid: number): string => `It may still run, with pid ${pid}; TaskStop ends it.`;

function bodyOf(info: TaskInfo, survives: boolean): string {
  const name = `"${shortened(info.description)}"`;
  const resume =
    info.kind === 'agent' && info.agentId !== undefined && info.status !== 'completed'
      ? ` To go on with it, call Agent with resume "${info.agentId}".`
      : '';
  const process = survives && info.kind === 'process' ? ` ${mayStillRun(info.pid)}` : '';
  return `${sentenceOf(info, name)}${process}${resume}`;
}

function sentenceOf(info: TaskInfo, name: string): string {
  const reason = info.stopReason === undefined ? '' : ` Reason: ${shortened(info.stopReason)}.`;
  switch (info.status) {
    case 'completed':
      return `${name} has completed.`;
    case 'timed_out':
      return `${name} was stopped because it reached its time limit.`;
    case 'killed':
      return `${name} was stopped.${reason}`;
    case 'lost':
      return `The server stopped while ${name} was running; how it ended is not known.`;
    default: {
      const code = info.kind === 'process' && info.exitCode !== null ? ` with exit code ${info.exitCode}` : '';
      return `${name} has failed${code}.`;
    }
  }
}

function outputOf({ file, outputTail }: KnownTask): string[] {
  if (file) return [`<output-file path="${file.path.replaceAll('"', '&quot;')}" bytes="${file.bytes}" />`];
  const preview = tailText(Buffer.from(outputTail), PREVIEW_BYTES);
  if (preview === '') return [];
  return [`<output-preview bytes="${Buffer.byteLength(preview)}">`, harmless(preview), '</output-preview>'];
}

/** Escapes foreign text, so that it cannot close the notification that contains it. */
const harmless = (text: string) =>
  text.replace(/<(?=\/?(?:notification|output-preview|output-file|system-reminder)\b)/gi, '&lt;');

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line;
}
