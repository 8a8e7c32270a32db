/** Token estimates without a measurement: deliberately simple, the same for every model. */
import type { ContextMessage, Part, ToolSchema } from '#schema/engine.ts';
import { isLong } from './blobs.ts';
import type { Stored, Text } from './texts.ts';

const MEDIA_PART_TOKENS = 2000;

/**
 * Estimates `ceil(ascii characters / 4)` plus one for every other character; for a long text a quarter of its bytes,
 * whether its string is in memory or not: the estimate must not depend on that.
 */
export function estimateText(text: Text): number {
  if (typeof text !== 'string') return Math.ceil(text.bytes / 4);
  if (isLong(text)) return Math.ceil(Buffer.byteLength(text) / 4);
  let ascii = 0;
  let other = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) ascii++;
    // The second half of a surrogate pair belongs to the character already counted.
    else if (unit < 0xdc00 || unit > 0xdfff) other++;
  }
  return Math.ceil(ascii / 4) + other;
}

/** Tokens of messages: role, parts and calls of each. */
export function estimateMessages(messages: readonly Stored<ContextMessage>[]): number {
  return messages.reduce((tokens, message) => tokens + estimateMessage(message), 0);
}

/** Memoized by message: messages of a context are immutable. */
const estimates = new WeakMap<Stored<ContextMessage>, number>();

function estimateMessage(message: Stored<ContextMessage>): number {
  const known = estimates.get(message);
  if (known !== undefined) return known;
  let tokens = estimateText(message.role);
  for (const part of message.content) tokens += estimatePart(part);
  for (const call of message.toolCalls) tokens += estimateText(call.name) + estimateText(call.arguments ?? '');
  if (message.tools) tokens += estimateTools(message.tools);
  estimates.set(message, tokens);
  return tokens;
}

/** Tokens of tool declarations: name, description and the JSON of the schema. */
export function estimateTools(tools: readonly ToolSchema[]): number {
  let tokens = 0;
  for (const tool of tools) {
    tokens += estimateText(tool.name) + estimateText(tool.description) + estimateText(JSON.stringify(tool.parameters));
  }
  return tokens;
}

function estimatePart(part: Stored<Part>): number {
  if (part.type === 'text') return estimateText(part.text);
  if (part.type === 'think') return estimateText(part.think);
  return MEDIA_PART_TOKENS;
}
