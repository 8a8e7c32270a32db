/**
 * The agent loop: one turn from its first step to its end. `runTurn` reads top to bottom: step head, request, tool
 * calls, next step; every exit is one of the three endings at the bottom.
 */
import { randomUUID } from 'node:crypto';
import { contextSize } from '#server/journal/context-size.ts';
import { requestMessages } from '#server/journal/projections/context.ts';
import { countersOf } from '#server/journal/projections/counters.ts';
import { entering, event, internal, type Draft } from '#server/journal/records.ts';
import { toModelMessages, withoutLoadedTools, type RequestShape } from '#server/models/request-history.ts';
import { ModelError, type ModelResponse } from '#server/models/types.ts';
import type { ContextMessage, TokenUsage } from '#schema/engine.ts';
import type { AgentContext, TurnInput } from '../contract/context.ts';
import { EngineError, errorPayload } from '../contract/errors.ts';
import type { LiveFeature } from '../contract/feature.ts';
import { streamResponse, type Received, type StreamTimings } from './model-request.ts';
import { degrade, shapeName } from './request-recovery.ts';
import { retryDelay, sleep } from './retry.ts';
import { createTurnEndings, unstartedResult, type Failure } from './turn-endings.ts';
import { inputDrafts } from './turn-input.ts';
import type { TurnModel } from '../contract/config.ts';
import type { Turn, OpenStep } from './open-turn.ts';
import type { TurnEnd } from '../contract/agent.ts';

/** Consecutive requests that may be too long for the model. */
const MAX_OVERFLOWS = 3;

