/** What runs as a task, and what its caller and its readers see of it. */
import type { Draft } from '#server/journal/records.ts';
import type { ProcessIdentity } from '#server/processes/process-identity.ts';
import type { TaskInfo, TaskMembers } from '#schema/events/tasks.ts';
import type { OutputFile, TaskOutput } from './output.ts';

/** What a task is begun with. */
export interface TaskSpec {
  kind: TaskInfo['kind'];
  /** The agent that it belongs to. */
  agentId: string;
  /** For people. */
  description: string;
  /** Ms until it is stopped; 0 or absent: as long as it takes. */
  timeoutMs?: number | undefined;
  /** The call that waits for it. Without one it starts in the background. */
  waiting?: WaitingCall;
}

/** A call that waits until its task has ended, or goes on in the background. */
export interface WaitingCall {
  /** Its abort stops the task for as long as the call waits. */
  signal: AbortSignal;
  /** What reaching the time-out means; `detach` moves the task to the background. */
  onTimeout: 'stop' | 'detach';
  /** Ms that the task has from a detach on, 0 for as long as it takes. Absent: its own time goes on. */
  detachedTimeoutMs?: number;
  /** Records of the call's result when it is let go, for the line that tells of the task. */
  released(info: TaskInfo, by: 'user' | 'timeout'): Draft[];
}

export interface StartOptions {
  behind?: Draft[];
  outlive?: () => void;
  /** The process that runs it; read when the task is recorded. */
  process?: () => ProcessIdentity | undefined;
}

/** What the work of a task works with. */
export interface RunningTask {
  readonly id: string;
  readonly output: TaskOutput;
  /** Aborted when it has to end; the reason is a `TaskStop`. */
  readonly signal: AbortSignal;
  /**
   * It runs: from here on it is listed, and one in the background is recorded, with `behind` on the same line. `members`
   * are asked whenever the task is told of. `outlive` is called when the server ends and the task does not. Throws 50003.
   */
  started(members: () => TaskMembers, options?: StartOptions): void;
  /**
   * Records of its end, for who appends them together with what ended it; the work then returns the same end. None for a
   * task that somebody waits for, or that has ended.
   */
  finish(end: TaskEnd): Draft[];
}

export interface TaskEnd {
  /** `stopped`: it ended because it was asked to. `killed`: the work itself put an end to it. */
  status: 'completed' | 'failed' | 'stopped' | 'killed';
  /** Why it was killed. */
  reason?: string;
  /** What it has to say at its end, where that is not its output. */
  result?: string;
}

/** Why a task has to end. */
export interface TaskStop {
  status: 'killed' | 'timed_out';
  /** `turn`: of the call that waited. */
  by: 'user' | 'agent' | 'turn' | 'time' | 'close' | 'exit';
  reason: string;
  /** Its agent is not told of the end. */
  silent?: boolean;
}

/** Why the signal of a task was aborted; undefined while it is not. */
export const stopOf = ({ reason }: Pick<AbortSignal, 'reason'>): TaskStop | undefined => reason;

/** How a task left the call that began it. */
export type Released =
  | { how: 'ended'; info: TaskInfo; end: TaskEnd; stop: TaskStop | undefined; file: OutputFile | undefined }
  | { how: 'background'; info: TaskInfo };

/** A task of this process, running or ended. */
export interface Task {
  readonly agentId: string;
  info(): TaskInfo;
  /** What it said at its end. */
  result(): string | undefined;
  readonly output: TaskOutput;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
}
