/**
 * The agent loop: one turn from its first step to its end (engine.md §2.2 to §2.8). `runTurn` reads top to bottom:
 * step head, request, tool calls, next step; every way out goes through one of the three endings at the bottom.
 * The orders of records and events are those of records.md §2.3 and ws-events.md §10.
 */
import { createHash, randomUUID } from 'node:crypto';
import { internal, event, unsent, type Draft } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { toModelMessages, type RequestShape } from '#server/models/request-history.ts';
import {
  ModelError,
  type ModelRequest,
  type ModelResponse,
  type RequestSettings,
  type ResolvedModel,
  type StreamPart,
} from '#server/models/types.ts';
import type { ContextMessage, ErrorPayload, TokenUsage, ToolCall, ToolSchema } from '#schema/engine.ts';
import type { InterruptReason } from '#schema/events/turns.ts';
import { iso, type TurnOutcome } from '#schema/scalars.ts';
import { EngineError, errorPayload, TurnAborted } from './errors.ts';
import type { TurnStream } from './turn-stream.ts';
import { streamResponse, type Received, type StreamTimings } from './model-request.ts';
import { interruptionReminder } from './prompt/reminders.ts';
import { retryDelay, sleep } from './retry.ts';

/** The model side of a turn, frozen at its first step (engine.md §2.2 item 2). */
export interface TurnModel {
  model: ResolvedModel;
  settings: RequestSettings;
  system: string;
}

export interface TurnDeps {
  agentId: string;
  turnId: number;
  /** Absent for turns that no prompt opened. */
  promptId?: string | undefined;
  log: SessionLog;
  live: TurnStream;
  signal: AbortSignal;
  now(): number;
  limits(): { maxSteps: number; maxAttempts: number };
  freezeModel(): Promise<TurnModel>;
  /** The agent's present history, in order. */
  messages(): ContextMessage[];
  /** Number of context entries, empty ones included. */
  contextLength(): number;
  /** Displayed context size after these messages enter. */
  contextTokens(entering: ContextMessage[]): number;
  reminders(): ContextMessage[];
  toolSchemas(): ToolSchema[];
  /** Completion cap in tokens for the present history. */
  budget(model: ResolvedModel): number | undefined;
  stream(request: ModelRequest, onPart: (part: StreamPart) => void): Promise<ModelResponse>;
  usedCallIds(): ReadonlySet<string>;
  /** Runs the calls of a response; true when a result ends the turn. */
  runTools(calls: ToolCall[], signal: AbortSignal): Promise<boolean>;
  /** Records that close what the turn left open: pending interactions. */
  closeInteractions(): Draft[];
  /** `work_changed` at the turn's end. */
  workEnded(outcome: TurnOutcome): Draft[];
}

interface OpenStep {
  step: number;
  stepId: string;
}

