/**
 * What an agent is at work on: one turn at a time, or what no turn may begin beside, and what comes next. All of it
 * dies with the process.
 */
import { setMaxListeners } from 'node:events';
import { ServiceError } from '#server/errors/service-error.ts';
import { requestMessages } from '#server/journal/projections/context.ts';
import { countersOf } from '#server/journal/projections/counters.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { Prompt } from '#schema/prompt.ts';
import type { FoundInstructions } from './calls/found-instructions.ts';
import { runToolBatch } from './calls/tool-batch.ts';
import type { AgentContext, TurnRequest } from './context.ts';
import { TurnAborted } from './errors.ts';
import type { PromptStart } from './feature.ts';
import type { PromptQueue, QueuedPrompt } from './prompt-queue.ts';
import { askOfPrompt, promptRequest, promptWithoutTurn } from './prompt-start.ts';
import { stepReminders } from './prompt/reminders.ts';
import type { StatusFrames } from './status-frames.ts';
import { inputDrafts } from './turn-input.ts';
import { createTurnStream, type TurnStream } from './turn-stream.ts';
import { runTurn, type TurnEnd } from './turn.ts';

const CANCELLED: TurnEnd = { outcome: 'cancelled' };

/** What no turn may begin beside. */
interface Occupation<Result = void> {
  controller: AbortController;
  done: Promise<Result>;
  /** What enters the next turn, or opens one of its own when there is none. */
  input: TurnRequest[];
}

export interface RunningTurn extends Occupation<TurnEnd> {
  stream: TurnStream;
  /** Of the prompt that it works for. */
  promptId: string | undefined;
}

/** A prompt whose turn waits for features. */
type StartingTurn = Occupation<Prompt['status']>;

export interface AgentTurns {
  readonly running: RunningTurn | undefined;
  /** Nothing is at work. */
  free(): boolean;
  /** How the start of the prompt at the queue's head ends, while features work on it. */
  starting(): Promise<Prompt['status']> | undefined;
  /** A prompt's turn begins, now or when the features are done with the prompt; nothing may be at work. */
  start(prompt: QueuedPrompt, head: Draft[]): void;
  /** Enters the next step of the turn that runs, or opens a turn. Throws 40901 and 50003. */
  request(request: TurnRequest): void;
  /** Asked for a turn as soon as nothing is at work, unless one that runs by then has taken it in. */
  wake(next: () => TurnRequest | undefined): void;
  /** Runs a turn of its own, behind those that run or wait. Throws 40901 and 50003. */
  run(request: TurnRequest, signal: AbortSignal): Promise<TurnEnd>;
  /** Undefined when anything is at work or waits. */
  exclusively(work: (signal: AbortSignal) => Promise<void>): Promise<void> | undefined;
  cancel(reason: TurnAborted): void;
  /** Throws 40901 once it is being closed. */
  assertOpen(): void;
  /** Cancels what is at work, with a message for clients, and waits for its end; nothing begins any more. */
  close(message: string): Promise<void>;
}

export interface AgentTurnsDeps {
  context: AgentContext;
  queue: PromptQueue;
  frames: StatusFrames;
  found: FoundInstructions;
  /** Told when no turn runs any more. */
  onIdle?: (() => void) | undefined;
}

/** Nothing is at work. */
export function createAgentTurns({ context, queue, frames, found, onIdle }: AgentTurnsDeps): AgentTurns {
  const { id, log, session } = context;
  const { features } = session;
  let closing = false;
  let turn: RunningTurn | undefined;
  let starting: StartingTurn | undefined;
  let exclusive: Occupation | undefined;
  /** What may open a turn when the present one is cleared away, oldest first. */
  let woken: (() => TurnRequest | undefined)[] = [];

  const occupied = () => turn ?? starting ?? exclusive;

  function assertOpen(): void {
    if (closing) throw new ServiceError('session.busy', `session ${session.id} is being closed; try again`);
  }

  function start(prompt: QueuedPrompt, head: Draft[]): void {
    const { id: promptId, input } = prompt;
    const asked = features.flatMap(
      (feature) => feature.promptStarts?.(context, { id: promptId, text: input.text }) ?? [],
    );
    if (asked.length === 0) {
      launch(promptRequest(id, prompt), head);
      return;
    }
    const controller = new AbortController();
    starting = { controller, input: [], done: Promise.resolve('running') };
    queue.starting = prompt;
    try {
      log.hold(head);
    } catch (error) {
      starting = queue.starting = undefined;
      throw error;
    }
    starting.done = startAfter(prompt, asked, starting);
    // Who submitted it is told; one that waited has nobody else.
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
      if (outcome === 'begins') launch(promptRequest(id, prompt), records, log.release).input.push(...input);
      else log.release(promptWithoutTurn(id, prompt, verdict, session.clock.now()));
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

  /** Begins a turn; everything clients must see at once is one line. */
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
    // Every call that runs listens to it.
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
      // The journal cannot be written any more: nothing can be recorded, so the session just goes idle.
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

  /** The next prompt, what came too late for the turn that has ended, or what woke the agent. */
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
      const occupation = occupied();
      if (occupation) {
        occupation.input.push(request);
        return;
      }
      assertOpen();
      context.config.create();
      launch(request, []);
    },
    wake(next) {
      woken.push(next);
      if (!occupied()) startNext([]);
    },
    async run(request, signal) {
      // What waits goes first; the next one begins with the end of the one before.
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
