/**
 * One agent of a session: its configuration, its prompts and the turn that runs. State is read from the journal's
 * folds; what is kept here dies with the process.
 */
import { setMaxListeners } from 'node:events';
import { ServiceError } from '#server/errors/service-error.ts';
import { contextSize } from '#server/journal/context-size.ts';
import { readContext, requestMessages } from '#server/journal/projections/context.ts';
import { countersOf } from '#server/journal/projections/counters.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { VolatileFact } from '#server/journal/log-listeners.ts';
import type { Tool } from '#server/tools/tool.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { UsageStatus } from '#schema/events/volatile.ts';
import type { InFlightTurn } from '#schema/message.ts';
import type { Prompt } from '#schema/prompt.ts';
import { iso } from '#schema/scalars.ts';
import { createAgentConfig, type AgentLife } from './agent-config.ts';
import { createAgentTools } from './agent-tools.ts';
import { createFoundInstructions } from './calls/found-instructions.ts';
import { createRepeatGuard } from './calls/repeat-guard.ts';
import { runToolBatch } from './calls/tool-batch.ts';
import type { AgentContext, SessionContext, TurnRequest } from './context.ts';
import { TurnAborted } from './errors.ts';
import type { PromptStart } from './feature.ts';
import { askOfPrompt, promptRequest, promptWithoutTurn } from './prompt-start.ts';
import { createPromptQueue, type PromptQueue, type QueuedPrompt } from './prompt-queue.ts';
import { stepReminders } from './prompt/reminders.ts';
import { createStatusFrames } from './status-frames.ts';
import { steering } from './steering.ts';
import { createTurnStream, type TurnStream } from './turn-stream.ts';
import { inputDrafts, runTurn, type TurnEnd } from './turn.ts';

export interface Agent {
  readonly id: string;
  readonly context: AgentContext;
  readonly queue: PromptQueue;
  /** Accepts a prompt: starts its turn or queues it. `head` are records that go in front on the same line. */
  submit(prompt: QueuedPrompt, head: Draft[]): Prompt;
  /** How the start of this prompt ends, while features work on it; nothing once its turn has begun. */
  starting(promptId: string): Promise<Prompt['status']> | undefined;
  prompts(): Promise<{ active: Prompt | null; queued: Prompt[] }>;
  /** 40402, 40903, 50003. */
  abortPrompt(id: string): void;
  /** Puts waiting prompts into the turn that runs, all or none. Throws 40402, 50003. */
  steer(ids: readonly string[]): void;
  /** Cancels the running turn or what it waits for, if any; as the user's wish unless it says another reason. */
  cancelTurn(reason?: TurnAborted): void;
  /** The running turn was cancelled, and its end is on the way. */
  readonly cancelling: boolean;
  /**
   * Runs a turn of its own, behind those that run or wait, and tells how it ended. The signal cancels this turn alone; its
   * reason is a `TurnAborted`. The session must be claimed. Throws 40901 while the session is being closed, and 50003.
   */
  runTurn(request: TurnRequest, signal: AbortSignal): Promise<TurnEnd>;
  /**
   * Work that the agent's conversation has to stand still for: no turn begins meanwhile, what is asked of the agent waits.
   * `cancelTurn` fires its signal. Resolves at its end; undefined when a turn runs or anything waits already.
   */
  exclusively(work: (signal: AbortSignal) => Promise<void>): Promise<void> | undefined;
  /** Every registered tool with the verdict of the tool policy; all are active while no profile is bound. */
  tools(): { tool: Tool; active: boolean }[];
  inFlight(): InFlightTurn | null;
  /** What it told that is in no record, in order. */
  untold(): VolatileFact[];
  idle(): boolean;
  /** Ends the turn and drops the queue; returns the records of the agent's end, for the journal's last line. */
  close(reason: 'closed' | 'archived' | 'evicted', message: string): Promise<Draft[]>;
}

const CANCELLED: TurnEnd = { outcome: 'cancelled' };

interface RunningTurn {
  controller: AbortController;
  stream: TurnStream;
  done: Promise<TurnEnd>;
  /** Of the prompt that it works for. */
  promptId: string | undefined;
  /** What enters at its next step. */
  input: TurnRequest[];
}

