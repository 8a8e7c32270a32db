/** Size of a context, for display and the completion budget, and its end after records that are not folded yet. */
import type { ContextMessage } from '#schema/engine.ts';
import type { LogState } from './fold.ts';
import { outputParts, readContext, type ContextState } from './projections/context.ts';
import type { CompleteDraft, Draft } from './records.ts';
import type { Stored, Text } from './texts.ts';
import { estimateMessages } from './token-estimate.ts';

/**
 * Tokens of the context: the last measured size plus an estimate of the later messages; without a measurement all is
 * estimated. 0 for a context without messages.
 */
export function contextSize(state: ContextState): number {
  return state.entries.length === 0 ? 0 : baseSize(state) + estimatedTail(state);
}

/** Estimated tokens of these messages after this system prompt and the tools. */
export function estimatedSize(
  { tools }: Pick<ContextState, 'tools'>,
  system: Text,
  messages: readonly Stored<ContextMessage>[],
): number {
  return estimateMessages([systemMessage(system)]) + tools.tokens + estimateMessages(messages);
}

function measured(state: ContextState) {
  return state.anchors.findLast((one) => one.length <= state.entries.length);
}

function baseSize(state: ContextState): number {
  return measured(state)?.tokens ?? estimatedSize(state, state.system, []);
}

function estimatedTail(state: ContextState): number {
  return estimateMessages(state.entries.slice(measured(state)?.length ?? 0).map((entry) => entry.message));
}

const systemMessage = (text: Text): Stored<ContextMessage> => ({
  role: 'system',
  content: [{ type: 'text', text }],
  toolCalls: [],
});

/** Number of entries and displayed tokens of an agent's context. */
export interface ContextEnd {
  length: number;
  tokens: number;
}

/**
 * Returns the end of an agent's context after these drafts are folded: the only prediction of a fold's result, needed
 * because records of one line count each other.
 */
export function endOfContext(state: LogState, agent: string, drafts: readonly CompleteDraft[]): ContextEnd {
  const context = readContext(state.context, agent);
  let { length } = context.entries;
  let tokens = contextSize(context);
  const unanswered = new Set(context.open?.calls);
  const add = (messages: Stored<ContextMessage>[]) => {
    if (length === 0) tokens = baseSize(context);
    length += messages.length;
    tokens += estimateMessages(messages);
  };
  for (const draft of drafts) {
    if (draft.agent !== agent) continue;
    switch (draft.type) {
      case 'context.spliced':
        // Entries copied by `copyOf` precede the splice and are counted by its `start` only.
        length = draft.start + draft.messages.length + Math.max(0, length - draft.start - draft.deleteCount);
        tokens = draft.tokens;
        break;
      case 'turn.step.started':
        unanswered.clear();
        add([UNANSWERED]);
        break;
      case 'step.response':
        if (!draft.partial) for (const call of draft.calls) unanswered.add(call.id);
        tokens = draft.contextTokens ?? tokens + estimateMessages([answerOf(draft)]) - estimateMessages([UNANSWERED]);
        break;
      case 'tool.result':
        if (unanswered.delete(draft.toolCallId)) add([resultMessage(draft)]);
        break;
      case 'turn.step.completed':
      case 'turn.step.retrying':
      case 'turn.step.interrupted':
      case 'turn.ended':
        unanswered.clear();
        break;
    }
  }
  return { length, tokens };
}

/** A step's entry before its response. */
const UNANSWERED: ContextMessage = { role: 'assistant', content: [], toolCalls: [] };

const answerOf = ({
  parts,
  calls,
  partial,
}: Extract<CompleteDraft, { type: 'step.response' }>): Stored<ContextMessage> => ({
  role: 'assistant',
  content: parts,
  toolCalls: partial ? [] : calls,
});

const resultMessage = ({ output }: Extract<CompleteDraft, { type: 'tool.result' }>): Stored<ContextMessage> => ({
  role: 'tool',
  content: outputParts(output),
  toolCalls: [],
});

/** Fills a splice's missing `start` and `tokens` from the end of the context before it. */
export function placeSplices(state: LogState, drafts: readonly Draft[]): CompleteDraft[] {
  const placed: CompleteDraft[] = [];
  for (const draft of drafts) {
    if (draft.type !== 'context.spliced' || draft.start !== undefined) {
      placed.push(draft);
      continue;
    }
    const { agent, type, deleteCount, messages, unsent, x } = draft;
    const end = endOfContext(state, agent, placed);
    const whole = end.length === 0 && messages.length > 0 ? baseSize(readContext(state.context, agent)) : end.tokens;
    placed.push({
      agent,
      type,
      start: end.length,
      deleteCount,
      messages,
      tokens: whole + estimateMessages(messages),
      ...(x ? { x } : {}),
      ...(unsent ? { unsent } : {}),
    });
  }
  return placed;
}
