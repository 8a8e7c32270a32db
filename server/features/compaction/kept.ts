/** What stays of a conversation beside its summary: the words of the user, within bounds. */
import { isUndoAnchor } from '#server/journal/projections/context.ts';
import type { Stored } from '#server/journal/texts.ts';
import { estimateMessages, estimateText } from '#server/journal/token-estimate.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { elision } from './texts.ts';
import { textHead, textTail } from './cut.ts';

/** Tokens of all that is kept; where there is more, so much from the beginning and from the end. */
const ALL_TOKENS = 20_000;
const HEAD_TOKENS = 2000;
const TAIL_TOKENS = 18_000;

export interface KeptMessage {
  message: ContextMessage;
  /** Place of its source in the history; null of one that is new. */
  from: number | null;
}

export interface Kept {
  messages: KeptMessage[];
  /** Messages of the user among them. */
  count: number;
  /** Those in front of what was left out, where something was. */
  headCount?: number;
}

/** The messages of the user that stay, in their order. */
export function keptMessages(history: readonly ContextMessage[]): Kept {
  const own = history.flatMap((message, from) => (isUndoAnchor(message) ? [{ message, from }] : []));
  if (tokensOf(own) <= ALL_TOKENS) return { messages: own, count: own.length };
  const head = fitting(own, HEAD_TOKENS, textHead);
  const tail = fitting(own.toReversed(), TAIL_TOKENS, textTail).toReversed();
  // One that is cut on both sides, and is long by its media alone, says everything in front already.
  if (head.some(({ message, from }) => from === tail[0]?.from && textOf(message) === textOfSource(own, from)))
    tail.shift();
  const messages = [...head, { message: elision(), from: null }, ...tail];
  return { messages, count: head.length + tail.length, headCount: head.length };
}

/** Whether there is more of the user's words than what is kept of them. */
export const exceedsKept = (history: readonly Stored<ContextMessage>[]): boolean =>
  estimateMessages(history.filter(isUndoAnchor)) > ALL_TOKENS;

type Own = KeptMessage & { from: number };

const textOf = ({ content }: ContextMessage) =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');

const textOfSource = (own: readonly Own[], from: number) =>
  own.flatMap((one) => (one.from === from ? [textOf(one.message)] : [])).join('');

const tokensOf = (own: readonly Own[]) => estimateMessages(own.map(({ message }) => message));

/** As many from the first on as fit; of the one that does not, its text as far as that fits. */
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
  return text === '' ? [] : [{ message: { ...message, content: [{ type: 'text', text }] }, from }];
}