/** Runs the turn to its end and records how it ended. Rejects only when the journal can no longer be written. */
export async function runTurn(deps: TurnDeps): Promise<TurnOutcome> {
  const startedAt = deps.now();
  let open: OpenStep | undefined;
  let stepsDone = 0;
  let failedAttempts = 0;
  let partial: Draft[] = [];
  const shape: RequestShape = {};

  const ended = (outcome: TurnOutcome, extra: { error?: ErrorPayload; interruptReason?: InterruptReason } = {}) =>
    event(deps.agentId, 'turn.ended', {
      turnId: deps.turnId,
      reason: outcome,
      durationMs: deps.now() - startedAt,
      ...extra,
    });

  const settlePrompt = (reason: 'completed' | 'failed'): Draft[] =>
    deps.promptId === undefined
      ? []
      : [event(deps.agentId, 'prompt.completed', { promptId: deps.promptId, finishedAt: iso(deps.now()), reason })];

  try {
    const frozen = await deps.freezeModel();
    for (let step = 1; ; step++) {
      deps.signal.throwIfAborted();
      const { maxSteps, maxAttempts } = deps.limits();
      if (maxSteps > 0 && stepsDone >= maxSteps) {
        const error = new EngineError('loop.max_steps_exceeded', `The turn reached its limit of ${maxSteps} steps.`);
        return await fail(error, { step: step - 1, reason: 'max_steps' });
      }
      open = await beginStep(step);
      stepsDone = step;
      let response: ModelResponse;
      let timings: StreamTimings;
      let projection: string | undefined;
      try {
        ({ response, timings, projection } = await request(frozen, open));
      } catch (error) {
        const retry = !deps.signal.aborted && error instanceof ModelError && error.facts.retry;
        failedAttempts++;
        if (!retry || failedAttempts >= maxAttempts) throw error;
        partial = [];
        await waitForRetry(error, open, maxAttempts);
        continue;
      }
      partial = [];
      failedAttempts = 0;
      const answered = await answer(frozen, open, response, timings, projection);
      open = undefined;
      if (answered) return answered;
    }
  } catch (error) {
    if (deps.log.readOnly) throw error;
    if (deps.signal.aborted) return await cancel();
    return await fail(error, open ? { ...open, reason: 'error' } : undefined);
  }

  /** The step's head: reminders enter, the prompt goes to work, the step is announced; one line. */
  async function beginStep(step: number): Promise<OpenStep> {
    const head: Draft[] = splice(deps.reminders(), 'reminder');
    if (step === 1 && deps.promptId !== undefined) {
      head.push(event(deps.agentId, 'prompt.started', { promptId: deps.promptId }));
    }
    const tools = deps.toolSchemas();
    const sha256 = createHash('sha256').update(JSON.stringify(tools)).digest('hex');
    if (!deps.log.state.counters.toolHashes.has(sha256)) {
      head.push(internal(deps.agentId, 'agent.tools', { sha256, tools }));
    }
    const stepId = randomUUID();
    head.push(event(deps.agentId, 'turn.step.started', { turnId: deps.turnId, step, stepId }));
    deps.log.append(head);
    deps.live.beginStep(step);
    await deps.log.flushed();
    return { step, stepId };
  }

  function splice(messages: ContextMessage[], cause: 'reminder'): Draft[] {
    if (messages.length === 0) return [];
    const fields = {
      start: deps.contextLength(),
      deleteCount: 0,
      messages,
      tokens: deps.contextTokens(messages),
    };
    return [event(deps.agentId, 'context.spliced', fields, { cause })];
  }

  /** Sends the request; a refused shape is sent again degraded, at once (engine.md §2.6). */
  async function request(frozen: TurnModel, at: OpenStep) {
    for (;;) {
      const begin = performance.now();
      const messages = toModelMessages(await deps.log.load(deps.messages()), shape);
      const { received, response } = streamResponse(
        {
          model: frozen.model,
          settings: frozen.settings,
          system: frozen.system,
          messages,
          tools: deps.toolSchemas(),
          maxTokens: deps.budget(frozen.model),
          cacheKey: deps.log.sessionId,
          signal: deps.signal,
        },
        {
          stream: deps.stream,
          usedCallIds: deps.usedCallIds(),
          listener: deps.live.listener,
          startedAt: begin,
        },
      );
      try {
        return { ...(await response), projection: projectionName(shape) };
      } catch (error) {
        partial = partialResponse(frozen, at, received);
        const recovery = error instanceof ModelError ? error.facts.recovery : undefined;
        if (deps.signal.aborted || !recovery || !degrade(shape, recovery, deps.messages().length)) throw error;
      }
    }
  }

  /** What arrived before an abort or a failure; its calls never reach the context, each gets an unsent result. */
  function partialResponse(frozen: TurnModel, at: OpenStep, received: Received): Draft[] {
    if (received.parts.length === 0 && received.calls.length === 0) return [];
    return [
      internal(deps.agentId, 'step.response', {
        turnId: deps.turnId,
        ...at,
        parts: received.parts,
        calls: received.calls,
        partial: true,
        model: frozen.model.alias,
      }),
      ...received.calls.map((call) => unstartedResult(call.id)),
    ];
  }

  function unstartedResult(toolCallId: string): Draft {
    const fields = {
      turnId: deps.turnId,
      toolCallId,
      output: 'The call was interrupted before it started; it had no effect.',
      isError: true as const,
      synthetic: true as const,
    };
    return unsent(event(deps.agentId, 'tool.result', fields));
  }

  /** Records the answer, runs its calls and closes the step. Returns the outcome when the turn is over. */
  async function answer(
    frozen: TurnModel,
    at: OpenStep,
    response: ModelResponse,
    timings: StreamTimings,
    projection: string | undefined,
  ): Promise<TurnOutcome | undefined> {
    const { usage } = response;
    const tokens = usage && usageTotal(usage);
    const recorded = internal(deps.agentId, 'step.response', {
      turnId: deps.turnId,
      ...at,
      parts: response.parts,
      calls: response.calls,
      model: frozen.model.alias,
      ...(usage ? { usage } : {}),
      ...(tokens === undefined ? {} : { contextTokens: tokens, anchor: { length: deps.contextLength(), tokens } }),
      ...(response.responseId ? { responseId: response.responseId } : {}),
      ...(projection ? { projection } : {}),
    });
    const completed = (finishReason: string) =>
      event(deps.agentId, 'turn.step.completed', {
        turnId: deps.turnId,
        ...at,
        ...(usage ? { usage } : {}),
        finishReason,
        providerFinishReason: response.finishReason,
        ...(response.rawFinishReason ? { rawFinishReason: response.rawFinishReason } : {}),
        ...timings,
      });

    if (response.finishReason === 'filtered') {
      deps.log.append([recorded, ...response.calls.map((call) => unstartedResult(call.id)), completed('filtered')]);
      deps.live.responseBooked();
      const error = new EngineError(
        'provider.filtered',
        'The answer was stopped by the safety filter of the provider.',
      );
      return await fail(error, undefined, 'filtered');
    }
    if (response.calls.length === 0) {
      deps.log.append([recorded, completed(stepFinish(response)), ...completion()]);
      deps.live.responseBooked();
      await deps.log.flushed();
      return 'completed';
    }
    deps.log.append([recorded]);
    deps.live.responseBooked();
    await deps.log.flushed();
    const stop = await deps.runTools(response.calls, deps.signal);
    deps.log.append([completed(stop ? 'end_turn' : 'tool_use'), ...(stop ? completion() : [])]);
    await deps.log.flushed();
    return stop ? 'completed' : undefined;
  }

  function completion(): Draft[] {
    return [ended('completed'), ...deps.workEnded('completed'), ...settlePrompt('completed')];
  }

  async function waitForRetry(error: ModelError, at: OpenStep, maxAttempts: number): Promise<void> {
    const delayMs = retryDelay(error, failedAttempts);
    const facts = {
      failedAttempt: failedAttempts,
      nextAttempt: failedAttempts + 1,
      maxAttempts,
      delayMs,
      errorName: error.facts.name,
      ...(error.facts.statusCode === undefined ? {} : { statusCode: error.facts.statusCode }),
    };
    deps.log.append([
      event(deps.agentId, 'turn.step.retrying', { turnId: deps.turnId, ...at, ...facts, errorMessage: error.message }),
    ]);
    deps.live.retrying(facts);
    await sleep(delayMs, deps.signal);
  }

  /** Calls of the open step that have no result yet: they never started. */
  function missingResults(): Draft[] {
    const calls = deps.log.state.status.agents.get(deps.agentId)?.turn?.step?.calls;
    return [...(calls?.keys() ?? [])].map(unstartedResult);
  }

  async function cancel(): Promise<TurnOutcome> {
    await deps.log.flushed();
    const reason = deps.signal.reason instanceof TurnAborted ? deps.signal.reason : undefined;
    const byUser = reason?.by === 'user';
    const interrupted = open
      ? [
          event(deps.agentId, 'turn.step.interrupted', {
            turnId: deps.turnId,
            ...open,
            reason: 'aborted' as const,
            ...(byUser ? {} : { message: reason?.message ?? 'aborted' }),
          }),
        ]
      : [];
    // The results come before the reminder, so its place counts them.
    const entering = byUser ? interruptionReminder(deps.messages()) : [];
    const missing = missingResults();
    const reminder =
      entering.length === 0
        ? []
        : [
            event(
              deps.agentId,
              'context.spliced',
              {
                start: deps.contextLength() + (partial.length > 0 ? 0 : missing.length),
                deleteCount: 0,
                messages: entering,
                tokens: deps.contextTokens(entering),
              },
              { cause: 'reminder' },
            ),
          ];
    deps.log.append([
      ...partial,
      ...missing,
      ...interrupted,
      ended('cancelled', { interruptReason: byUser ? 'user_cancelled' : 'aborted' }),
      ...deps.closeInteractions(),
      ...reminder,
      ...deps.workEnded('cancelled'),
      ...(deps.promptId === undefined
        ? []
        : [event(deps.agentId, 'prompt.aborted', { promptId: deps.promptId, abortedAt: iso(deps.now()) })]),
    ]);
    if (open) deps.live.interrupted('aborted');
    await deps.log.flushed();
    return 'cancelled';
  }

  async function fail(
    cause: unknown,
    interrupted: { step: number; stepId?: string; reason: 'max_steps' | 'error' } | undefined,
    interruptReason: InterruptReason = interrupted?.reason ?? 'error',
  ): Promise<TurnOutcome> {
    await deps.log.flushed();
    const error = errorPayload(cause);
    deps.log.append([
      ...partial,
      ...missingResults(),
      ...(interrupted
        ? [
            event(deps.agentId, 'turn.step.interrupted', {
              turnId: deps.turnId,
              ...interrupted,
              message: `[${error.code}] ${error.message}`,
            }),
          ]
        : []),
      ended('failed', { error, interruptReason }),
      event(deps.agentId, 'error', error),
      ...deps.closeInteractions(),
      ...deps.workEnded('failed'),
      ...settlePrompt('failed'),
    ]);
    if (interrupted) deps.live.interrupted(interrupted.reason);
    await deps.log.flushed();
    return 'failed';
  }
}

