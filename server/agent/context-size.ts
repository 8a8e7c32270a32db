/** How large a context is, for people and for the completion budget (engine.md §21). */
import type { ContextState } from '#server/journal/projections/context.ts';
import { estimateMessages, estimateTools } from '#server/journal/token-estimate.ts';
import type { ResolvedModel } from '#server/models/types.ts';
import type { ContextMessage, ToolSchema } from '#schema/engine.ts';

/**
 * Tokens of the context once `entering` is in it: the last measured size plus an estimate of what came after; without a
 * measurement all is estimated. 0 for a context without a message.
 */
export function contextSize(state: ContextState, tools: () => ToolSchema[], entering: ContextMessage[] = []): number {
  if (state.entries.length + entering.length === 0) return 0;
  const anchor = state.anchors.findLast((one) => one.length <= state.entries.length);
  const after = state.entries.slice(anchor?.length ?? 0).map((entry) => entry.message);
  const base = anchor ? anchor.tokens : estimateMessages([systemMessage(state.system)]) + estimateTools(tools());
  return base + estimateMessages([...after, ...entering]);
}

const systemMessage = (text: string): ContextMessage => ({
  role: 'system',
  content: [{ type: 'text', text }],
  toolCalls: [],
});

/** The model's input limit, else its context size; undefined when unknown. */
export function contextLimit(model: ResolvedModel): number | undefined {
  const limit = model.maxInputTokens || model.maxContextTokens;
  return limit > 0 ? limit : undefined;
}
