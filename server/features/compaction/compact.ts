/**
 * Runs one compaction. Its outcome is always recorded in the journal, and the context is unchanged until the line that
 * replaces it.
 */
import type { AgentContext } from '#server/agent/contract/context.ts';
import { errorPayload } from '#server/agent/contract/errors.ts';
import { contextSize, estimatedSize } from '#server/journal/context-size.ts';
import { requestMessages } from '#server/journal/projections/context.ts';
import { event, internal, type CompleteDraft, type Draft } from '#server/journal/records.ts';
import type { ContextMessage, TokenUsage } from '#schema/engine.ts';
import { keptMessages } from './kept.ts';
import { compactionFailed, summarize } from './summarize.ts';
import { summaryMessage } from './texts.ts';
import type { TurnModel } from '#server/agent/contract/config.ts';

export interface Compaction {
  /** The turn that waits for the compaction; undefined for one that a user requested. */
  turnId?: number;
  instruction?: string | undefined;
  /** Model and settings of the request for the summary. */
  frozen(): TurnModel | Promise<TurnModel>;
  /** Context window of that model in tokens; 0 if unknown. */
  window(frozen: TurnModel): number;
  signal: AbortSignal;
}

/**
 * Replaces the agent's context by a summary; the user's messages are retained in addition, within bounds. Throws the
 * reason of a failure: the signal's reason, `compaction.failed`, the error of refused credentials,
 * `persistence.failure`.
 */
export async function compact(agent: AgentContext, wanted: Compaction): Promise<void> {
  const { id, log, session, state } = agent;
  const { turnId, instruction, signal } = wanted;
  const trigger = turnId === undefined ? 'manual' : 'auto';
  const usages: CompleteDraft[] = [];
  log.append([
    event(id, 'compaction.started', { trigger, ...(instruction === undefined ? {} : { instruction }) }),
    ...(turnId === undefined ? [] : [event(id, 'compaction.blocked', { turnId })]),
  ]);
  session.changed();
  try {
    const tokens = contextSize(state());
    for (const feature of session.features) await feature.beforeCompact?.(agent, { trigger, tokens }, signal);
    signal.throwIfAborted();
    const frozen = await wanted.frozen();
    const spent = (usage: TokenUsage) =>
      void usages.push(
        internal(id, 'usage.recorded', { model: frozen.model.alias, usage, scope: 'session', purpose: 'compaction' }),
      );
    const history = await log.load(requestMessages(state()));
    const window = wanted.window(frozen);
    const summary = await summarize(agent, { frozen, history, instruction, window, signal, spent });
    const replaced = await replacement(agent, history, tokens, summary);
    signal.throwIfAborted();
    log.append([...usages, ...replaced()]);
  } catch (error) {
    if (log.readOnly) throw error;
    const failure = signal.aborted ? undefined : compactionFailed(error);
    log.append([
      ...usages,
      event(id, 'compaction.cancelled', {}, { cause: failure ? 'failed' : 'aborted' }),
      // A waiting turn records the error itself.
      ...(failure && turnId === undefined ? [event(id, 'error', errorPayload(failure))] : []),
    ]);
    agent.publishStatus({});
    throw failure ?? signal.reason;
  }
  agent.publishStatus({});
  for (const feature of session.features) feature.afterCompact?.(agent, { trigger, tokens: contextSize(state()) });
}

/** Returns the records that replace the context; messages added meanwhile follow the summary. */
async function replacement(
  agent: AgentContext,
  history: readonly ContextMessage[],
  tokensBefore: number,
  { text, dropped }: { text: string; dropped: number },
): Promise<() => Draft[]> {
  const { id, log, session, state } = agent;
  const compactedCount = history.length;
  const kept = keptMessages(history);
  const blocks = session.features.flatMap((feature) => feature.summary?.(agent) || []);
  const messages = [...kept.messages, { message: summaryMessage(text, blocks), from: null }];
  const from = messages.map((one) => one.from);
  const prompt = await agent.config.renderPrompt('compaction');
  const system = prompt.find((draft) => draft.type === 'agent.prompt')?.text;
  const stored = await log.store(messages.map(({ message }) => message));

  // Called after the last await, so that the messages after the history are counted at that moment.
  return () => {
    const behind = requestMessages(state()).slice(compactedCount);
    const tokensAfter = estimatedSize(state(), system ?? state().system, [...stored, ...behind]);
    const result = {
      summary: text,
      compactedCount,
      tokensBefore,
      tokensAfter,
      keptUserMessageCount: kept.count,
      ...(kept.headCount === undefined ? {} : { keptHeadUserMessageCount: kept.headCount }),
      ...(dropped === 0 ? {} : { droppedCount: dropped }),
    };
    const spliced = { start: 0, deleteCount: compactedCount, messages: stored, tokens: tokensAfter };
    return [
      event(id, 'context.spliced', spliced, { cause: 'compaction', from }),
      event(id, 'compaction.completed', { result }),
      ...prompt,
    ];
  };
}
