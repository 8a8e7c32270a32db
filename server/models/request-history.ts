/**
 * Converts a history into the messages of a request: without blank or partial messages, and with exactly one result
 * directly after each call. Pure: the same history results in the same bytes, so that the providers' prompt caches
 * apply. Takes the fold's entries; the result must not be converted again.
 */
import { memoizeByObject } from '#server/memo/by-object.ts';
import { memoizeByPrefix } from '#server/memo/by-prefix.ts';
import type { ContextMessage, Part, ToolCall } from '#schema/engine.ts';

export interface RequestShape {
  /** After a structure rejection: one result per call id, no consecutive assistant messages, starts with the user. */
  strict?: boolean;
  /** `degraded` retains the two most recent media parts, `stripped` none; the others are replaced by text. */
  media?: 'normal' | 'degraded' | 'stripped';
  /** Number of leading messages that `media` applies to; later ones are sent unmodified. Default: all. */
  mediaCut?: number;
}

const KEPT_MEDIA_PARTS = 2;
const INTERRUPTED =
  'Execution was interrupted before a result was recorded. Do not assume that the call succeeded; check before relying on it.';
const FAILED_LINE = '<system>ERROR: the tool call failed.</system>';
const EMPTY_LINE = '<system>The tool returned no output.</system>';

/** Returns messages in wire order: none empty, each call followed by its result, results rendered with their notes. */
export function toModelMessages(messages: readonly ContextMessage[], options: RequestShape = {}): ContextMessage[] {
  const { strict = false, media = 'normal' } = options;
  const reduced = media === 'normal' ? messages : reduceMedia(messages, media, options.mediaCut ?? messages.length);
  const calls = strict ? withoutRepeatedCalls(reduced) : reduced;
  const kept = saying(calls).filter((message) => message !== undefined);
  const paired = pairResults(kept, strict);
  const merged = mergeUsers(paired);
  return strict ? startWithUser(mergeAssistants(merged)) : merged;
}

/** Variant of the reminders that announce loadable tools. */
export const LOADABLE_TOOLS = 'loadable-tools';

/** Returns the history for a request that lists all tools, without declarations and announcements of loadable ones. */
export function withoutLoadedTools(messages: readonly ContextMessage[]): ContextMessage[] {
  return messages.filter(
    ({ tools, origin }) => !tools && !(origin?.kind === 'injection' && origin.variant === LOADABLE_TOOLS),
  );
}

function isMedia(part: Part): boolean {
  return part.type !== 'text' && part.type !== 'think';
}

function reduceMedia(messages: readonly ContextMessage[], media: 'degraded' | 'stripped', cut: number) {
  let left = media === 'degraded' ? KEPT_MEDIA_PARTS : 0;
  const result = [...messages];
  for (let i = Math.min(cut, messages.length) - 1; i >= 0; i--) {
    const message = messages[i];
    if (!message?.content.some(isMedia)) continue;
    const content: Part[] = [];
    for (const part of message.content.toReversed()) {
      const keep = !isMedia(part) || left > 0;
      if (isMedia(part) && left > 0) left--;
      content.push(
        keep ? part : { type: 'text', text: `[${part.type.replace('_url', '')} removed to shorten the request]` },
      );
    }
    result[i] = { ...message, content: content.toReversed() };
  }
  return result;
}

/** Removes calls with an id that an earlier call has. */
function withoutRepeatedCalls(messages: readonly ContextMessage[]): ContextMessage[] {
  const seen = new Set<string>();
  return messages.map((message) => {
    if (message.toolCalls.length === 0) return message;
    const toolCalls = message.toolCalls.filter((call) => !seen.has(call.id) && seen.add(call.id));
    return toolCalls.length === message.toolCalls.length ? message : { ...message, toolCalls };
  });
}

function withoutBlankText(message: ContextMessage): ContextMessage {
  if (message.role === 'tool') return message;
  const content = message.content.filter((part) => part.type !== 'text' || part.text.trim() !== '');
  return content.length === message.content.length ? message : { ...message, content };
}

function isVacuous(message: ContextMessage): boolean {
  if (message.role === 'tool' || message.toolCalls.length > 0 || message.tools?.length) return false;
  return message.content.every((part) => part.type === 'think' && !part.encrypted && part.think.trim() === '');
}

/** Removes blank text from each message; undefined for a message without content. */
const saying = memoizeByPrefix((message: ContextMessage): ContextMessage | undefined => {
  const visible = withoutBlankText(message);
  return isVacuous(visible) ? undefined : visible;
});

