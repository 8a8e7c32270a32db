/** Runs one subagent from its task to its last message, which is returned to the caller or sent as a notification. */
import type { AgentContext, SessionContext, TurnRequest } from '#server/agent/contract/context.ts';
import { TurnAborted } from '#server/agent/contract/errors.ts';
import { cutText } from '#server/text/truncate.ts';
import { newUlid } from '#server/ids.ts';
import { contextSize } from '#server/journal/context-size.ts';
import { countersOf } from '#server/journal/projections/counters.ts';
import { noUsage } from '#server/journal/projections/usage.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { ModelErrorCode } from '#server/models/types.ts';
import type { TaskEnd, TaskStop } from '#server/tasks/task.ts';
import type { ContextMessage, ErrorPayload, Origin, TokenUsage } from '#schema/engine.ts';
import { CONTINUATION, NO_TEXT, TRUNCATED } from './texts.ts';
import type { Agent, TurnEnd } from '#server/agent/contract/agent.ts';
import type { Profile } from '#server/agent/contract/profile.ts';

const ORIGIN: Origin = { kind: 'system_trigger', name: 'subagent' };
/** Limit for the last message in the record; the call's result contains all of it. */
const RECORDED_CHARS = 65_536;
const RATE_LIMIT: ModelErrorCode = 'provider.rate_limit';
const RETRY_ORIGIN: Origin = { kind: 'retry', trigger: 'rate_limit' };
const SUBAGENT_ENDED = 'subagent ended';

/** How a run ended; `stopped` means on request. */
export type RunEnd =
  { status: 'completed'; summary: string } | { status: 'failed'; error: string } | { status: 'stopped'; error: string };

export interface RunDeps {
  session: SessionContext;
  caller: AgentContext;
  child: Agent;
  /** Name of the child's profile, and the profile if it still exists. */
  name: string;
  profile: Pick<Profile, 'summary' | 'taskContext'> | undefined;
  /** Cancels the run; its reason is a `TurnAborted`. */
  signal: AbortSignal;
  /** Returns the records that end the enclosing task; they are appended on the same line as the run's end. */
  finish?(end: TaskEnd): Draft[];
  /**
   * Called when the provider rate limited a request: resolves to whether the agent may continue.
   * Without it requests are retried as in any turn.
   */
  limited?(error: ErrorPayload): Promise<boolean>;
}

/** Runs the task and records its end. The caller has recorded `spawned`. */
export async function runSubagent(prompt: string, deps: RunDeps): Promise<{ end: RunEnd; taskEnd: TaskEnd }> {
  const { session, caller, child, name } = deps;
  const before = usageOf(child.context);
  const end = await turns(prompt, deps).catch((error: unknown): RunEnd => failure(error));
  // Tasks that the subagent left running are stopped without waiting for them.
  session.tasks
    .endAgent(child.id, SUBAGENT_ENDED)
    .catch((error: unknown) => session.report(`tasks of ${child.id} could not be stopped`, error));
  const taskEnd: TaskEnd =
    end.status === 'completed'
      ? { status: 'completed', result: end.summary }
      : { status: end.status, result: end.error };
  const text = cutText(end.status === 'completed' ? end.summary : end.error, RECORDED_CHARS);
  const facts = {
    usage: difference(usageOf(child.context), before),
    contextTokens: contextSize(child.context.state()),
  };
  session.log.append([endDraft(caller.id, child.id, end, text, facts), ...(deps.finish?.(taskEnd) ?? [])]);
  for (const feature of session.features) feature.onSubagentEnd?.(caller, { name, response: text });
  return { end, taskEnd };
}

function endDraft(
  callerId: string,
  subagentId: string,
  end: RunEnd,
  text: string,
  facts: { usage: TokenUsage; contextTokens: number },
): Draft {
  if (end.status === 'completed') {
    return event(callerId, 'subagent.completed', { subagentId, resultSummary: text, ...facts });
  }
  const x = end.status === 'stopped' ? { aborted: true as const } : undefined;
  return event(callerId, 'subagent.failed', { subagentId, error: text }, x);
}

