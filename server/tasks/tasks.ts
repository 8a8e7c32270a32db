/**
 * Task registry of one loaded session: operations that run for an agent while a call waits for them, or in the
 * background. Only background tasks are recorded; tasks of earlier processes are in the journal.
 */
import { randomInt } from 'node:crypto';
import { cutText, tailText } from '#server/text/truncate.ts';
import type { Clock } from '#server/clock.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import type { ProcessIdentity } from '#server/processes/process-identity.ts';
import type { TaskInfo, TaskMembers } from '#schema/events/tasks.ts';
import { createTaskOutput, type OutputFile, type TaskOutput } from './output.ts';
import type { Released, RunningTask, Task, TaskEnd, TaskSpec, TaskStop, WaitingCall } from './task.ts';

/** Default time between SIGTERM and SIGKILL, in ms. */
export const KILL_GRACE_MS = 5000;
/** Default time limit of a command that was moved to the background, in s. */
export const DETACHED_TIMEOUT_S = 600;
/** Time after the grace time until a stopped task is given up. */
const GIVE_UP_MS = 2000;
/** The same when the server exits, whose stop has 4 s for everything. */
const EXIT_GIVE_UP_MS = 2500;
const DESCRIPTION_CHARS = 1000;
/** Bytes of output that the record of an end contains. */
const RECORDED_TAIL_BYTES = 4096;
/** Ended tasks without a file whose output is retained. */
const KEPT_OUTPUTS = 50;

const idPrefix = { process: 'bash', agent: 'agent', question: 'question' } as const;
const ID_CHARACTERS = '0123456789abcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 8;

/** Configured values; read at each use. */
export interface TaskSettings {
  /** Limit of background tasks; no further task starts there. */
  maxRunning: number | undefined;
  killGraceMs: number;
  /** Time limit of a command that is moved to the background; 0 is unlimited. */
  detachedTimeoutMs: number;
  /** A command that reaches its time-out continues in the background. */
  detachOnTimeout: boolean;
  /** Background tasks continue when the server exits. */
  keepAliveOnExit: boolean;
}

export interface Tasks {
  settings(): TaskSettings;
  /**
   * Runs `work` as a task, and resolves when no call waits for it any more: it has ended, or is in the background.
   * Rejects at the limit of background tasks, and with errors that the work throws before `started`.
   */
  run(spec: TaskSpec, work: (task: RunningTask) => Promise<TaskEnd>): Promise<Released>;
  /** In the order of their start. */
  all(): Task[];
  get(id: string): Task | undefined;
  /** Resolves when the task has ended; immediately for an ended one. */
  stop(id: string, stop: TaskStop): Promise<void>;
  /** Moves a running task to the background; returns whether this call did. Throws `persistence.failure`. */
  detach(id: string): boolean;
  /** Stops an agent's tasks after its run, without notifications. */
  endAgent(agentId: string, reason: string): Promise<void>;
  /** Calls the listener for each task that has started, in the foreground or background. */
  onStarted(listener: (task: Task) => void): void;
  /** Calls the listener for each task that ended in the background, after that is recorded. */
  onEnded(listener: (task: Task) => void): void;
  /** Whether a task runs. */
  running(): boolean;
  /** Stops the tasks when the session is unloaded. */
  close(reason: 'exit' | 'archive' | 'idle'): Promise<void>;
}

export interface TasksDeps {
  log: Pick<SessionLog, 'append' | 'attempt'>;
  /** The session's folder. */
  dir: string;
  clock: Clock;
  settings(): TaskSettings;
  /** Whether the journal has this id. */
  known(id: string): boolean;
  report(what: string, error: unknown): void;
}

