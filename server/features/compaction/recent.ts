/** Shortens a history for a request that was too long. */
import { estimateMessages } from '#server/journal/token-estimate.ts';
import type { ContextMessage, Part } from '#schema/engine.ts';
import { textHead } from './cut.ts';

/** Maximum fraction of the limit for one message, so that a long newest message does not displace its context. */
const ONE_MESSAGE_PART = 1 / 2;

/** Returns the newest messages that fit `tokens`; long ones are cut, and the first is not the result of a call. */
export function recentMessages(history: readonly ContextMessage[], tokens: number): ContextMessage[] {
  const longest = tokens * ONE_MESSAGE_PART;
  const kept: ContextMessage[] = [];
  let left = tokens;
  for (const message of history.toReversed()) {
    const shown = shortened(message, longest);
    left -= estimateMessages([shown]);
    if (left < 0) break;
    kept.push(shown);
  }
  return withoutLeadingResults(kept.toReversed());
}

/** Returns the history without its oldest message and the results of its calls. */
export const withoutOldest = (history: readonly ContextMessage[]): ContextMessage[] =>
  withoutLeadingResults(history.slice(1));

function withoutLeadingResults(history: ContextMessage[]): ContextMessage[] {
  const first = history.findIndex(({ role }) => role !== 'tool');
  return first === -1 ? [] : history.slice(first);
}

function shortened(message: ContextMessage, tokens: number): ContextMessage {
  if (estimateMessages([message]) <= tokens) return message;
  let left = tokens;
  const content = message.content.map((part): Part => {
    if (part.type !== 'text') return part;
    const text = textHead(part.text, left);
    left -= Math.ceil(text.length / 4);
    return { ...part, text };
  });
  return { ...message, content };
}
