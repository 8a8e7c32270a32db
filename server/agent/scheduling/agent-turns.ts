/**
 * Scheduler of an agent's turns: runs one turn at a time, or an operation that excludes turns, and decides what starts
 * next. All of its state is lost when the process exits.
 */
import { setMaxListeners } from 'node:events';
import { ServiceError } from '#server/errors/service-error.ts';
import { requestMessages } from '#server/journal/projections/context.ts';
import { countersOf } from '#server/journal/projections/counters.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { Prompt } from '#schema/rest/prompt.ts';
import type { FoundInstructions } from '../calls/found-instructions.ts';
import { runToolBatch } from '../calls/tool-batch.ts';
import type { AgentContext, TurnRequest } from '../contract/context.ts';
import { TurnAborted } from '../contract/errors.ts';
import type { PromptStart } from '../contract/feature.ts';
import { askOfPrompt, promptRequest, promptWithoutTurn } from './prompt-start.ts';
import { stepReminders } from '../prompt/reminders.ts';
import type { StatusFrames } from '../loop/status-frames.ts';
import { inputDrafts } from '../loop/turn-input.ts';
import { createTurnStream, type TurnStream } from '../loop/turn-stream.ts';
import { runTurn } from '../loop/turn.ts';
import type { PromptQueue, QueuedPrompt } from '../contract/prompts.ts';
import type { TurnEnd } from '../contract/agent.ts';

const CANCELLED: TurnEnd = { outcome: 'cancelled' };

/** An operation during which no turn may start. */
interface Occupation<Result = void> {
  controller: AbortController;
  done: Promise<Result>;
  /** Requests that arrived meanwhile: they enter the turn, or the next one, or open one. */
  input: TurnRequest[];
}

export interface RunningTurn extends Occupation<TurnEnd> {
  stream: TurnStream;
  /** Id of the prompt that opened the turn or was the first to be steered into it. */
  promptId: string | undefined;
}

/** A prompt whose turn waits for features. */
type StartingTurn = Occupation<Prompt['status']>;

export interface AgentTurns {
  readonly running: RunningTurn | undefined;
  /** Whether no operation is running. */
  free(): boolean;
  /** Resolves with the starting prompt's status after features have processed it; undefined if none is starting. */
  starting(): Promise<Prompt['status']> | undefined;
  /** Starts the prompt's turn, immediately or after features have processed the prompt; no operation may be running. */
  start(prompt: QueuedPrompt, head: Draft[]): void;
  /** Adds input to the running turn's next step, or opens a turn. Throws `session.busy` and `persistence.failure`. */
  request(request: TurnRequest): void;
  /** Calls `next` for a turn as soon as no operation is running; drops it if another turn starts first. */
  wake(next: () => TurnRequest | undefined): void;
  /** Runs a separate turn after the running and waiting ones. Throws `session.busy` and `persistence.failure`. */
  run(request: TurnRequest, signal: AbortSignal): Promise<TurnEnd>;
  /** Runs `work` while no turn may start; undefined if an operation is running or a prompt waits. */
  exclusively(work: (signal: AbortSignal) => Promise<void>): Promise<void> | undefined;
  cancel(reason: TurnAborted): void;
  /** Throws `session.busy` after `close` was called. */
  assertOpen(): void;
  /** Cancels the running operation, with a message for clients, and waits until it settles; no turn starts any more. */
  close(message: string): Promise<void>;
}

export interface AgentTurnsDeps {
  context: AgentContext;
  queue: PromptQueue;
  frames: StatusFrames;
  found: FoundInstructions;
  /** Called after an operation has settled and no turn follows it. */
  onIdle?: (() => void) | undefined;
}