/** Runs the turn to its end and records how it ended. Rejects only when the journal can no longer be written. */
export async function runTurn(agent: AgentContext, turn: Turn): Promise<TurnEnd> {
  const { id, log, session } = agent;
  const { services, features } = session;
  const { signal, stream } = turn;
  const turnId = turn.id;
  // A prompt that is steered into a turn without one becomes the turn's prompt, but it did not open it.
  const opener = turn.promptId;
  const endings = createTurnEndings(agent, turn);
  let open: OpenStep | undefined;
  let stepsDone = 0;
  let failedAttempts = 0;
  let overflows = 0;
  /** Received parts of an answer that is not recorded yet. */
  let unrecorded: { frozen: TurnModel; at: OpenStep; received: Received } | undefined;
  let continuation: TurnInput[] = [];
  const shape: RequestShape = {};

  const messages = () => requestMessages(agent.state());

  try {
    const begins = features.flatMap((feature) => feature.onTurnStart?.(agent, signal) ?? []);
    if (begins.length > 0) await Promise.all(begins);
    let frozen = await agent.config.freeze();
    for (let step = 1; ; step++) {
      signal.throwIfAborted();
      const { maxSteps, maxAttempts } = services.limits();
      if (maxSteps > 0 && stepsDone >= maxSteps) {
        const error = new EngineError('loop.max_steps_exceeded', `The turn reached its limit of ${maxSteps} steps.`);
        return fail(error, { interrupted: { step: step - 1, reason: 'max_steps' } });
      }
      frozen = await prepareStep(frozen);
      open = await beginStep(step);
      stepsDone = step;
      let response: ModelResponse;
      let timings: StreamTimings;
      let projection: string | undefined;
      try {
        ({ response, timings, projection } = await request(frozen, open));
      } catch (error) {
        if (signal.aborted || !(error instanceof ModelError)) throw error;
        if (overflowed(frozen, error)) {
          overflows++;
          if (overflows >= MAX_OVERFLOWS)
            throw new ModelError(error.message, { ...error.details, code: 'context.overflow' });
          unrecorded = undefined;
          retryLater(error, open, { failedAttempt: overflows, maxAttempts: MAX_OVERFLOWS, delayMs: 0 });
          continue;
        }
        failedAttempts++;
        const { retry, code } = error.details;
        if (!retry || turn.givesUpOn?.includes(code) || failedAttempts >= maxAttempts) throw error;
        unrecorded = undefined;
        const delayMs = retryDelay(error, failedAttempts);
        retryLater(error, open, { failedAttempt: failedAttempts, maxAttempts, delayMs });
        await sleep(delayMs, signal, session.clock);
        continue;
      }
      failedAttempts = overflows = 0;
      const answered = await answer(frozen, open, response, timings, projection);
      open = undefined;
      if (answered) return answered;
    }
  } catch (error) {
    if (log.readOnly) throw error;
    const partial = await partialResponse();
    if (signal.aborted) return cancel(partial);
    return fail(error, { interrupted: open && { ...open, reason: 'error' }, partial });
  }

  /** Runs the features' work before a step; work that replaces the context also changes the system prompt. */
  async function prepareStep(frozen: TurnModel): Promise<TurnModel> {
    let system: string | undefined;
    for (const feature of features) {
      const work = feature.beforeStep?.(agent, { turnId, frozen, signal });
      if (!work) continue;
      await work;
      system = await log.load(agent.state().system);
    }
    return system === undefined ? frozen : { ...frozen, system };
  }

  /** Whether a feature will reduce the context before the next step. */
  function overflowed(frozen: TurnModel, error: ModelError): boolean {
    return features.some((feature) => feature.onContextOverflow?.(agent, { turnId, frozen, error }));
  }

  /** Appends the head of the step as one journal line: input, reminders, `prompt.started`, `turn.step.started`. */
  async function beginStep(step: number): Promise<OpenStep> {
    const list = await log.store(newToolList());
    const featureMessages = await log.store(features.flatMap(remindersOf));
    signal.throwIfAborted();
    const hooks = features.map((feature) => feature.onStepStart?.(agent, { turnId, step }) ?? {});
    const input = [...continuation, ...featureInput(), ...turn.takeInput()];
    continuation = [];
    const declarations = featureMessages.filter(({ tools }) => tools);
    const said = featureMessages.filter(({ tools }) => !tools);
    const reminders = [...turn.reminders(), ...said, ...hooks.flatMap((hook) => hook.messages ?? [])];
    const head: Draft[] = [
      ...inputDrafts(id, input, 'step'),
      ...(reminders.length > 0 ? [entering(id, reminders, { cause: 'reminder' })] : []),
      ...(declarations.length > 0 ? [entering(id, declarations, { cause: 'tools' })] : []),
      ...hooks.flatMap((hook) => hook.before ?? []),
    ];
    // The task of a subagent was never submitted as a prompt, and slash commands have no such event.
    const prompt = opener === undefined ? undefined : log.state.prompts.get(id)?.open.get(opener);
    if (step === 1 && prompt && !prompt.origin) head.push(event(id, 'prompt.started', { promptId: prompt.promptId }));
    if (list) head.push(internal(id, 'agent.tools', list));
    const stepId = randomUUID();
    head.push(event(id, 'turn.step.started', { turnId, step, stepId }), ...hooks.flatMap((hook) => hook.after ?? []));
    log.append(head);
    stream.beginStep(step);
    return { step, stepId };
  }

  function featureInput(): TurnInput[] {
    return features.flatMap((feature) => feature.pendingInput?.(agent) ?? []);
  }

  /** Whether input has to enter before the turn may end as completed. */
  function waits(): boolean {
    return continuation.length > 0 || featureInput().length > 0;
  }

  /** A reminder that fails is omitted: the turn does not depend on it. */
  function remindersOf(feature: LiveFeature): ContextMessage[] {
    try {
      return feature.reminders?.(agent) ?? [];
    } catch (error) {
      session.report(`a reminder of ${id} in ${log.sessionId} could not be made`, error);
      return [];
    }
  }

  /** The list of tools; undefined if the session's journal already has it. */
  function newToolList(): { sha256: string; text: string } | undefined {
    const { text, sha256 } = agent.tools().list;
    return log.state.counters.toolHashes.has(sha256) ? undefined : { sha256, text };
  }

  /** Sends the request; if the provider refuses its shape, sends it again degraded, without delay. */
  async function request(frozen: TurnModel, at: OpenStep) {
    for (;;) {
      const begin = performance.now();
      const tools = agent.tools();
      const whole = await log.load(messages());
      const projected = toModelMessages(tools.loadsDeferred ? whole : withoutLoadedTools(whole), shape);
      const history = await services.withStoredMedia(projected, {
        sessionDir: session.dir,
        model: frozen.model,
        signal,
      });
      const { received, response } = streamResponse(
        {
          model: frozen.model,
          settings: frozen.settings,
          system: frozen.system,
          messages: history,
          tools: tools.list.tools,
          maxTokens: services.budget(frozen.model, contextSize(agent.state())),
          cacheKey: log.sessionId,
          signal,
        },
        {
          stream: services.stream,
          usedCallIds: countersOf(log.state.counters, id).toolCallIds,
          listener: stream.listener,
          startedAt: begin,
        },
      );
      unrecorded = { frozen, at, received };
      try {
        return { ...(await response), projection: shapeName(shape) };
      } catch (error) {
        const recovery = error instanceof ModelError ? error.details.recovery : undefined;
        if (signal.aborted || !recovery || !degrade(shape, recovery, messages().length)) throw error;
      }
    }
  }

  /** Records of what arrived before an abort or a failure. Its calls get unsent results and never enter the context. */
  async function partialResponse(): Promise<Draft[]> {
    if (!unrecorded) return [];
    const { frozen, at, received } = unrecorded;
    if (received.parts.length === 0 && received.calls.length === 0) return [];
    const { parts, calls } = await log.store(received);
    return [
      internal(id, 'step.response', { turnId, ...at, parts, calls, partial: true, model: frozen.model.alias }),
      ...calls.map((call) => unstartedResult(id, turnId, call.id)),
    ];
  }

  /** Records the answer, runs its calls and closes the step. Returns the outcome if the turn is over. */
  async function answer(
    frozen: TurnModel,
    at: OpenStep,
    response: ModelResponse,
    timings: StreamTimings,
    projection: string | undefined,
  ): Promise<TurnEnd | undefined> {
    const { usage } = response;
    const { parts, calls } = await log.store({ parts: response.parts, calls: response.calls });
    signal.throwIfAborted();
    unrecorded = undefined;
    const tokens = usage && usageTotal(usage);
    const anchor = { length: agent.state().entries.length, tokens: tokens ?? 0 };
    const recorded = internal(id, 'step.response', {
      turnId,
      ...at,
      parts,
      calls,
      model: frozen.model.alias,
      ...(usage ? { usage } : {}),
      ...(tokens === undefined ? {} : { contextTokens: tokens, anchor }),
      ...(response.responseId ? { responseId: response.responseId } : {}),
      ...(projection ? { projection } : {}),
    });
    const completed = (finishReason: string) =>
      event(id, 'turn.step.completed', {
        turnId,
        ...at,
        ...(usage ? { usage } : {}),
        finishReason,
        providerFinishReason: response.finishReason,
        ...(response.rawFinishReason ? { rawFinishReason: response.rawFinishReason } : {}),
        ...timings,
      });

    if (response.finishReason === 'filtered') {
      log.append([
        recorded,
        ...response.calls.map((call) => unstartedResult(id, turnId, call.id)),
        completed('filtered'),
      ]);
      stream.responseBooked();
      const error = new EngineError(
        'provider.filtered',
        'The answer was stopped by the safety filter of the provider.',
      );
      return fail(error, { reason: 'filtered' });
    }
    if (response.calls.length > 0) {
      log.append([recorded]);
      stream.responseBooked();
      const asked = await turn.runTools(response.calls);
      const stop =
        asked || features.some((feature) => feature.shouldStopTurn?.(agent, { turnId, step: at.step }) === true);
      if (!stop) log.append([completed('tool_use')]);
      return stop ? completeWith([completed('end_turn')], response) : undefined;
    }
    const end = await completeWith([recorded, completed(stepFinish(response))], response);
    stream.responseBooked();
    return end;
  }

  /** Ends the turn in one journal line with `drafts`, unless input has to enter first: then only the step ends. */
  async function completeWith(drafts: Draft[], { finishReason }: ModelResponse): Promise<TurnEnd | undefined> {
    const end: TurnEnd = { outcome: 'completed', ...(finishReason === 'truncated' ? { truncated: true } : {}) };
    const hooks = features.flatMap((feature) => (feature.beforeTurnEnd ? [feature.beforeTurnEnd.bind(feature)] : []));
    continuation.push(...turn.takeInput());
    if (hooks.length === 0 && !waits()) {
      log.append([...drafts, ...endings.completed(drafts)]);
      return end;
    }
    log.append(drafts);
    open = undefined;
    if (waits()) return undefined;
    const asking: ContextMessage[] = [];
    for (const beforeTurnEnd of hooks) asking.push(...(await beforeTurnEnd(agent, turnId, signal)));
    const messages = await log.store(asking);
    signal.throwIfAborted();
    continuation.push(...(messages.length > 0 ? [{ messages }] : []), ...turn.takeInput());
    if (waits()) return undefined;
    log.append(endings.completed([]));
    return end;
  }

  function retryLater(
    { message, details: { name, statusCode } }: ModelError,
    at: OpenStep,
    { failedAttempt, ...limits }: { failedAttempt: number; maxAttempts: number; delayMs: number },
  ): void {
    const facts = {
      failedAttempt,
      nextAttempt: failedAttempt + 1,
      ...limits,
      errorName: name,
      ...(statusCode === undefined ? {} : { statusCode }),
    };
    log.append([event(id, 'turn.step.retrying', { turnId, ...at, ...facts, errorMessage: message })]);
    stream.retrying(facts);
  }

  /** Records of input that no step has taken: it was accepted, so it must not be lost. */
  function untakenInput(): Draft[] {
    return inputDrafts(id, [...continuation, ...turn.takeInput()], 'step');
  }

  function cancel(partial: Draft[]): TurnEnd {
    log.append(endings.cancelled({ partial, open, untaken: untakenInput }));
    if (open) stream.interrupted('aborted');
    return { outcome: 'cancelled' };
  }

  function fail(cause: unknown, failure: Omit<Failure, 'error' | 'untaken'>): TurnEnd {
    const error = errorPayload(cause);
    log.append(endings.failed({ ...failure, error, untaken: untakenInput }));
    if (failure.interrupted) stream.interrupted(failure.interrupted.reason);
    return { outcome: 'failed', error };
  }
}

const usageTotal = (usage: TokenUsage) =>
  usage.inputOther + usage.output + usage.inputCacheRead + usage.inputCacheCreation;

/** Finish reason of a step on the wire. */
function stepFinish(response: ModelResponse): string {
  switch (response.finishReason) {
    case 'completed':
      return 'end_turn';
    case 'truncated':
      return 'max_tokens';
    case 'tool_calls':
      // The provider announced calls that never arrived.
      return 'other';
    default:
      return response.finishReason;
  }
}