/** Runs the task, and prompts for more while the answer is shorter than the profile's minimum. */
async function turns(prompt: string, deps: RunDeps): Promise<RunEnd> {
  const { session, child, name, profile, signal } = deps;
  const { minChars = 0, retries = 0 } = profile?.summary ?? {};
  const first = countersOf(session.log.state.counters, child.id).nextTurnId;
  const { reach, repositoryOf } = session.services;
  const { runtime, cwd } = reach(session);
  for (const feature of session.features) await feature.beforeSubagent?.(deps.caller, { name, prompt }, signal);
  const prefix = (await profile?.taskContext?.({ runtime, repositoryOf, cwd })) ?? '';
  const text = prefix ? `${prefix}\n\n${prompt}` : prompt;
  for (let attempt = 0; ; attempt += 1) {
    const request = await instruction(session, attempt === 0 ? text : CONTINUATION);
    const end = await turnWithRetries(request, deps);
    const problem = turnProblem(end, signal);
    if (problem) return problem;
    const said = await lastText(child.context, first);
    if (said.length >= minChars || attempt >= retries) return { status: 'completed', summary: said || NO_TEXT };
  }
}

/** Runs a turn; as long as it ends with a rate limit, another turn continues it. */
async function turnWithRetries(request: TurnRequest, { child, signal, limited }: RunDeps): Promise<TurnEnd> {
  if (!limited) return child.runTurn(request, signal);
  const givesUpOn = [RATE_LIMIT];
  let end = await child.runTurn({ ...request, givesUpOn }, signal);
  while (end.error?.code === RATE_LIMIT && !signal.aborted) {
    const goesOn = await limited(end.error);
    if (signal.aborted) return { outcome: 'cancelled' };
    if (!goesOn) break;
    end = await child.runTurn({ origin: RETRY_ORIGIN, messages: [], givesUpOn }, signal);
  }
  return end;
}

function turnProblem({ outcome, error, truncated }: TurnEnd, signal: AbortSignal): RunEnd | undefined {
  if (outcome === 'cancelled') {
    const reason = signal.reason instanceof TurnAborted ? signal.reason.message : 'interrupted by the user';
    return { status: 'stopped', error: reason };
  }
  if (outcome === 'failed') {
    return { status: 'failed', error: error ? `[${error.code}] ${error.message}` : 'The turn could not be recorded.' };
  }
  return truncated ? { status: 'failed', error: TRUNCATED } : undefined;
}

const failure = (error: unknown): RunEnd => ({
  status: 'failed',
  error: error instanceof Error ? error.message : String(error),
});

async function instruction({ log }: SessionContext, text: string): Promise<TurnRequest> {
  const promptId = `msg_${newUlid()}`;
  const message: ContextMessage = {
    role: 'user',
    content: [{ type: 'text', text }],
    toolCalls: [],
    origin: ORIGIN,
    id: promptId,
  };
  return { origin: ORIGIN, promptId, ...(await log.store({ prompt: text, messages: [message] })) };
}

/** Derives the signal of the task's turns from the task's signal, with a `TurnAborted` as its reason. */
export function turnSignal(task: AbortSignal, callerReason: () => unknown) {
  const controller = new AbortController();
  const onAbort = () => controller.abort(abortReason(task.reason, callerReason()));
  if (task.aborted) onAbort();
  else task.addEventListener('abort', onAbort, { once: true });
  return { signal: controller.signal, dispose: () => task.removeEventListener('abort', onAbort) };
}

function abortReason(stop: TaskStop, callerReason: unknown): TurnAborted {
  if (stop.by === 'turn' && callerReason instanceof TurnAborted) return callerReason;
  return new TurnAborted(stop.by === 'user' ? 'user' : 'server', stop.reason);
}

/** The newest text that the agent wrote since `firstTurn`; empty if there is none. */
async function lastText({ state, log }: AgentContext, firstTurn: number): Promise<string> {
  const { entries } = state();
  for (const { message, turnId = -1 } of entries.toReversed()) {
    if (turnId < firstTurn || message.role !== 'assistant') continue;
    const { content } = await log.load(message);
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    if (text.trim() !== '') return text.trim();
  }
  return '';
}

const usageOf = ({ id, log }: AgentContext): TokenUsage => ({ ...(log.state.usage.get(id)?.total ?? noUsage()) });

const difference = (after: TokenUsage, before: TokenUsage): TokenUsage => ({
  inputOther: after.inputOther - before.inputOther,
  output: after.output - before.output,
  inputCacheRead: after.inputCacheRead - before.inputCacheRead,
  inputCacheCreation: after.inputCacheCreation - before.inputCacheCreation,
});