export interface AgentOptions extends AgentLife {
  /** Told when no turn runs any more. */
  onIdle?: () => void;
}

/** What no turn may begin beside. */
interface Occupation<Result = void> {
  controller: AbortController;
  done: Promise<Result>;
  /** What enters the next turn, or opens one of its own when there is none. */
  input: TurnRequest[];
}

/** A prompt whose turn waits for features. */
type StartingTurn = Occupation<Prompt['status']>;

/** Creates the agent over a loaded journal; appends nothing. */
export function createAgent(session: SessionContext, id: string, options: AgentOptions = {}): Agent {
  const { log, program, features } = session;
  const state = () => readContext(log.state.context, id);
  const frames = createStatusFrames(log, id, standingFacts);
  const queue = createPromptQueue(log, id);
  let closing = false;
  let turn: RunningTurn | undefined;
  /** What may open a turn when the present one is cleared away, oldest first. */
  let woken: (() => TurnRequest | undefined)[] = [];
  let starting: StartingTurn | undefined;
  let exclusive: Occupation | undefined;

  const occupied = () => turn ?? starting ?? exclusive;

  const gather = () => [...program.tools, ...features.flatMap((feature) => feature.tools?.(context) ?? [])];
  const tools = createAgentTools(program, gather, state);

  const context: AgentContext = {
    id,
    session,
    log,
    get config() {
      return config;
    },
    repeats: createRepeatGuard(),
    state,
    tools,
    environment: () => ({
      ...program.reach(session),
      sessionId: session.id,
      agentId: id,
      activeTools: tools().activeNames,
    }),
    tellFacts: frames.facts,
    request(request) {
      const occupation = occupied();
      if (occupation) {
        occupation.input.push(request);
        return;
      }
      assertOpen();
      config.create();
      launch(request, []);
    },
    wake(next) {
      woken.push(next);
      if (!occupied()) startNext([]);
    },
  };
  const config = createAgentConfig(context, frames, options);
  const found = createFoundInstructions(context);

  function standingFacts() {
    const model = config.model();
    const max = config.maxContextTokens();
    const tokens = contextSize(state());
    return {
      ...(model ? { model } : {}),
      contextTokens: tokens,
      ...(max ? { maxContextTokens: max, contextUsage: Math.min(1, tokens / max) } : {}),
      usage: usageStatus(),
    };
  }

  function usageStatus(): UsageStatus {
    const usage = log.state.usage.get(id);
    if (!usage) return {};
    const { total, byModel, currentTurn } = usage;
    return { byModel, total, ...(turn ? { currentTurn } : {}) };
  }

  /** A prompt's turn begins, now or when the features are done with the prompt. */
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
        if (!turn) options.onIdle?.();
      }
    }
    if (outcome === 'failed') throw error;
    return outcome === 'refused' ? 'blocked' : 'running';
  }

  /** Begins a turn; everything clients must see at once is one line. */
  function launch(request: TurnRequest, head: Draft[], append: (drafts: Draft[]) => unknown = log.append): RunningTurn {
    const { origin, promptId, prompt, attachments = [] } = request;
    const turnId = countersOf(log.state.counters, id).nextTurnId;
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
        attachments.length > 0 ? { attachments } : undefined,
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
    running.done = run(turnId, running);
    return running;
  }

  async function run(turnId: number, running: RunningTurn): Promise<TurnEnd> {
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
      if (!turn) options.onIdle?.();
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
      if (!turn) options.onIdle?.();
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
        if (next) launch(next, []);
        else woken = [];
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

  function assertOpen(): void {
    if (closing) throw new ServiceError('session.busy', `session ${session.id} is being closed; try again`);
  }

  const reminders = () => [
    ...stepReminders(requestMessages(state()), { now: new Date(session.clock.now()), mode: config.permission() }),
    ...found.reminders(),
  ];

  return {
    id,
    context,
    queue,

    submit(prompt, head) {
      assertOpen();
      const waits = occupied() !== undefined || queue.waiting().length > 0;
      const status = waits ? 'queued' : 'running';
      const { content, eventContent } = prompt.input;
      const createdAt = iso(prompt.createdAt);
      const ids = { promptId: prompt.id, userMessageId: prompt.id };
      const accepted = event(id, 'prompt.submitted', { ...ids, status, content: eventContent, createdAt });
      queue.keep(prompt);
      try {
        if (waits) {
          const queueLength = queue.waiting().length + 1;
          const queued = event(id, 'prompt.queued', { promptId: prompt.id, content: eventContent, queueLength });
          log.append([...head, accepted, queued]);
        } else start(prompt, [...head, accepted]);
      } catch (error) {
        queue.forget(prompt.id);
        throw error;
      }
      session.changed();
      return { prompt_id: prompt.id, user_message_id: prompt.id, status, content, created_at: createdAt };
    },

    starting: (promptId) => (queue.starting?.id === promptId ? starting?.done : undefined),

    prompts: () => log.load({ active: queue.active(), queued: queue.waiting() }),

    abortPrompt(promptId) {
      if (queue.abortable(promptId) === 'active') {
        this.cancelTurn();
        return;
      }
      log.append([event(id, 'prompt.aborted', { promptId, abortedAt: iso(session.clock.now()) })]);
      queue.forget(promptId);
    },

    steer(ids) {
      // A turn whose end is recorded is over, whatever is left to be cleared away.
      const running = log.state.activity.turns.has(id) ? turn : undefined;
      if (!running) throw new ServiceError('prompt.not_found', 'no active prompt to steer into');
      const prompts = queue.steerable(ids);
      const [{ id: first }] = prompts;
      const { record, request } = steering(id, prompts, running.promptId, session.clock.now());
      log.append([record]);
      running.promptId ??= first;
      running.input.push(request);
      for (const prompt of prompts) if (prompt.id !== running.promptId) queue.forget(prompt.id);
    },

    get cancelling() {
      return turn?.controller.signal.aborted === true;
    },

    cancelTurn(reason = new TurnAborted('user', 'interrupted by the user')) {
      turn?.controller.abort(reason);
      starting?.controller.abort(reason);
      exclusive?.controller.abort(reason);
    },

    async runTurn(request, signal) {
      // What waits goes first; the next one begins with the end of the one before.
      for (let work = occupied(); work && !signal.aborted; work = occupied()) {
        await Promise.race([Promise.allSettled([work.done]), aborted(signal)]);
      }
      if (signal.aborted) return CANCELLED;
      assertOpen();
      config.create();
      const { controller, done } = launch(request, []);
      const onAbort = () => controller.abort(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      return done.finally(() => signal.removeEventListener('abort', onAbort));
    },

    exclusively(work) {
      if (occupied() || queue.waiting().length > 0) return undefined;
      assertOpen();
      const controller = new AbortController();
      const own: Occupation = { controller, input: [], done: Promise.resolve() };
      exclusive = own;
      own.done = standStill(own, work);
      return own.done;
    },

    tools() {
      const { all, activeNames } = tools();
      const unbound = state().bound === undefined;
      return all.map((tool) => ({ tool, active: unbound || activeNames.has(tool.name) }));
    },
    inFlight: () => (id === MAIN_AGENT && turn ? turn.stream.view() : null),
    untold() {
      const phase = frames.lastPhase();
      return [
        ...(turn?.stream.untold() ?? []),
        ...(phase ? [{ type: 'agent.status.updated' as const, fields: { phase } }] : []),
      ];
    },
    idle: () => occupied() === undefined && queue.waiting().length === 0,

    async close(reason, message) {
      closing = true;
      const occupations = [turn, starting, exclusive];
      const aborted = new TurnAborted('server', message);
      for (const occupation of occupations) occupation?.controller.abort(aborted);
      await Promise.allSettled(occupations.flatMap((occupation) => occupation?.done ?? []));
      if (!config.created || log.readOnly) return [];
      const abortedAt = iso(session.clock.now());
      const left = queue
        .waiting()
        .map(({ prompt_id }) => event(id, 'prompt.aborted', { promptId: prompt_id, abortedAt }));
      const last = features.flatMap((feature) => feature.closing?.(context) ?? []);
      return [...left, ...last, event(id, 'agent.disposed', {}, { reason })];
    },
  };
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

/** 40401 of a request that names an agent the session does not have. */
export const agentNotFound = (id: string) => new ServiceError('session.not_found', `agent ${id} does not exist`);
