/** Selects the messages that a compaction retains in addition to the summary: those of the user, within bounds. */
import { isUndoAnchor } from '#server/journal/projections/context.ts';
import type { Stored } from '#server/journal/texts.ts';
import { userOrigin, withoutSkillBlocks } from '#server/journal/typed-prompts.ts';
import { estimateMessages, estimateText } from '#server/journal/token-estimate.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { elision } from './texts.ts';
import { textHead, textTail } from './cut.ts';

/**
 * Maximum tokens of the retained messages; if there are more, the first `HEAD_TOKENS` and the last `TAIL_TOKENS` are
 * retained.
 */
const ALL_TOKENS = 20_000;
const HEAD_TOKENS = 2000;
const TAIL_TOKENS = 18_000;

export interface KeptMessage {
  message: ContextMessage;
  /** Index of its source in the history; null for a new message. */
  from: number | null;
}

export interface Kept {
  messages: KeptMessage[];
  /** Number of messages of the user among them. */
  count: number;
  /** Number of messages before the omitted ones; undefined if none were omitted. */
  headCount?: number;
}

/** Returns the messages of the user that are retained, in their order. */
export function keptMessages(history: readonly ContextMessage[]): Kept {
  const own = history.flatMap((message, from) => (isUndoAnchor(message) ? [{ message, from }] : []));
  if (tokensOf(own) <= ALL_TOKENS) return { messages: own, count: own.length };
  const head = fitting(own, HEAD_TOKENS, textHead);
  const tail = fitting(own.toReversed(), TAIL_TOKENS, textTail).toReversed();
  // The same message may be cut in both parts; if only its media make it long, the first part has its whole text.
  if (head.some(({ message, from }) => from === tail[0]?.from && textOf(message) === textOfSource(own, from)))
    tail.shift();
  const messages = [...head, { message: elision(), from: null }, ...tail];
  return { messages, count: head.length + tail.length, headCount: head.length };
}

/** Whether the user's messages exceed what a compaction retains. */
export const exceedsKept = (history: readonly Stored<ContextMessage>[]): boolean =>
  estimateMessages(history.filter(isUndoAnchor)) > ALL_TOKENS;

type Own = KeptMessage & { from: number };

/** The text of the user: the summary names the skills that were sent with it. */
const textOf = ({ content, origin }: ContextMessage) =>
  withoutSkillBlocks(content, origin)
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n\n');

const textOfSource = (own: readonly Own[], from: number) =>
  own.flatMap((one) => (one.from === from ? [textOf(one.message)] : [])).join('');

const tokensOf = (own: readonly Own[]) => estimateMessages(own.map(({ message }) => message));

/** Returns the first messages that fit `tokens`, and the fitting part of the text of the next one. */
function fitting(own: readonly Own[], tokens: number, cut: (text: string, tokens: number) => string): Own[] {
  const kept: Own[] = [];
  let left = tokens;
  for (const one of own) {
    const size = tokensOf([one]);
    if (size > left) return [...kept, ...boundary(one, left, cut)];
    kept.push(one);
    left -= size;
  }
  return kept;
}

function boundary({ message, from }: Own, tokens: number, cut: (text: string, tokens: number) => string): Own[] {
  const text = cut(textOf(message), tokens - estimateText(message.role));
  const origin = message.origin?.kind === 'user' ? { origin: userOrigin([]) } : {};
  return text === '' ? [] : [{ message: { ...message, ...origin, content: [{ type: 'text', text }] }, from }];
}
