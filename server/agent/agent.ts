/**
 * One agent of a session: its binding, its prompts and the turn that runs (engine.md §1, §2.1, §2.7). State is read
 * from the journal's folds; what is kept here dies with the process.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { ServiceError } from '../errors.ts';
import { engine, event, type AgentConfigFields, type Draft } from '../journal/records.ts';
import { readContext, requestMessages } from '../journal/projections/context.ts';
import { countersOf } from '../journal/projections/counters.ts';
import type { SessionLog } from '../journal/session-log.ts';
import type { Decision } from '../permissions/policy.ts';
import type { ModelRequest, ModelResponse, RequestSettings, ResolvedModel, StreamPart } from '../models/types.ts';
import { estimateMessages, estimateTools } from '../models/estimate.ts';
import type { ContextMessage, ToolCall } from '../schema/engine.ts';
import type { PermissionMode } from '../schema/scalars.ts';
import type { UsageStatus } from '../schema/events/volatile.ts';
import type { InFlightTurn } from '../schema/message.ts';
import type { Prompt } from '../schema/prompt.ts';
import { iso, type TurnOutcome } from '../schema/scalars.ts';
import type { SessionWarning } from '../schema/session.ts';
import type { Approvals } from '../sessions/approvals.ts';
import type { WorkState } from '../sessions/work-state.ts';
import { toolSchemas } from '../tools/registry.ts';
import type { Tool, ToolEnvironment, ToolPlan } from '../tools/types.ts';
import { EngineError, TurnAborted } from './errors.ts';
import type { Instructions } from './instructions.ts';
import { createLiveTurn, type LiveTurn } from './live-turn.ts';
import { findNestedInstructions } from './nested-instructions.ts';
import { createPromptQueue, promptView, type PromptQueue, type QueuedPrompt } from './prompt-queue.ts';
import type { Profile } from './profile.ts';
import { reminder, stepReminders } from './reminders.ts';
import { createRepeatGuard } from './repeat-guard.ts';
import { createStatusFrames } from './status-frames.ts';
import { instructionsSection } from './system-prompt.ts';
import { runToolBatch } from './tool-batch.ts';
import { runTurn, type TurnModel } from './turn.ts';

/** What an agent needs from the session and the program around it. */
export interface AgentHost {
  id: string;
  log: SessionLog;
  work: WorkState;
  approvals: Approvals;
  tools: readonly Tool[];
  now(): number;
  environment(): ToolEnvironment;
  defaultPermission(): PermissionMode;
  /** Throws what makes the alias unusable. */
  resolveModel(alias: string): ResolvedModel;
  /** Effort that a wish (or none) becomes on this model. */
  effort(model: ResolvedModel, wanted: string | undefined): string;
  settings(model: ResolvedModel, effort: string): RequestSettings;
  /** Completion cap in tokens when this many are already used. */
  budget(model: ResolvedModel, used: number): number | undefined;
  limits(): { maxSteps: number; maxAttempts: number };
  readInstructions(): Promise<Instructions>;
  renderPrompt(instructions: Instructions): Promise<string>;
  /** Entries of the configured and the session's tool lists that fit no tool (engine.md §6.5). */
  ineffectiveToolPatterns(): string[];
  decide(tool: string, plan: ToolPlan, mode: PermissionMode): Promise<Decision>;
  stream(request: ModelRequest, onPart: (part: StreamPart) => void): Promise<ModelResponse>;
  /** A turn has ended or a prompt was accepted: the session's cold view changed. */
  viewChanged(): void;
  /** Logs what no client can be told. */
  report(what: string, error: unknown): void;
}

/** A change of binding or mode; absent members stay (turns.md §2.1, core.md §6.4). */
export interface AgentChange {
  profile?: Profile;
  model?: string;
  thinking?: string;
  permission?: PermissionMode;
}

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
  /** Records the agent's birth in this process; the lock must be held. */
  create(): Promise<void>;
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
  live: LiveTurn;
  done: Promise<void>;
}