/**
 * Whether each call is followed by exactly one result, in the order of the calls, which is true of an intact history.
 */
function arePaired(messages: readonly ContextMessage[]): boolean {
  const ids = new Set<string>();
  const due: string[] = [];
  for (const { role, toolCalls, toolCallId } of messages) {
    if (role === 'tool') {
      if (toolCallId === undefined || due.shift() !== toolCallId) return false;
    } else if (due.length > 0) return false;
    for (const { id } of toolCalls) {
      if (ids.has(id)) return false;
      ids.add(id);
      due.push(id);
    }
  }
  return due.length === 0;
}

/** Moves each result after its call, adds missing results, and removes results without a call. */
function pairResults(messages: readonly ContextMessage[], strict: boolean): ContextMessage[] {
  if (arePaired(messages))
    return messages.map((message) => (message.role === 'tool' ? renderResult(message) : message));
  const results = new Map<string, number[]>();
  const owners = new Map<string, number[]>();
  for (const [i, message] of messages.entries()) {
    if (message.role === 'tool' && message.toolCallId !== undefined) push(results, message.toolCallId, i);
    for (const call of message.toolCalls) push(owners, call.id, i);
  }

  function take(call: ToolCall, at: number): ContextMessage {
    const found = results.get(call.id);
    // A later call of the same id owns the results after it.
    const next = strict ? undefined : owners.get(call.id)?.find((owner) => owner > at);
    const position = found?.findIndex((index) => index > at && (next === undefined || index < next)) ?? -1;
    const [index] = position >= 0 && found ? found.splice(position, 1) : [];
    const real = index === undefined ? undefined : messages[index];
    return renderResult(
      real ?? {
        role: 'tool',
        content: [{ type: 'text', text: INTERRUPTED }],
        toolCalls: [],
        toolCallId: call.id,
        isError: true,
      },
    );
  }

  return messages.flatMap((message, at) => {
    if (message.role === 'tool') return [];
    return [message, ...message.toolCalls.map((call) => take(call, at))];
  });
}

/** Memoized by message, so that the same history results in the same objects. */
const renderResult = memoizeByObject((message: ContextMessage): ContextMessage => {
  const { note, ...rest } = message;
  const hasMedia = message.content.some(isMedia);
  if (hasMedia) {
    const content = message.content.filter((part) => part.type !== 'text' || part.text.trim() !== '');
    if (message.isError) content.unshift({ type: 'text', text: FAILED_LINE });
    if (note) content.push({ type: 'text', text: note });
    return { ...rest, content };
  }
  const output = message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const lines = [output.trim() === '' ? EMPTY_LINE : output];
  if (message.isError) lines.unshift(FAILED_LINE);
  if (note) lines.push(note);
  return { ...rest, content: [{ type: 'text', text: lines.join('\n') }] };
});

function mergeUsers(messages: readonly ContextMessage[]): ContextMessage[] {
  return mergeRuns(
    messages,
    (message) => message.role === 'user' && message.origin?.kind === 'user' && !message.tools,
    (first, second) => {
      const parts = [...first.content, ...second.content];
      const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
      const rest = parts.filter((part) => part.type !== 'text');
      return { ...first, content: text ? [{ type: 'text', text }, ...rest] : rest };
    },
  );
}

function mergeAssistants(messages: readonly ContextMessage[]): ContextMessage[] {
  return mergeRuns(
    messages,
    (message) => message.role === 'assistant',
    (first, second) => ({
      ...first,
      content: [...first.content, ...second.content],
      toolCalls: [...first.toolCalls, ...second.toolCalls],
    }),
  );
}

function mergeRuns(
  messages: readonly ContextMessage[],
  mergeable: (message: ContextMessage) => boolean,
  merge: (first: ContextMessage, second: ContextMessage) => ContextMessage,
): ContextMessage[] {
  const result: ContextMessage[] = [];
  for (const message of messages) {
    const last = result.at(-1);
    if (last && mergeable(last) && mergeable(message)) result[result.length - 1] = merge(last, message);
    else result.push(message);
  }
  return result;
}

function startWithUser(messages: ContextMessage[]): ContextMessage[] {
  const first = messages.findIndex((message) => message.role === 'user');
  return first < 0 ? [] : messages.slice(first);
}

function push(map: Map<string, number[]>, key: string, value: number): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
