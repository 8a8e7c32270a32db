/**
 * One compaction from its beginning to its end: whatever happens, it ends in the journal, and nothing is lost before.
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
  /** Of one that a turn waits for; a person asked for the others. */
  turnId?: number;
  instruction?: string | undefined;
  /** What the request for the summary is made with. */
  frozen(): TurnModel | Promise<TurnModel>;
  /** Of that model, in tokens; 0 where it is not known. */
  window(frozen: TurnModel): number;
  signal: AbortSignal;
}

/**
 * Puts a summary in place of the agent's context; the user's words stay beside it, within bounds. Throws why it came to
 * nothing: the signal's reason, `compaction.failed`, what refused the credentials, `persistence.failure`.
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
      // A turn that waited tells of it itself.
      ...(failure && turnId === undefined ? [event(id, 'error', errorPayload(failure))] : []),
    ]);
    agent.tellFacts({});
    throw failure ?? signal.reason;
  }
  agent.tellFacts({});
  for (const feature of session.features) feature.afterCompact?.(agent, { trigger, tokens: contextSize(state()) });
}

/** The records that replace the context; what entered it meanwhile stays behind the summary. */
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

  // Made when nothing is awaited any more: what is behind the history is counted now.
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
