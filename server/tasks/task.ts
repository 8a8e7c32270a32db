/** Types of a task: what its caller passes, and what the caller and readers receive. */
import type { Draft } from '#server/journal/records.ts';
import type { ProcessIdentity } from '#server/processes/process-identity.ts';
import type { TaskInfo, TaskMembers } from '#schema/events/tasks.ts';
import type { OutputFile, TaskOutput } from './output.ts';

/** Parameters of a new task. */
export interface TaskSpec {
  kind: TaskInfo['kind'];
  /** The agent that owns it. */
  agentId: string;
  /** Displayed to people. */
  description: string;
  /** Ms until it is stopped; 0 or absent: unlimited. */
  timeoutMs?: number | undefined;
  /** The call that waits for it. A task without one starts in the background. */
  waiting?: WaitingCall;
}

/** A call that waits until its task has ended or was moved to the background. */
export interface WaitingCall {
  /** An abort stops the task while the call waits. */
  signal: AbortSignal;
  /** Effect of a time-out; `detach` moves the task to the background. */
  onTimeout: 'stop' | 'detach';
  /** Time limit in ms from the detach on, 0 for unlimited. Absent: the task's own limit continues. */
  detachedTimeoutMs?: number;
  /** Records of the call's result after a detach, for the line that records the task. */
  released(info: TaskInfo, by: 'user' | 'timeout'): Draft[];
}

export interface StartOptions {
  after?: Draft[];
  outlive?: () => void;
  /** The process that runs it; called when the task is recorded. */
  process?: () => ProcessIdentity | undefined;
}

/** The running task, as passed to its work. */
export interface RunningTask {
  readonly id: string;
  readonly output: TaskOutput;
  /** Aborted when the task must end; the reason is a `TaskStop`. */
  readonly signal: AbortSignal;
  /**
   * Marks the task as running: it is listed, and a background task is recorded, with `after` on the same line.
   * `members` is called at each publication. `outlive` is called when the server exits and the task does not. Throws
   * `persistence.failure`.
   */
  started(members: () => TaskMembers, options?: StartOptions): void;
  /**
   * Records of its end, for a caller that appends them together with the cause; the work must return the same end.
   * Empty for a task for which a call waits, or that has ended.
   */
  finish(end: TaskEnd): Draft[];
}

export interface TaskEnd {
  /** `stopped`: it ended because of a stop request. `killed`: the work itself aborted it. */
  status: 'completed' | 'failed' | 'stopped' | 'killed';
  /** The reason for `killed`. */
  reason?: string;
  /** The task's reply, where that is not its output. */
  result?: string;
}

/** Why a task must end. */
export interface TaskStop {
  status: 'killed' | 'timed_out';
  /** `turn`: the turn of the waiting call. */
  by: 'user' | 'agent' | 'turn' | 'time' | 'close' | 'exit';
  reason: string;
  /** The agent gets no notification of the end. */
  silent?: boolean;
}

/** The reason for which the signal of a task was aborted; undefined before that. */
export const stopOf = ({ reason }: Pick<AbortSignal, 'reason'>): TaskStop | undefined => reason;

/** How the call that started a task stopped waiting. */
export type Released =
  | { how: 'ended'; info: TaskInfo; end: TaskEnd; stop: TaskStop | undefined; file: OutputFile | undefined }
  | { how: 'background'; info: TaskInfo };

/** A task of this process, running or ended. */
export interface Task {
  readonly agentId: string;
  info(): TaskInfo;
  /** Its reply. */
  result(): string | undefined;
  readonly output: TaskOutput;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
}
