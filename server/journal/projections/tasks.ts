/** Tasks in the background, running and ended: what a client reads of those of earlier runs, and what an agent was told. */
import type { TaskInfo } from '#schema/events/tasks.ts';
import type { ProcessIdentity } from '#server/processes/process-identity.ts';
import type { Stored } from '../texts.ts';
import type { Projection } from './projection.ts';

export interface KnownTask {
  /** The agent that it belongs to. */
  agent: string;
  info: TaskInfo;
  /** Of an ended one: the last of its output or of what it said, and the file that holds all of its output. */
  outputTail: string;
  file?: { path: string; bytes: number };
  /** The process of a command that runs, or was lost with its server and may still run. */
  process?: ProcessIdentity;
  /** What a subagent said at its end. */
  result?: string;
  /** What a question was answered; nothing when it was dismissed. */
  answers?: Stored<Record<string, string>>;
}

export interface TasksState {
  /** Oldest first, by id. */
  tasks: Map<string, KnownTask>;
  /** The tasks that wait for an answer, by the question's id. */
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
        // The processes belong to the session that was copied.
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

/** Those that run, oldest first. */
export const runningTasks = ({ tasks }: TasksState): KnownTask[] =>
  [...tasks.values()].filter(({ info }) => info.status === 'running');
