/**
 * One agent of a session: its binding, its prompts and the turn that runs (engine.md §1, §2.1, §2.7). State is read
 * from the journal's folds; what is kept here dies with the process.
 */
import { resolve } from 'node:path';
import { ServiceError } from '#server/errors/service-error.ts';
import { event, type Draft } from '#server/journal/records.ts';
import { readContext, requestMessages } from '#server/journal/projections/context.ts';
import { countersOf } from '#server/journal/projections/counters.ts';
import type { ContextMessage, ToolCall } from '#schema/engine.ts';
import type { UsageStatus } from '#schema/events/volatile.ts';
import type { InFlightTurn } from '#schema/message.ts';
import type { Prompt } from '#schema/prompt.ts';
import { iso, type PermissionMode, type TurnOutcome } from '#schema/scalars.ts';
import type { SessionWarning } from '#schema/session.ts';
import { toolSchemas } from '#server/tools/registry.ts';
import type { Tool } from '#server/tools/tool.ts';
import { createAgentConfig } from './agent-config.ts';
import { contextSize } from './context-size.ts';
import { TurnAborted } from './errors.ts';
import type { AgentChange, AgentContext } from './context.ts';
import { createTurnStream, type TurnStream } from './turn-stream.ts';
import { createPromptQueue, promptView, type PromptQueue, type QueuedPrompt } from './prompt-queue.ts';
import { reminder, stepReminders } from './prompt/reminders.ts';
import { createRepeatGuard } from './calls/repeat-guard.ts';
import { createStatusFrames } from './status-frames.ts';
import { runToolBatch } from './calls/tool-batch.ts';
import { runTurn } from './turn.ts';

export interface Agent {
  readonly id: string;
  readonly queue: PromptQueue;
  /** Facts of the fold, also before the agent was ever used. */
  facts(): {
    model: string | undefined;
    effort: string;
    permission: PermissionMode;
    maxContextTokens: number | undefined;
    contextTokens: number;
    profile: string | undefined;
  };
  warnings(): SessionWarning[];
  /** Applies a change; binds an unbound agent when a profile or model is given. */
  change(change: AgentChange): Promise<void>;
  /** Re-renders the system prompt; `cause` says why. */
  refreshPrompt(cause: string): Promise<void>;
  /** Accepts a prompt: starts its turn or queues it. `head` are records that go in front on the same line. */
  submit(prompt: QueuedPrompt, head: Draft[]): Promise<Prompt>;
  prompts(): { active: Prompt | null; queued: Prompt[] };
  /** 40402, 40903. */
  abortPrompt(id: string): Promise<void>;
  /** Cancels the running turn, if any, as the user's wish. */
  cancelTurn(): void;
  /** Every registered tool with the verdict of the tool policy; all are active while no profile is bound. */
  tools(): { tool: Tool; active: boolean }[];
  inFlight(): InFlightTurn | null;
  idle(): boolean;
  /** Ends the turn and drops the queue; returns the records of the agent's end, for the journal's last line. */
  close(reason: 'closed' | 'archived' | 'evicted', message: string): Promise<Draft[]>;
}

interface RunningTurn {
  controller: AbortController;
  live: TurnStream;
  done: Promise<void>;
}

