/**
 * One agent of a session: its configuration, its prompts and the turn that runs. State is read from the journal's
 * folds; what is kept here dies with the process.
 */
import { resolve } from 'node:path';
import { ServiceError } from '#server/errors/service-error.ts';
import { contextSize } from '#server/journal/context-size.ts';
import { readContext, requestMessages } from '#server/journal/projections/context.ts';
import { countersOf } from '#server/journal/projections/counters.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { VolatileFact } from '#server/journal/log-listeners.ts';
import type { Stored } from '#server/journal/texts.ts';
import type { PreparedCall, Tool } from '#server/tools/tool.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { ContextMessage, Origin } from '#schema/engine.ts';
import type { UsageStatus } from '#schema/events/volatile.ts';
import type { InFlightTurn } from '#schema/message.ts';
import type { Prompt } from '#schema/prompt.ts';
import { iso } from '#schema/scalars.ts';
import { createAgentConfig, type AgentLife } from './agent-config.ts';
import { createRepeatGuard } from './calls/repeat-guard.ts';
import { runToolBatch } from './calls/tool-batch.ts';
import type { AgentContext, SessionContext, TurnRequest } from './context.ts';
import { TurnAborted } from './errors.ts';
import { createPromptQueue, type PromptQueue, type QueuedPrompt } from './prompt-queue.ts';
import { reminder, stepReminders } from './prompt/reminders.ts';
import { createStatusFrames } from './status-frames.ts';
import { steering } from './steering.ts';
import { createToolList } from './tool-list.ts';
import { createTurnStream, type TurnStream } from './turn-stream.ts';
import { inputDrafts, runTurn, type TurnEnd } from './turn.ts';

export interface Agent {
  readonly id: string;
  readonly context: AgentContext;
  readonly queue: PromptQueue;
  /** Accepts a prompt: starts its turn or queues it. `head` are records that go in front on the same line. */
  submit(prompt: QueuedPrompt, head: Draft[]): Prompt;
  prompts(): Promise<{ active: Prompt | null; queued: Prompt[] }>;
  /** 40402, 40903, 50003. */
  abortPrompt(id: string): void;
  /** Puts waiting prompts into the turn that runs, all or none. Throws 40402, 50003. */
  steer(ids: readonly string[]): void;
  /** Cancels the running turn, if any; as the user's wish unless it says another reason. */
  cancelTurn(reason?: TurnAborted): void;
  /** The running turn was cancelled, and its end is on the way. */
  readonly cancelling: boolean;
  /**
   * Runs a turn of its own, behind those that run or wait, and tells how it ended. The session must be claimed. Throws
   * 40901 while the session is being closed, and 50003.
   */
  runTurn(request: TurnRequest): Promise<TurnEnd>;
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

/** Creates the agent over a loaded journal; appends nothing. */
export function createAgent(session: SessionContext, id: string, options: AgentOptions = {}): Agent {
  const { log, program, features } = session;
  const state = () => readContext(log.state.context, id);
  const toolList = createToolList();
  const frames = createStatusFrames(log, id, standingFacts);
  const queue = createPromptQueue(log, id);
  let closing = false;
  let turn: RunningTurn | undefined;
  /** What may open a turn when the present one is cleared away, oldest first. */
  let woken: (() => TurnRequest | undefined)[] = [];
  let newInstructionFiles: string[] = [];

  const tools = () => [...program.tools, ...features.flatMap((feature) => feature.tools?.(context) ?? [])];

  function activeTools(): Tool[] {
    const all = tools();
    const names = all.map((tool) => tool.name);
    const { active } = program.toolPolicy(names, state().bound, state().disabledTools);
    return all.filter((tool) => active.has(tool.name));
  }

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
    activeTools,
    toolList: () => toolList(activeTools()),
    environment: () => ({
      ...program.reach(session),
      sessionId: session.id,
      agentId: id,
      activeTools: new Set(activeTools().map((tool) => tool.name)),
    }),
    tellFacts: frames.facts,
    request(request) {
      if (turn) {
        turn.input.push(request);
        return;
      }
      assertOpen();
      config.create();
      launch(request, []);
    },
    wake(next) {
      woken.push(next);
      if (!turn) startNext([]);
    },
  };
  const config = createAgentConfig(context, frames, options);

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