interface Entry extends Task {
  readonly id: string;
  readonly kind: TaskInfo['kind'];
  readonly description: string;
  readonly controller: AbortController;
  /** Set for a task in the foreground, until it has ended. */
  waiting: WaitingCall | undefined;
  status: TaskInfo['status'];
  startedAt: number;
  endedAt: number | null;
  timeoutMs: number | undefined;
  detached: boolean;
  stop: TaskStop | undefined;
  stopReason: string | undefined;
  said: string | undefined;
  /** Set when it starts. */
  members: (() => TaskMembers) | undefined;
  outlive: (() => void) | undefined;
  process: () => ProcessIdentity | undefined;
  settling: Promise<void> | undefined;
  callOffTimer(): void;
  callOffGivingUp(): void;
  /** Resolves the waiting `run`. */
  release(released: Released): void;
  /** Resolves `ended`. */
  over(): void;
}

/** Creates the registry of one session, without tasks. */
export function createTasks(deps: TasksDeps): Tasks {
  const { log, clock, settings, report } = deps;
  const entries = new Map<string, Entry>();
  const starts: ((task: Task) => void)[] = [];
  const listeners: ((task: Task) => void)[] = [];
  let exiting = false;
  let withoutFile: TaskOutput[] = [];

  function newId(kind: TaskInfo['kind']): string {
    for (;;) {
      const characters = Array.from({ length: ID_LENGTH }, () => ID_CHARACTERS[randomInt(ID_CHARACTERS.length)]);
      const id = `${idPrefix[kind]}-${characters.join('')}`;
      if (!entries.has(id) && !deps.known(id)) return id;
    }
  }

  const active = () => [...entries.values()].filter(({ status }) => status === 'running');

  function assertRoom(): void {
    const { maxRunning } = settings();
    if (maxRunning === undefined || active().filter(({ detached }) => detached).length < maxRunning) return;
    throw new Error(
      `[task.limit_exceeded] ${maxRunning} background tasks run already. Wait for one of them, or stop it with TaskStop.`,
    );
  }

  async function run(spec: TaskSpec, work: (task: RunningTask) => Promise<TaskEnd>): Promise<Released> {
    const { waiting } = spec;
    waiting?.signal.throwIfAborted();
    if (!waiting) assertRoom();
    const entry = createEntry(spec);
    const { id, controller, output } = entry;
    const released = new Promise<Released>((resolve) => (entry.release = resolve));
    const onAbort = () => {
      if (!entry.detached) stop(entry, { status: 'killed', by: 'turn', reason: 'turn ended' });
    };
    waiting?.signal.addEventListener('abort', onAbort, { once: true });
    const working = work({
      id,
      output,
      signal: controller.signal,
      started(members, { after = [], outlive, process = () => undefined } = {}) {
        entry.members = members;
        entry.process = process;
        entry.startedAt = clock.now();
        entry.detached = !waiting;
        if (!waiting) {
          entry.outlive = outlive;
          log.append([...startDrafts(entry), ...after]);
        }
        entries.set(id, entry);
        if (entry.stop) giveUpLater(entry);
        else startTimer(entry, spec.timeoutMs);
        if (!waiting) entry.release({ how: 'background', info: entry.info() });
        for (const listener of starts) listener(entry);
      },
      finish: (end) => endDrafts(entry, end, undefined, saidTail(end)),
    });
    const ended = working.then(
      (end) => settle(entry, end),
      (error: unknown) => {
        // The work failed before `started`.
        if (!entries.has(id)) throw error;
        return settle(entry, { status: 'failed', result: errorMessage(error) });
      },
    );
    try {
      return await Promise.race([released, ended.then(() => released)]);
    } finally {
      waiting?.signal.removeEventListener('abort', onAbort);
    }
  }

  function createEntry({ kind, agentId, description, timeoutMs, waiting }: TaskSpec): Entry {
    const id = newId(kind);
    let output: TaskOutput | undefined;
    let over = () => {};
    const ended = new Promise<void>((resolve) => (over = resolve));
    const entry: Entry = {
      id,
      kind,
      description: shortened(description.trim()),
      agentId,
      waiting,
      controller: new AbortController(),
      status: 'running',
      startedAt: clock.now(),
      endedAt: null,
      timeoutMs,
      detached: false,
      stop: undefined,
      stopReason: undefined,
      said: undefined,
      members: undefined,
      outlive: undefined,
      process: () => undefined,
      settling: undefined,
      ended,
      over,
      get output() {
        output ??= createTaskOutput({ sessionDir: deps.dir, agentId, taskId: id, report });
        return output;
      },
      info: () => infoOf(entry),
      result: () => entry.said,
      callOffTimer: () => {},
      callOffGivingUp: () => {},
      release: () => {},
    };
    return entry;
  }

  function infoOf(entry: Entry): TaskInfo {
    if (!entry.members) throw new Error(`task ${entry.id} has not started`);
    const { stop: stopped, stopReason, timeoutMs } = entry;
    return {
      taskId: entry.id,
      description: entry.description,
      status: entry.status,
      detached: entry.detached,
      startedAt: entry.startedAt,
      endedAt: entry.endedAt,
      ...(stopReason === undefined ? {} : { stopReason }),
      ...(stopped?.silent ? { terminalNotificationSuppressed: true } : {}),
      ...(timeoutMs ? { timeoutMs } : {}),
      ...entry.members(),
    };
  }

  function startDrafts(entry: Entry): Draft[] {
    const info = entry.info();
    const process = entry.process();
    return [
      event(entry.agentId, 'task.started', { info }, process && { process }),
      event(entry.agentId, 'background.task.started', { info }),
    ];
  }

  /** Marks the task as ended; returns the records of that for one in the background. */
  function endDrafts(entry: Entry, end: TaskEnd, file: OutputFile | undefined, outputTail: string): Draft[] {
    if (entry.status !== 'running') return [];
    entry.callOffTimer();
    entry.callOffGivingUp();
    entry.endedAt = clock.now();
    entry.said = end.result;
    entry.status = end.status === 'stopped' ? (entry.stop?.status ?? 'killed') : end.status;
    entry.stopReason = end.reason ?? (end.status === 'stopped' ? entry.stop?.reason : undefined);
    if (!entry.detached) return [];
    const info = entry.info();
    return [
      event(entry.agentId, 'task.terminated', { info }, { outputTail, ...(file ? { file } : {}) }),
      event(entry.agentId, 'background.task.terminated', { info }),
    ];
  }

  /** Only the first end has an effect. */
  function settle(entry: Entry, end: TaskEnd): Promise<void> {
    entry.settling ??= settleOnce(entry, end);
    return entry.settling;
  }

  async function settleOnce(entry: Entry, end: TaskEnd): Promise<void> {
    const { file, tail } = entry.status === 'running' ? await endOutput(entry, end) : { file: undefined, tail: '' };
    const drafts = endDrafts(entry, end, file, tail);
    if (drafts.length > 0) log.attempt(drafts);
    entry.release({ how: 'ended', info: entry.info(), end, stop: entry.stop, file });
    // Members that only a running task needs must not stay in memory as long as the session.
    const members = entry.members?.();
    if (members) entry.members = () => members;
    entry.waiting = undefined;
    entry.outlive = undefined;
    entry.over();
    if (entry.detached) for (const listener of listeners) listener(entry);
  }

  /** Completes the output; a task without a process has only its reply. */
  async function endOutput(entry: Entry, end: TaskEnd): Promise<{ file: OutputFile | undefined; tail: string }> {
    if (entry.kind !== 'process') return { file: undefined, tail: saidTail(end) };
    const { output } = entry;
    try {
      const file = await output.end();
      if (!file) keepOutput(output);
      const tail = entry.detached ? ((await output.tail(RECORDED_TAIL_BYTES)) ?? '') : '';
      return { file, tail };
    } catch (error) {
      report(`the output of ${entry.id} could not be closed`, error);
      return { file: undefined, tail: '' };
    }
  }

  function keepOutput(output: TaskOutput): void {
    withoutFile.push(output);
    for (const old of withoutFile.slice(0, -KEPT_OUTPUTS)) old.forget();
    withoutFile = withoutFile.slice(-KEPT_OUTPUTS);
  }

  function startTimer(entry: Entry, ms: number | undefined): void {
    entry.callOffTimer();
    entry.timeoutMs = ms;
    entry.callOffTimer = ms ? clock.setTimeout(() => timedOut(entry, ms), ms) : () => {};
  }

  function timedOut(entry: Entry, ms: number): void {
    try {
      if (!entry.detached && entry.waiting?.onTimeout === 'detach' && detach(entry, 'timeout')) return;
    } catch (error) {
      report(`task ${entry.id} could not be moved to the background`, error);
    }
    stop(entry, { status: 'timed_out', by: 'time', reason: `time limit of ${ms / 1000} s` });
  }

  /** The first reason is retained; a later one can only make the end silent. */
  function stop(entry: Entry, how: TaskStop): void {
    if (entry.status !== 'running') return;
    if (entry.stop) {
      entry.stop = { ...entry.stop, silent: entry.stop.silent === true || how.silent === true };
      return;
    }
    entry.stop = how;
    entry.callOffTimer();
    if (entries.has(entry.id)) giveUpLater(entry);
    entry.controller.abort(how);
  }

  function giveUpLater(entry: Entry): void {
    const ms = exiting ? EXIT_GIVE_UP_MS : settings().killGraceMs + GIVE_UP_MS;
    entry.callOffGivingUp();
    entry.callOffGivingUp = clock.setTimeout(() => void settle(entry, { status: 'stopped' }), ms);
  }

  function detach(entry: Entry, by: 'user' | 'timeout'): boolean {
    const { waiting } = entry;
    if (!waiting || entry.detached || entry.stop || entry.status !== 'running') return false;
    const { timeoutMs } = entry;
    entry.detached = true;
    entry.timeoutMs = waiting.detachedTimeoutMs ?? timeoutMs;
    const info = entry.info();
    try {
      log.append([...startDrafts(entry), ...waiting.released(info, by)]);
    } catch (error) {
      Object.assign(entry, { detached: false, timeoutMs });
      throw error;
    }
    if (waiting.detachedTimeoutMs !== undefined) startTimer(entry, waiting.detachedTimeoutMs);
    if (entry.kind === 'process') entry.output.keep();
    entry.release({ how: 'background', info });
    return true;
  }

  async function stopAll(chosen: Entry[], how: TaskStop): Promise<void> {
    for (const entry of chosen) stop(entry, how);
    await Promise.all(chosen.map(({ ended }) => ended));
  }

  return {
    settings,
    run,
    all: () => [...entries.values()],
    get: (id) => entries.get(id),
    async stop(id, how) {
      const entry = entries.get(id);
      if (!entry) return;
      stop(entry, how);
      await entry.ended;
    },
    detach(id) {
      const entry = entries.get(id);
      return entry !== undefined && detach(entry, 'user');
    },
    endAgent: (agentId, reason) =>
      stopAll(
        active().filter((entry) => entry.agentId === agentId),
        { status: 'killed', by: 'agent', reason, silent: true },
      ),
    onStarted: (listener) => void starts.push(listener),
    onEnded: (listener) => void listeners.push(listener),
    running: () => active().length > 0,
    async close(reason) {
      const survivors = reason === 'exit' && settings().keepAliveOnExit;
      const left = active().filter((entry) => {
        if (!survivors || !entry.outlive) return true;
        entry.outlive();
        entry.callOffTimer();
        return false;
      });
      exiting = reason === 'exit';
      // Tasks that are being stopped already get the shorter limit too.
      if (exiting) for (const entry of left) if (entry.stop) giveUpLater(entry);
      const by = exiting ? 'exit' : 'close';
      await stopAll(left, { status: 'killed', by, reason: 'session closed', silent: true });
    },
  };
}

const shortened = (text: string) => (text.length > DESCRIPTION_CHARS ? `${cutText(text, DESCRIPTION_CHARS)}…` : text);

const saidTail = ({ result = '' }: TaskEnd) => tailText(Buffer.from(result), RECORDED_TAIL_BYTES);