/** Creates the agent over a loaded journal; appends nothing. */
export function createAgent(host: AgentContext): Agent {
  const { id, log } = host;
  const repeats = createRepeatGuard();
  const queue = createPromptQueue((promptId) => log.state.prompts.get(id)?.used.has(promptId) === true);
  const frames = createStatusFrames(log, id, standingFacts);
  const binding = createAgentConfig(host, frames);
  let closing = false;
  let turn: RunningTurn | undefined;
  let nextTurnId = 0;
  let newInstructionFiles: string[] = [];

  const context = () => readContext(log.state.context, id);
  const messages = (): ContextMessage[] => requestMessages(context());

  const contextTokens = (entering: ContextMessage[] = []) => contextSize(context(), currentSchemas, entering);

  function standingFacts() {
    const model = binding.model();
    const max = binding.maxContextTokens();
    const tokens = contextTokens();
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

  const currentSchemas = () => toolSchemas(binding.activeTools());

  /** Begins the turn of a prompt; everything clients must see at once is one line. */
  function launch(prompt: QueuedPrompt, head: Draft[]): void {
    const turnId = Math.max(nextTurnId, countersOf(log.state.counters, id).nextTurnId);
    nextTurnId = turnId + 1;
    const { input } = prompt;
    const opening: ContextMessage = {
      role: 'user',
      content: input.parts,
      toolCalls: [],
      origin: { kind: 'user' },
      id: prompt.id,
    };
    log.append([
      ...head,
      event(
        id,
        'turn.started',
        { turnId, promptId: prompt.id, origin: { kind: 'user' }, prompt: input.text },
        input.attachments.length > 0 ? { attachments: input.attachments } : undefined,
      ),
      ...host.work.change({
        busy: true,
        ...(id === 'main' ? { main_turn_active: true, last_turn_reason: undefined } : {}),
      }),
      event(
        id,
        'context.spliced',
        { start: context().entries.length, deleteCount: 0, messages: [opening], tokens: contextTokens([opening]) },
        { cause: 'input', enters: 'turn' },
      ),
    ]);
    repeats.reset();
    const controller = new AbortController();
    const live = createTurnStream({ agentId: id, turnId, promptId: prompt.id, log, frames, now: host.now });
    live.started();
    const done = run(turnId, prompt, controller, live);
    turn = { controller, live, done };
  }

  async function run(
    turnId: number,
    prompt: QueuedPrompt,
    controller: AbortController,
    live: TurnStream,
  ): Promise<void> {
    let outcome: TurnOutcome = 'failed';
    try {
      await log.flushed();
      outcome = await runTurn({
        agentId: id,
        turnId,
        promptId: prompt.id,
        log,
        live,
        signal: controller.signal,
        now: host.now,
        limits: host.limits,
        freezeModel: binding.freeze,
        messages,
        contextLength: () => context().entries.length,
        contextTokens,
        reminders,
        toolSchemas: currentSchemas,
        budget: (model) => host.budget(model, contextTokens()),
        stream: host.stream,
        usedCallIds: () => countersOf(log.state.counters, id).toolCallIds,
        runTools: (calls, signal) => runTools(turnId, calls, live, signal),
        closeInteractions: () => host.approvals.endTurn(id, turnId),
        workEnded,
      });
    } catch (error) {
      // The journal cannot be written any more: nothing can be recorded, so the session just goes idle.
      host.report(`turn ${turnId} of ${id} in ${log.sessionId} could not be recorded`, error);
      host.approvals.endTurn(id, turnId);
      workEnded('failed');
    } finally {
      queue.settle(prompt.id);
      turn = undefined;
      live.ended(outcome);
      host.viewChanged();
      startNext();
    }
  }

  function workEnded(outcome: TurnOutcome): Draft[] {
    return host.work.change({
      busy: false,
      ...(id === 'main' ? { main_turn_active: false, last_turn_reason: outcome } : {}),
    });
  }

  function startNext(): void {
    if (closing || log.readOnly) return;
    const next = queue.activateNext();
    if (next) launch(next, []);
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
    return [...stepReminders(messages(), { now: new Date(host.now()), mode: binding.permission() }), ...nested];
  }

  async function runTools(turnId: number, calls: ToolCall[], live: TurnStream, signal: AbortSignal): Promise<boolean> {
    const active = binding.activeTools();
    const { stopTurn } = await runToolBatch(calls, {
      agentId: id,
      turnId,
      signal,
      tools: new Map(host.tools.map((tool) => [tool.name, tool])),
      environment: { ...host.environment(), activeTools: new Set(active.map((tool) => tool.name)) },
      append: log.append,
      progress: live.toolProgress,
      decide: (tool, plan) => host.decide(tool, plan, binding.permission()),
      approvals: host.approvals,
      knownFiles: () => context().files,
      repeats,
      report: host.report,
      nestedInstructions: async (plan) => {
        const { cwd } = host.environment();
        const { display, accesses } = plan;
        const command =
          display?.kind === 'command' ? { line: display.command, cwd: resolve(cwd, display.cwd ?? '.') } : undefined;
        const found = await host.nestedInstructions(
          { accesses, command, cwd },
          new Set([...context().agentsMd, ...binding.shownInstructions()]),
        );
        // Calls that run side by side may find the same file; the first names it.
        const fresh = found.filter((path) => !newInstructionFiles.includes(path));
        newInstructionFiles.push(...fresh);
        return fresh;
      },
      observe: { waiting: live.waiting, started: live.toolStarted, ended: live.toolEnded },
    });
    return stopTurn;
  }

  return {
    id,
    queue,
    facts: () => ({
      model: binding.model(),
      effort: (binding.model() && context().config.thinkingEffort) ?? '',
      permission: binding.permission(),
      maxContextTokens: binding.maxContextTokens(),
      contextTokens: contextTokens(),
      profile: context().bound?.profile,
    }),
    warnings: binding.warnings,
    change: binding.change,
    refreshPrompt: binding.refreshPrompt,

    async submit(prompt, head) {
      const waits = turn !== undefined || queue.active() !== undefined || queue.waiting().length > 0;
      queue.add(prompt);
      const status = waits ? 'queued' : 'running';
      const { eventContent: content } = prompt.input;
      const accepted = event(id, 'prompt.submitted', {
        promptId: prompt.id,
        userMessageId: prompt.id,
        status,
        content,
        createdAt: iso(prompt.createdAt),
      });
      if (waits) {
        const queueLength = queue.waiting().length;
        log.append([...head, accepted, event(id, 'prompt.queued', { promptId: prompt.id, content, queueLength })]);
      } else {
        queue.activateNext();
        launch(prompt, [...head, accepted]);
      }
      await log.flushed();
      host.viewChanged();
      return promptView(prompt, status);
    },

    prompts() {
      const active = queue.active();
      return {
        active: active ? promptView(active, 'running') : null,
        queued: queue.waiting().map((prompt) => promptView(prompt, 'queued')),
      };
    },

    async abortPrompt(promptId) {
      if (queue.abort(promptId) === 'active') {
        this.cancelTurn();
        return;
      }
      log.append([event(id, 'prompt.aborted', { promptId, abortedAt: iso(host.now()) })]);
      await log.flushed();
    },

    cancelTurn() {
      turn?.controller.abort(new TurnAborted('user', 'interrupted by the user'));
    },

    tools() {
      const { activeTools: active } = host.environment();
      const unbound = context().bound === undefined;
      return host.tools.map((tool) => ({ tool, active: unbound || active.has(tool.name) }));
    },
    inFlight: () => (id === 'main' && turn ? turn.live.view() : null),
    idle: () => turn === undefined && queue.waiting().length === 0,

    async close(reason, message) {
      closing = true;
      const running = turn;
      running?.controller.abort(new TurnAborted('server', message));
      await running?.done;
      if (!binding.created || log.readOnly) return [];
      const aborted = queue
        .drain()
        .map((prompt) => event(id, 'prompt.aborted', { promptId: prompt.id, abortedAt: iso(host.now()) }));
      const gone = id === 'main' ? host.work.change({ last_turn_reason: undefined }) : [];
      return [...aborted, ...gone, event(id, 'agent.disposed', {}, { reason })];
    },
  };
}

/** 40401 of a request that names an agent the session does not have. */
export const agentNotFound = (id: string) => new ServiceError('session.not_found', `agent ${id} does not exist`);