  /** Begins a turn; everything clients must see at once is one line. */
  function launch(request: TurnRequest, head: Draft[]): RunningTurn {
    const { origin, promptId, prompt, attachments = [] } = request;
    const turnId = countersOf(log.state.counters, id).nextTurnId;
    log.append([
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
    const current = () => running.promptId;
    const stream = createTurnStream({ agentId: id, turnId, promptId: current, log, frames, clock: session.clock });
    const running: RunningTurn = { controller, stream, done: Promise.resolve(CANCELLED), promptId, input: [] };
    stream.started();
    turn = running;
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
          const { stopTurn } = await runToolBatch(context, { id: turnId, signal, stream, nestedInstructions }, calls);
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

  /** The next prompt, what came too late for the turn that has ended, or what woke the agent. */
  function startNext(late: TurnRequest[]): void {
    if (closing || log.readOnly) return;
    const prompt = queue.next();
    const next = prompt ? promptRequest(prompt) : (late.shift() ?? wokenTurn());
    woken = [];
    if (!next) return;
    try {
      launch(next, []).input.push(...late);
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

  function reminders(): ContextMessage[] {
    const files = newInstructionFiles.splice(0);
    const nested =
      files.length > 0
        ? [
            reminder(
              'agents_md',
              `These instruction files apply to the directories you just worked in; read them before you go on there:\n${files.join('\n')}`,
            ),
          ]
        : [];
    const facts = { now: new Date(session.clock.now()), mode: config.permission() };
    return [...stepReminders(requestMessages(state()), facts), ...nested];
  }

  async function nestedInstructions({ display, accesses }: PreparedCall): Promise<string[]> {
    const { cwd } = session;
    const command =
      display?.kind === 'command' ? { line: display.command, cwd: resolve(cwd, display.cwd ?? '.') } : undefined;
    const known = new Set([...state().agentsMd, ...(await config.shownInstructions())]);
    const found = await program.nestedInstructions({ accesses, command, cwd }, known);
    // Calls that run side by side may find the same file; the first names it.
    const fresh = found.filter((path) => !newInstructionFiles.includes(path));
    newInstructionFiles.push(...fresh);
    return fresh;
  }

  return {
    id,
    context,
    queue,

    submit(prompt, head) {
      assertOpen();
      const waits = turn !== undefined || queue.waiting().length > 0;
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
        } else launch(promptRequest(prompt), [...head, accepted]);
      } catch (error) {
        queue.forget(prompt.id);
        throw error;
      }
      session.changed();
      return { prompt_id: prompt.id, user_message_id: prompt.id, status, content, created_at: createdAt };
    },

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
    },

    async runTurn(request) {
      // What waits goes first; the next one begins with the end of the one before.
      for (let running = turn; running; running = turn) await running.done;
      assertOpen();
      config.create();
      return launch(request, []).done;
    },

    tools() {
      const active = new Set(activeTools());
      const unbound = state().bound === undefined;
      return tools().map((tool) => ({ tool, active: unbound || active.has(tool) }));
    },
    inFlight: () => (id === MAIN_AGENT && turn ? turn.stream.view() : null),
    untold() {
      const phase = frames.lastPhase();
      return [
        ...(turn?.stream.untold() ?? []),
        ...(phase ? [{ type: 'agent.status.updated' as const, fields: { phase } }] : []),
      ];
    },
    idle: () => turn === undefined && queue.waiting().length === 0,

    async close(reason, message) {
      closing = true;
      const running = turn;
      running?.controller.abort(new TurnAborted('server', message));
      await running?.done;
      if (!config.created || log.readOnly) return [];
      const abortedAt = iso(session.clock.now());
      const aborted = queue
        .waiting()
        .map(({ prompt_id }) => event(id, 'prompt.aborted', { promptId: prompt_id, abortedAt }));
      const last = features.flatMap((feature) => feature.closing?.(context) ?? []);
      return [...aborted, ...last, event(id, 'agent.disposed', {}, { reason })];
    },
  };
}

function promptRequest({ id, input }: QueuedPrompt): TurnRequest {
  const origin: Origin = { kind: 'user' };
  const { text, attachments, parts } = input;
  const opening: Stored<ContextMessage> = { role: 'user', content: parts, toolCalls: [], origin, id };
  return { origin, promptId: id, prompt: text, attachments, messages: [opening] };
}

/** 40401 of a request that names an agent the session does not have. */
export const agentNotFound = (id: string) => new ServiceError('session.not_found', `agent ${id} does not exist`);
