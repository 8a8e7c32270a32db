/** Tasks of a session: when to re-read them, and which of them a call of the conversation waits for. */
import type { SessionTask } from '@service-code/client';
import { t, type PlainKey } from '../../messages/messages.ts';
import { runningTurn, type SessionView } from '../../state/session-view.ts';

/** Key that changes with the transcript's tasks; the complete list is read from the server. */
export const taskChanges = ({ main }: Pick<SessionView, 'main'>): string =>
  [...main.tasks.values()].map(({ taskId, state, detached }) => `${taskId} ${state} ${detached}`).join('\n');

/** Tools whose calls run as tasks. */
const TOOLS = new Set(['Bash', 'Agent']);

/** The calls that may have a task in the foreground. */
export const waitingCalls = ({ main }: Pick<SessionView, 'main'>): string[] =>
  (runningTurn(main)?.steps.at(-1)?.frames ?? []).flatMap((frame) =>
    frame.kind === 'tool' && frame.state === 'running' && frame.input !== undefined && TOOLS.has(frame.name)
      ? [frame.toolCallId]
      : [],
  );

/** Whether a call waits for the task, so that it can be moved to the background. */
export const isWaitedFor = (task: SessionTask, view: Pick<SessionView, 'main'>): boolean =>
  task.status === 'running' &&
  task.parent_tool_call_id !== undefined &&
  waitingCalls(view).includes(task.parent_tool_call_id);

/** Running ones first, then the newest of the others. */
export function shownTasks(tasks: readonly SessionTask[], others: number): SessionTask[] {
  const running = tasks.filter(({ status }) => status === 'running');
  const ended = tasks.filter(({ status }) => status !== 'running');
  return [...running, ...ended.slice(-others).toReversed()];
}

export const statusWords = {
  running: 'agents.running',
  completed: 'agents.done',
  failed: 'agents.failed',
  cancelled: 'agents.stopped',
} as const satisfies Record<SessionTask['status'], PlainKey>;

/** Run time so far: `8 s`, `2 min`, `1 h 5 min`. */
export function duration({ started_at, completed_at }: SessionTask, now: number): string {
  const end = completed_at === undefined ? now : Date.parse(completed_at);
  return t('time.roughly', { ms: end - Date.parse(started_at) });
}
