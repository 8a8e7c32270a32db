/** Background tasks, running and ended: for clients, also after a restart, and for the notifications of agents. */
import type { TaskInfo } from '#schema/events/tasks.ts';
import type { ProcessIdentity } from '#server/processes/process-identity.ts';
import type { Stored } from '../texts.ts';
import type { Projection } from './projection.ts';

export interface KnownTask {
  /** The agent that owns the task. */
  agent: string;
  info: TaskInfo;
  /** End of an ended task's output or reply; `file` contains the whole output. */
  outputTail: string;
  file?: { path: string; bytes: number };
  /** The process of a command that runs, or was lost with its server and may still run. */
  process?: ProcessIdentity;
  /** The final reply of a subagent, or its error. */
  result?: string;
  /** The answers to a question; empty when it was dismissed. */
  answers?: Stored<Record<string, string>>;
}

export interface TasksState {
  /** Oldest first, by id. */
  tasks: Map<string, KnownTask>;
  /** Ids of the tasks that wait for an answer, by the question's id. */
  questions: Map<string, string>;
}

/** The running task of a subagent. */
function taskOf({ tasks }: TasksState, subagentId: string): KnownTask | undefined {
  for (const task of tasks.values()) {
    const { info } = task;
    if (info.kind === 'agent' && info.agentId === subagentId && info.status === 'running') return task;
  }
  return undefined;
}

function answered(state: TasksState, questionId: string, answers: Stored<Record<string, string>>): void {
  const taskId = state.questions.get(questionId);
  if (taskId === undefined) return;
  state.questions.delete(questionId);
  const task = state.tasks.get(taskId);
  if (task) task.answers = answers;
}

export const tasksProjection: Projection<TasksState> = {
  initial: () => ({ tasks: new Map(), questions: new Map() }),
  apply(state, record) {
    switch (record.type) {
      case 'task.started':
        state.tasks.set(record.info.taskId, {
          agent: record.agent,
          info: record.info,
          outputTail: '',
          ...(record.x ? { process: record.x.process } : {}),
        });
        break;
      case 'task.terminated': {
        const { agent, info, x } = record;
        const known = state.tasks.get(info.taskId);
        state.tasks.set(info.taskId, {
          agent,
          info,
          outputTail: x?.outputTail ?? '',
          ...(x?.file ? { file: x.file } : {}),
          ...(info.status === 'lost' && known?.process ? { process: known.process } : {}),
          ...(known?.result === undefined ? {} : { result: known.result }),
          ...(known?.answers === undefined ? {} : { answers: known.answers }),
        });
        break;
      }
      case 'forked':
        // The processes belong to the original session.
        for (const task of state.tasks.values()) delete task.process;
        break;
      case 'subagent.completed': {
        const task = taskOf(state, record.subagentId);
        if (task) task.result = record.resultSummary;
        break;
      }
      case 'subagent.failed': {
        const task = taskOf(state, record.subagentId);
        if (task) task.result = record.error;
        break;
      }
      case 'event.question.requested':
        if (record.x?.taskId !== undefined) state.questions.set(record.question_id, record.x.taskId);
        break;
      case 'event.question.answered':
        answered(state, record.question_id, record.answers);
        break;
      case 'event.question.dismissed':
        answered(state, record.question_id, {});
        break;
    }
  },
};

/** The running tasks, oldest first. */
export const runningTasks = ({ tasks }: TasksState): KnownTask[] =>
  [...tasks.values()].filter(({ info }) => info.status === 'running');
