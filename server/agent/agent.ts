/**
 * One agent of a session: its configuration, its prompts and the running turn. State is read from the journal's folds;
 * variables here are lost when the process exits.
 */
import { ServiceError } from '#server/errors/service-error.ts';
import { contextSize } from '#server/journal/context-size.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { event, unsent } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { UsageStatus } from '#schema/events/volatile.ts';
import { iso } from '#schema/scalars.ts';
import { createAgentConfig, type AgentLife } from './binding/agent-config.ts';
import { createAgentTurns } from './scheduling/agent-turns.ts';
import { createAgentTools } from './binding/agent-tools.ts';
import { createFoundInstructions } from './calls/found-instructions.ts';
import { createRepeatGuard } from './calls/repeat-guard.ts';
import type { AgentContext, SessionContext } from './contract/context.ts';
import { TurnAborted } from './contract/errors.ts';
import { createPromptQueue } from './scheduling/prompt-queue.ts';
import { createStatusFrames } from './loop/status-frames.ts';
import { steering } from './scheduling/steering.ts';
import type { Agent } from './contract/agent.ts';

export interface AgentOptions extends AgentLife {
  /** Called after an operation has settled and no turn follows it. */
  onIdle?: () => void;
}

/** Creates the agent over a loaded journal; appends nothing. */
export function createAgent(session: SessionContext, id: string, options: AgentOptions = {}): Agent {
  const { log, services, features } = session;
  const state = () => readContext(log.state.context, id);
  const frames = createStatusFrames(log, id, standingFacts);
  const queue = createPromptQueue(log, id);
  const gather = () => {
    const gathered = [...services.tools];
    for (const feature of features) if (feature.tools) gathered.push(...feature.tools(context));
    return gathered;
  };
  const tools = createAgentTools(services, gather, state);

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
      ...services.reach(session),
      sessionId: session.id,
      agentId: id,
      activeTools: tools().activeNames,
    }),
    publishStatus: frames.facts,
    request: (request) => turns.request(request),
    wake: (next) => turns.wake(next),
  };
  const config = createAgentConfig(context, frames, options);
  const found = createFoundInstructions(context);
  const turns = createAgentTurns({ context, queue, frames, found, onIdle: options.onIdle });

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
    return { byModel, total, ...(turns.running ? { currentTurn } : {}) };
  }

  return {
    id,
    context,
    queue,

    submit(prompt, head) {
      turns.assertOpen();
      const waits = !turns.free() || queue.waiting().length > 0;
      const status = waits ? 'queued' : 'running';
      const { content, eventContent } = prompt.input;
      const createdAt = iso(prompt.createdAt);
      const ids = { promptId: prompt.id, userMessageId: prompt.id };
      const { origin } = prompt;
      const fields = { ...ids, status, content: eventContent, createdAt } as const;
      // Other clients receive a slash command as its activation, which precedes it.
      const accepted =
        origin.kind === 'user'
          ? event(id, 'prompt.submitted', fields)
          : unsent(event(id, 'prompt.submitted', fields, { origin }));
      queue.keep(prompt);
      try {
        if (waits) {
          const queueLength = queue.waiting().length + 1;
          const queued = event(id, 'prompt.queued', { promptId: prompt.id, content: eventContent, queueLength });
          log.append([...head, accepted, queued]);
        } else turns.start(prompt, [...head, accepted]);
      } catch (error) {
        queue.forget(prompt.id);
        throw error;
      }
      session.changed();
      return { prompt_id: prompt.id, user_message_id: prompt.id, status, content, created_at: createdAt };
    },

    starting: (promptId) => (queue.starting?.id === promptId ? turns.starting() : undefined),

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
      // A turn whose `turn.ended` is recorded accepts no input, even if its cleanup is still running.
      const running = log.state.activity.turns.has(id) ? turns.running : undefined;
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
      return turns.running?.controller.signal.aborted === true;
    },

    cancelTurn(reason = new TurnAborted('user', 'interrupted by the user')) {
      turns.cancel(reason);
    },
    runTurn: turns.run,
    exclusively: turns.exclusively,

    tools() {
      const { all, activeNames } = tools();
      const unbound = state().bound === undefined;
      return all.map((tool) => ({ tool, active: unbound || activeNames.has(tool.name) }));
    },
    inFlight: () => (id === MAIN_AGENT ? (turns.running?.stream.view() ?? null) : null),
    unrecorded() {
      const phase = frames.lastPhase();
      return [
        ...(turns.running?.stream.unrecorded() ?? []),
        ...(phase ? [{ type: 'agent.status.updated' as const, fields: { phase } }] : []),
      ];
    },
    idle: () => turns.free() && queue.waiting().length === 0,

    async close(reason, message) {
      await turns.close(message);
      if (!config.created || log.readOnly) return [];
      const abortedAt = iso(session.clock.now());
      const left = queue
        .waiting()
        .map(({ prompt_id }) => event(id, 'prompt.aborted', { promptId: prompt_id, abortedAt }));
      const last = features.flatMap((feature) => feature.onAgentClose?.(context) ?? []);
      return [...left, ...last, event(id, 'agent.disposed', {}, { reason })];
    },
  };
}

/** `session.not_found` for a request that names an agent which the session does not have. */
export const agentNotFound = (id: string) => new ServiceError('session.not_found', `agent ${id} does not exist`);