/** Creates the scheduler in its idle state. */
export function createAgentTurns({ context, queue, frames, found, onIdle }: AgentTurnsDeps): AgentTurns {
  const { id, log, session } = context;
  const { features } = session;
  let closing = false;
  let turn: RunningTurn | undefined;
  let starting: StartingTurn | undefined;
  let exclusive: Occupation | undefined;
  /** Callbacks that may open a turn after the running operation, oldest first. */
  let woken: (() => TurnRequest | undefined)[] = [];

  const occupied = () => turn ?? starting ?? exclusive;

  function assertOpen(): void {
    if (closing) throw new ServiceError('session.busy', `session ${session.id} is being closed; try again`);
  }

  function start(prompt: QueuedPrompt, head: Draft[]): void {
    const { id: promptId, input } = prompt;
    const asked = features.flatMap(
      (feature) => feature.beforePrompt?.(context, { id: promptId, text: input.text }) ?? [],
    );
    if (asked.length === 0) {
      launch(promptRequest(id, prompt), head);
      return;
    }
    const controller = new AbortController();
    starting = { controller, input: [], done: Promise.resolve('running') };
    queue.starting = prompt;
    try {
      log.beginWork(head);
    } catch (error) {
      starting = queue.starting = undefined;
      throw error;
    }
    starting.done = startAfter(prompt, asked, starting);
    // No request waits for a prompt from the queue, so its error is logged.
    starting.done.catch((error: unknown) =>
      session.report(`a prompt of ${id} in ${log.sessionId} could not start`, error),
    );
  }

  async function startAfter(
    prompt: QueuedPrompt,
    asked: ((signal: AbortSignal) => Promise<PromptStart>)[],
    { controller: { signal }, input }: StartingTurn,
  ): Promise<Prompt['status']> {
    const verdict = await askOfPrompt(asked, signal);
    const { outcome, records, error } = verdict;
    starting = queue.starting = undefined;
    try {
      if (outcome === 'begins') launch(promptRequest(id, prompt), records, log.endWork).input.push(...input);
      else log.endWork(promptWithoutTurn(id, prompt, verdict, session.clock.now()));
    } finally {
      session.changed();
      if (!turn) {
        queue.forget(prompt.id);
        startNext(input);
        if (!turn) onIdle?.();
      }
    }
    if (outcome === 'failed') throw error;
    return outcome === 'refused' ? 'blocked' : 'running';
  }

  /** Starts a turn; all records that clients must receive together are one journal line. */
  function launch(request: TurnRequest, head: Draft[], append: (drafts: Draft[]) => unknown = log.append): RunningTurn {
    const { origin, promptId, prompt, shown, attachments = [], givesUpOn } = request;
    const turnId = countersOf(log.state.counters, id).nextTurnId;
    const x = {
      ...(shown === undefined ? {} : { text: shown }),
      ...(attachments.length > 0 ? { attachments } : {}),
    };
    append([
      ...head,
      event(
        id,
        'turn.started',
        {
          turnId,
          ...(promptId === undefined ? {} : { promptId }),
          origin,
          ...(prompt === undefined ? {} : { prompt }),
        },
        Object.keys(x).length > 0 ? x : undefined,
      ),
      ...inputDrafts(id, [request], 'turn'),
    ]);
    context.repeats.reset();
    const controller = new AbortController();
    // Every running call adds a listener.
    setMaxListeners(0, controller.signal);
    const current = () => running.promptId;
    const stream = createTurnStream({ agentId: id, turnId, promptId: current, log, frames, clock: session.clock });
    const running: RunningTurn = { controller, stream, done: Promise.resolve(CANCELLED), promptId, input: [] };
    stream.started();
    turn = running;
    woken = [];
    running.done = run(turnId, running, givesUpOn);
    return running;
  }

  async function run(turnId: number, running: RunningTurn, givesUpOn: TurnRequest['givesUpOn']): Promise<TurnEnd> {
    const { controller, stream, input } = running;
    const { signal } = controller;
    let end: TurnEnd = { outcome: 'failed' };
    try {
      end = await runTurn(context, {
        id: turnId,
        get promptId() {
          return running.promptId;
        },
        signal,
        givesUpOn,
        stream,
        takeInput: () => input.splice(0),
        reminders,
        async runTools(calls) {
          const { stopTurn } = await runToolBatch(
            context,
            { id: turnId, signal, stream, nestedInstructions: found.near },
            calls,
          );
          return stopTurn;
        },
      });
    } catch (error) {
      // The journal can no longer be written, so no end is recorded and the session becomes idle.
      session.report(`turn ${turnId} of ${id} in ${log.sessionId} could not be recorded`, error);
      session.interactions.endTurn(id, turnId);
    } finally {
      if (running.promptId !== undefined) queue.forget(running.promptId);
      turn = undefined;
      stream.ended(end.outcome);
      session.changed();
      startNext(input);
      if (!turn) onIdle?.();
    }
    return end;
  }

  async function standStill(own: Occupation, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await work(own.controller.signal);
    } finally {
      exclusive = undefined;
      session.changed();
      startNext(own.input);
      if (!turn) onIdle?.();
    }
  }

  /** Starts what follows: the next prompt, else input that was late for the ended turn, else a turn of `wake`. */
  function startNext(late: TurnRequest[]): void {
    if (closing || log.readOnly) return;
    const prompt = queue.next();
    try {
      if (prompt) start(prompt, []);
      else {
        const next = late.shift() ?? wokenTurn();
        if (next) {
          context.config.create();
          launch(next, []);
        } else woken = [];
      }
      (turn?.input ?? starting?.input)?.push(...late);
    } catch (error) {
      session.report(`the next turn of ${id} in ${log.sessionId} could not start`, error);
    }
  }

  function wokenTurn(): TurnRequest | undefined {
    for (const next of woken) {
      const request = next();
      if (request) return request;
    }
    return undefined;
  }

  const reminders = () => [
    ...stepReminders(requestMessages(context.state()), {
      now: new Date(session.clock.now()),
      mode: context.config.permission(),
    }),
    ...found.reminders(),
  ];

  return {
    get running() {
      return turn;
    },
    free: () => occupied() === undefined,
    starting: () => starting?.done,
    start,
    request(request) {
      // A turn that is being cancelled still records its input; no other operation would.
      if (!turn) assertOpen();
      const occupation = occupied();
      if (occupation) {
        occupation.input.push(request);
        return;
      }
      context.config.create();
      launch(request, []);
    },
    wake(next) {
      woken.push(next);
      if (!occupied()) startNext([]);
    },
    async run(request, signal) {
      // Waiting prompts run first: each starts as soon as the previous operation settles.
      for (let work = occupied(); work && !signal.aborted; work = occupied()) {
        await Promise.race([Promise.allSettled([work.done]), aborted(signal)]);
      }
      if (signal.aborted) return CANCELLED;
      assertOpen();
      context.config.create();
      const { controller, done } = launch(request, []);
      const onAbort = () => controller.abort(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      return done.finally(() => signal.removeEventListener('abort', onAbort));
    },
    exclusively(work) {
      if (occupied() || queue.waiting().length > 0) return undefined;
      assertOpen();
      const own: Occupation = { controller: new AbortController(), input: [], done: Promise.resolve() };
      exclusive = own;
      own.done = standStill(own, work);
      return own.done;
    },
    cancel(reason) {
      for (const occupation of [turn, starting, exclusive]) occupation?.controller.abort(reason);
    },
    assertOpen,
    async close(message) {
      closing = true;
      const occupations = [turn, starting, exclusive].filter((occupation) => occupation !== undefined);
      if (occupations.length === 0) return;
      const reason = new TurnAborted('server', message);
      for (const { controller } of occupations) controller.abort(reason);
      await Promise.allSettled(occupations.map(({ done }): Promise<unknown> => done));
    },
  };
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
