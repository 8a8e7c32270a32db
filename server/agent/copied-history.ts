/** Copies the conversation of one agent to the start of another's. */
import { contextSize } from '#server/journal/context-size.ts';
import type { LogState } from '#server/journal/fold.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { Stored } from '#server/journal/texts.ts';
import { estimateMessages } from '#server/journal/token-estimate.ts';
import type { ContextMessage } from '#schema/engine.ts';

const STILL_RUNNING = 'This call was still running when the conversation was copied; its result is not known here.';

/**
 * The record that gives an agent without a conversation the current one of `from`, followed by `more`. Calls that still
 * run there have no result yet, so each gets a synthetic one.
 */
export function copiedHistory(
  state: LogState,
  agentId: string,
  from: string,
  more: Stored<ContextMessage>[] = [],
): Draft {
  const source = readContext(state.context, from);
  const results = [...(source.open?.calls ?? [])].map((toolCallId): ContextMessage => ({
    role: 'tool',
    content: [{ type: 'text', text: STILL_RUNNING }],
    toolCalls: [],
    toolCallId,
  }));
  const messages = [...results, ...more];
  const tokens = contextSize(source) + estimateMessages(messages);
  const start = source.entries.length;
  return event(
    agentId,
    'context.spliced',
    { start, deleteCount: 0, messages, tokens },
    { cause: 'copy', copyOf: from },
  );
}