/** Creates the agent over a loaded journal; appends nothing. */
export function createAgent(host: AgentHost): Agent {
  const { id, log } = host;
  const repeats = createRepeatGuard();
  const queue = createPromptQueue((promptId) => log.state.prompts.get(id)?.used.has(promptId) === true);
  const frames = createStatusFrames(log, id, standingFacts);
  let created = false;
  let closing = false;
  let turn: RunningTurn | undefined;
  let nextTurnId = 0;
  let warnings: SessionWarning[] = [];
  /** What the prompt was rendered with, as far as this process knows. */
  let rendered: { instructions: string; tools: string } | undefined;
  const reportedPatterns = new Set<string>();
  let newInstructionFiles: string[] = [];

  const context = () => readContext(log.state.context, id);
  const messages = (): ContextMessage[] => requestMessages(context());
  const permission = () => context().config.permission ?? host.defaultPermission();
  const bound = () => context().config.model;

  function contextTokens(entering: ContextMessage[] = []): number {
    const state = context();
    if (state.entries.length + entering.length === 0) return 0;
    const anchor = state.anchors.findLast((one) => one.length <= state.entries.length);
    const after = state.entries.slice(anchor?.length ?? 0).map((entry) => entry.message);
    const base = anchor
      ? anchor.tokens
      : estimateMessages([{ role: 'system', content: [{ type: 'text', text: state.system }], toolCalls: [] }]) +
        estimateTools(currentSchemas());
    return base + estimateMessages([...after, ...entering]);
  }

  function maxContextTokens(): number | undefined {
    return context().config.maxContextTokens ?? undefined;
  }

  function standingFacts() {
    const model = bound();
    const max = maxContextTokens();
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

  function activeTools(): Tool[] {
    const { activeTools: active } = host.environment();
    return host.tools.filter((tool) => active.has(tool.name));
  }

  const currentSchemas = () => toolSchemas(activeTools());
  const toolNames = () =>
    activeTools()
      .map((tool) => tool.name)
      .join();

  async function renderedPrompt(cause: string, frozen: boolean): Promise<Draft[]> {
    const instructions = await host.readInstructions();
    rendered = { instructions: instructions.text, tools: toolNames() };
    const text = await host.renderPrompt(instructions);
    const sha256 = createHash('sha256').update(text).digest('hex');
    const drafts = warn(instructions.warnings);
    if (text === context().system) return drafts;
    const fields = { text, sha256, cause, ...(frozen ? { frozen: { skills: '', plugins: '' } } : {}) };
    return [engine(id, 'agent.prompt', fields), ...drafts];
  }

  /** Whether the prompt, maybe of an earlier process, shows exactly these files. */
  function shows(instructions: Instructions): boolean {
    const section = instructionsSection(instructions);
    return section ? context().system.includes(section) : shownInstructions().length === 0;
  }

  /** Entries of the tool lists that fit no tool, told once each. */
  function patternWarnings(): Draft[] {
    const fresh = host.ineffectiveToolPatterns().filter((pattern) => !reportedPatterns.has(pattern));
    return fresh.map((pattern) => {
      reportedPatterns.add(pattern);
      const message = `The tool list entry "${pattern}" fits no tool.`;
      return event(id, 'warning', { message, code: 'tool-pattern-no-match' });
    });
  }

  /** Warnings are told once, when they change. */
  function warn(next: SessionWarning[]): Draft[] {
    const fresh = next.filter((warning) => !warnings.some((known) => known.message === warning.message));
    warnings = next;
    return fresh.map(({ message, code }) => event(id, 'warning', { message, code }));
  }

  async function create(): Promise<void> {
    if (created) return;
    created = true;
    const firstLife = !log.state.status.agents.has(id);
    log.append([
      event(id, 'agent.created', {}, firstLife ? { kind: 'main' } : undefined),
      ...(firstLife ? [engine(id, 'agent.config', { permission: host.defaultPermission(), runtimeId: 'local' })] : []),
    ]);
    await log.flushed();
    frames.facts({ thinkingEffort: context().config.thinkingEffort });
  }

  /** Members of `agent.config` that a change touches. */
  function configOf(change: AgentChange): AgentConfigFields {
    const present = context().config;
    const fields: AgentConfigFields = {};
    const alias = change.model ?? bound();
    if (alias && (change.model !== undefined || change.thinking !== undefined)) {
      const model = host.resolveModel(alias);
      const effort = host.effort(model, change.thinking ?? present.thinkingEffort);
      if (alias !== present.model) fields.model = alias;
      if (effort !== present.thinkingEffort) fields.thinkingEffort = effort;
      const limit = contextLimit(model);
      if (limit !== (present.maxContextTokens ?? undefined)) fields.maxContextTokens = limit ?? null;
    }
    if (change.permission && change.permission !== permission()) fields.permission = change.permission;
    return fields;
  }

  /** Anthropic takes efforts that the model's record does not list; the user is told (engine.md §18.4). */
  function effortWarning({ model: alias = bound(), thinkingEffort: effort }: AgentConfigFields): Draft[] {
    if (alias === undefined || effort === undefined || effort === 'on' || effort === 'off') return [];
    const { protocol, supportEfforts } = host.resolveModel(alias);
    if (protocol !== 'anthropic' || supportEfforts.length === 0 || supportEfforts.includes(effort)) return [];
    const message = `Thinking effort "${effort}" is not among those that model "${alias}" lists: ${supportEfforts.join(', ')}.`;
    return [event(id, 'warning', { message, code: 'thinking-effort-not-listed' })];
  }

  async function change(wanted: AgentChange): Promise<void> {
    await create();
    const drafts: Draft[] = [];
    const bind = wanted.profile && context().bound === undefined ? wanted.profile : undefined;
    if (bind) drafts.push(engine(id, 'agent.bound', { profile: bind.name, tools: bind.tools }));
    const fields = configOf(wanted);
    if (Object.keys(fields).length > 0) drafts.push(engine(id, 'agent.config', fields));
    drafts.push(...effortWarning(fields));
    if (bind) drafts.push(...(await renderedPrompt('bound', true)));
    if (drafts.length === 0) return;
    log.append(drafts);
    await log.flushed();
    const { permission, thinkingEffort } = fields;
    frames.facts({
      ...(permission === undefined ? {} : { permission }),
      ...(thinkingEffort === undefined ? {} : { thinkingEffort }),
    });
  }

  async function refreshPrompt(cause: string): Promise<void> {
    const drafts = await renderedPrompt(cause, false);
    if (drafts.length === 0) return;
    log.append(drafts);
    await log.flushed();
  }

  /** Model, effort and system prompt of the turn that begins (engine.md §2.2 item 2). */
  async function freezeModel(): Promise<TurnModel> {
    const alias = bound();
    if (!alias) throw new EngineError('model.not_configured', 'No model is bound to this agent.');
    const model = host.resolveModel(alias);
    const effort = host.effort(model, context().config.thinkingEffort);
    const limit = contextLimit(model);
    if (limit !== maxContextTokens()) log.append([engine(id, 'agent.config', { maxContextTokens: limit ?? null })]);
    const instructions = await host.readInstructions();
    rendered ??= shows(instructions) ? { instructions: instructions.text, tools: toolNames() } : undefined;
    if (rendered?.instructions !== instructions.text) await refreshPrompt('instructions');
    else if (rendered.tools !== toolNames()) await refreshPrompt('tools');
    log.append([...warn(instructions.warnings), ...patternWarnings()]);
    await log.flushed();
    return { model, settings: host.settings(model, effort), system: context().system };
  }

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
    const live = createLiveTurn({ agentId: id, turnId, promptId: prompt.id, log, frames, now: host.now });
    live.started();
    const done = run(turnId, prompt, controller, live);
    turn = { controller, live, done };
  }

  async function run(turnId: number, prompt: QueuedPrompt, controller: AbortController, live: LiveTurn): Promise<void> {
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
        freezeModel,
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
    return [...stepReminders(messages(), { now: new Date(host.now()), mode: permission() }), ...nested];
  }

  async function runTools(turnId: number, calls: ToolCall[], live: LiveTurn, signal: AbortSignal): Promise<boolean> {
    const active = activeTools();
    const { stopTurn } = await runToolBatch(calls, {
      agentId: id,
      turnId,
      signal,
      tools: new Map(host.tools.map((tool) => [tool.name, tool])),
      environment: { ...host.environment(), activeTools: new Set(active.map((tool) => tool.name)) },
      append: log.append,
      progress: live.toolProgress,
      decide: (tool, plan) => host.decide(tool, plan, permission()),
      approvals: host.approvals,
      knownFiles: () => context().files,
      repeats,
      report: host.report,
      nestedInstructions: async (plan) => {
        const { cwd } = host.environment();
        const { display, accesses } = plan;
        const command =
          display?.kind === 'command' ? { line: display.command, cwd: resolve(cwd, display.cwd ?? '.') } : undefined;
        const found = await findNestedInstructions(
          { accesses, command, cwd },
          new Set([...context().agentsMd, ...shownInstructions()]),
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

  /** Instruction files that the system prompt already shows. */
  function shownInstructions(): string[] {
    return [...context().system.matchAll(/^<!-- From: (.+) -->$/gm)].map((match) => match[1] ?? '');
  }

  return {
    id,
    queue,
    facts: () => ({
      model: bound(),
      effort: context().config.thinkingEffort ?? '',
      permission: permission(),
      maxContextTokens: maxContextTokens(),
      contextTokens: contextTokens(),
      profile: context().bound?.profile,
    }),
    warnings: () => warnings,
    create,
    change,
    refreshPrompt,

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
      if (!created || log.readOnly) return [];
      const aborted = queue
        .drain()
        .map((prompt) => event(id, 'prompt.aborted', { promptId: prompt.id, abortedAt: iso(host.now()) }));
      const gone = id === 'main' ? host.work.change({ last_turn_reason: undefined }) : [];
      return [...aborted, ...gone, event(id, 'agent.disposed', {}, { reason })];
    },
  };
}

/** The model's input limit, else its context size; undefined when unknown. */
function contextLimit(model: ResolvedModel): number | undefined {
  const limit = model.maxInputTokens || model.maxContextTokens;
  return limit > 0 ? limit : undefined;
}

/** 40401 of a request that names an agent the session does not have. */
export const agentNotFound = (id: string) => new ServiceError(40401, `agent ${id} does not exist`);
