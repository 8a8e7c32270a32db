/**
 * The request for a summary: the model's conversation with one more message. It is shortened if it does not fit or its
 * answer is unusable, and retried after errors that allow it; none of it enters the conversation.
 */
import type { AgentContext } from '#server/agent/contract/context.ts';
import { EngineError } from '#server/agent/contract/errors.ts';
import { degrade } from '#server/agent/loop/request-recovery.ts';
import { retryDelay, sleep } from '#server/agent/loop/retry.ts';
import { estimatedSize } from '#server/journal/context-size.ts';
import { estimateMessages } from '#server/journal/token-estimate.ts';
import { toModelMessages, withoutLoadedTools, type RequestShape } from '#server/models/request-history.ts';
import { ModelError, type ModelResponse, type StreamPart } from '#server/models/types.ts';
import type { ContextMessage, TokenUsage } from '#schema/engine.ts';
import { textHead } from './cut.ts';
import { recentMessages, withoutOldest } from './recent.ts';
import { summaryRequest } from './texts.ts';
import { isOverflow } from './window.ts';
import type { TurnModel } from '#server/agent/contract/config.ts';

/** Fractions of the history's tokens that are tried in turn if it is too long. */
const SHORTER_PARTS = [0.7, 0.5, 0.35];
/** Maximum number of oldest messages that are dropped, one per attempt, after answers that are empty or cut off. */
const MAX_DROPPED = 5;
const MAX_ATTEMPTS = 5;
/** Limit of an answer if the model declares none. */
const MAX_OUTPUT_TOKENS = 131_072;
/**
 * Minimum limit of an answer, also if the window is full: a provider without capacity for it reports that the request
 * is too long.
 */
const LEAST_OUTPUT_TOKENS = 4096;
/** A longer answer is aborted and treated as unusable. */
const MAX_ANSWER_CHARS = 2_000_000;
/** Maximum fraction of the window for a summary; a longer one would not free enough of it. */
const SUMMARY_PART = 1 / 4;
const LARGEST_SUMMARY_TOKENS = 50_000;

export interface SummaryWanted {
  frozen: TurnModel;
  /** The messages with their texts loaded. */
  history: readonly ContextMessage[];
  instruction: string | undefined;
  /** Context window in tokens; 0 if unknown. */
  window: number;
  signal: AbortSignal;
  /** Called with the usage of each answer, including unusable ones. */
  spent(usage: TokenUsage): void;
}

export interface Summary {
  text: string;
  /** Number of messages of the history that the request did not contain. */
  dropped: number;
}

/**
 * Sends requests until one returns a summary. Throws the signal's reason, a `ModelError` if the credentials are
 * refused, else `compaction.failed`.
 */
export async function summarize(agent: AgentContext, wanted: SummaryWanted): Promise<Summary> {
  const { history: whole, signal, window } = wanted;
  const { clock } = agent.session;
  const shape: RequestShape = {};
  let history = withoutLoadedTools(whole);
  const all = history.length;
  const tokens = estimateMessages(history);
  let shorter = 0;
  let dropped = 0;
  let failures = 0;

  for (;;) {
    if (history.length === 0) throw compactionFailed('nothing of the conversation is left to summarize');
    try {
      const answer = await ask(agent, wanted, history, shape);
      if (answer !== undefined) return { text: bounded(answer, window), dropped: all - history.length };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ModelError)) throw compactionFailed(error);
      const { recovery, retry } = error.details;
      if (recovery && degrade(shape, recovery, history.length)) continue;
      if (isOverflow(error, Infinity, window)) {
        const part = SHORTER_PARTS[shorter++];
        if (part === undefined) throw compactionFailed(error);
        history = recentMessages(history, part * tokens);
        continue;
      }
      if (!isEmptyAnswer(error)) {
        failures += 1;
        if (!retry || failures >= MAX_ATTEMPTS) throw compactionFailed(error);
        await sleep(retryDelay(error, failures), signal, clock);
        continue;
      }
    }
    dropped += 1;
    if (dropped > MAX_DROPPED) throw compactionFailed('the model gave no usable summary');
    history = withoutOldest(history);
  }
}

/** Sends one request; undefined if its answer is empty or cut off. */
async function ask(
  agent: AgentContext,
  { frozen, instruction, window, signal, spent }: SummaryWanted,
  history: readonly ContextMessage[],
  shape: RequestShape,
): Promise<string | undefined> {
  const { services, dir } = agent.session;
  const projected = toModelMessages([...history, summaryRequest(instruction)], shape);
  const messages = await services.withStoredMedia(projected, { sessionDir: dir, model: frozen.model, signal });
  signal.throwIfAborted();
  const flood = new AbortController();
  let received = 0;
  const onPart = (part: StreamPart) => {
    if ('text' in part) received += part.text.length;
    if (received > MAX_ANSWER_CHARS) flood.abort();
  };
  let response: ModelResponse;
  try {
    response = await services.stream(
      {
        ...frozen,
        messages,
        tools: agent.tools().list.tools,
        maxTokens: outputTokens(agent, frozen, window, estimatedSize(agent.state(), frozen.system, messages)),
        cacheKey: agent.log.sessionId,
        signal: AbortSignal.any([signal, flood.signal]),
      },
      onPart,
    );
  } catch (error) {
    if (flood.signal.aborted && !signal.aborted) return undefined;
    throw error;
  }
  signal.throwIfAborted();
  const { parts, finishReason, usage } = response;
  if (usage) spent(usage);
  if (finishReason === 'filtered')
    throw compactionFailed('the answer was stopped by the safety filter of the provider');
  // Tool calls of the answer are ignored.
  const text = parts
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('')
    .trim();
  return finishReason === 'truncated' || text === '' ? undefined : text;
}

/** Returns the limit of the answer for `used` tokens of input; undefined if none is to be sent. */
function outputTokens(
  { session: { services } }: AgentContext,
  { model }: TurnModel,
  window: number,
  used: number,
): number | undefined {
  const budget = services.budget(model, used);
  if (budget === undefined) return undefined;
  const most = model.maxOutputTokens ?? (window > 0 ? Math.min(window, MAX_OUTPUT_TOKENS) : MAX_OUTPUT_TOKENS);
  return Math.min(most, Math.max(budget, LEAST_OUTPUT_TOKENS));
}

function bounded(text: string, window: number): string {
  const tokens = window > 0 ? Math.min(LARGEST_SUMMARY_TOKENS, window * SUMMARY_PART) : LARGEST_SUMMARY_TOKENS;
  return textHead(text, tokens);
}

const isEmptyAnswer = ({ details: facts }: ModelError) => facts.name === 'APIEmptyResponseError';

const AS_THEY_ARE: ReadonlySet<string> = new Set(['compaction.failed', 'auth.login_required', 'provider.auth_error']);

/** Returns the error that clients receive for a failed compaction; refused credentials are reported unchanged. */
export function compactionFailed(cause: unknown): Error {
  if (cause instanceof EngineError && AS_THEY_ARE.has(cause.code)) return cause;
  if (cause instanceof ModelError && AS_THEY_ARE.has(cause.details.code)) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new EngineError('compaction.failed', `The conversation could not be compacted: ${reason}`);
}