const usageTotal = (usage: TokenUsage) =>
  usage.inputOther + usage.output + usage.inputCacheRead + usage.inputCacheCreation;

/** Finish reason of a step as the wire names it (engine.md §2.3). */
function stepFinish(response: ModelResponse): string {
  switch (response.finishReason) {
    case 'completed':
      return 'end_turn';
    case 'truncated':
      return 'max_tokens';
    case 'tool_calls':
      // Claimed calls that never came.
      return 'other';
    default:
      return response.finishReason;
  }
}

/** Makes the next request smaller or stricter; false when nothing is left to try. Choices stay for the turn. */
function degrade(
  shape: RequestShape,
  recovery: NonNullable<ModelError['facts']['recovery']>,
  historyLength: number,
): boolean {
  if (recovery === 'structure') {
    if (shape.strict) return false;
    shape.strict = true;
    return true;
  }
  if (shape.media === 'stripped') return false;
  shape.media = recovery === 'request_too_large' && shape.media !== 'degraded' ? 'degraded' : 'stripped';
  // Media that enter the conversation later are sent as they are.
  shape.mediaCut = historyLength;
  return true;
}

/** Name of the projection in `step.response`; undefined for the normal one. */
function projectionName(shape: RequestShape): string | undefined {
  const parts = [...(shape.strict ? ['strict'] : []), ...(shape.media ? [`media-${shape.media}`] : [])];
  return parts.length > 0 ? parts.join('-') : undefined;
}
