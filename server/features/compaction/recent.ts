/** Less of a history, for a request that was too long. */
import { estimateMessages } from '#server/journal/token-estimate.ts';
import type { ContextMessage, Part } from '#schema/engine.ts';
import { textHead } from './cut.ts';

/** One message takes at most this part of what is left, so that the newest does not push out what it belongs to. */
const ONE_MESSAGE_PART = 1 / 2;

/** The newest messages that fit so many tokens, not beginning with the result of a call; long ones are cut. */
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

/** All but the oldest message, and the results of its calls. */
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
