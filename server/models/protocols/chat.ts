/** The common part of requests of `native` and `openai`. */
import { parseDataUrl } from '#server/files/data-url.ts';
import { memoizeByPrefix } from '#server/memo/by-prefix.ts';
import { argumentsText } from '#server/text/tool-arguments.ts';
import type { ContextMessage, Part, ToolSchema } from '#schema/engine.ts';
import { sanitizeCallIds } from '../call-ids.ts';
import type { ModelRequest } from '../types.ts';
import { omission, textOf } from './media.ts';

export type ChatMessage = Record<string, unknown> & { role: string };
type ChatTool = Record<string, unknown>;
export type ChatBody = Record<string, unknown> & { model: string; messages: ChatMessage[]; tools?: ChatTool[] };

/** The differences between the two wire formats. */
export interface ChatDialect {
  /** Name of the dialect, including the request settings that its messages depend on. */
  name: string;
  /** Members that carry an assistant message's reasoning. */
  reasoning(message: ContextMessage): Record<string, unknown>;
  /** Media remain in the tool message; otherwise they follow in a user message after the consecutive results. */
  mediaInToolMessage: boolean;
  /** Whether `content` is omitted for blank text in a message with calls; otherwise it is null. */
  omitBlankContent: boolean;
  /** Whether provider-specific extras of a call are sent back with it. */
  echoExtras: boolean;
  /** Creates a message that declares tools; undefined if the wire format has none. */
  declaration?(tools: ToolSchema[]): Record<string, unknown>;
  /** Creates a content part of a video; undefined to replace it by text. */
  video?(url: string, id: string | undefined): Record<string, unknown>;
}

/** System prompt and history as chat messages. */
export function chatMessages(request: ModelRequest, dialect: ChatDialect): ChatMessage[] {
  const wireId = sanitizeCallIds(request.messages);
  const result: ChatMessage[] = request.system ? [{ role: 'system', content: request.system }] : [];
  let following: Part[] = [];

  function flush(): void {
    if (following.length === 0) return;
    const content = [
      { type: 'text', text: 'Images of the tool results above:' },
      ...following.map((part) => contentPart(part, dialect)),
    ];
    result.push({ role: 'user', content });
    following = [];
  }

  const unchanged = messagesIn(dialect)(request.messages);
  for (const [place, message] of request.messages.entries()) {
    if (message.role !== 'tool') flush();
    const converted = hasRenamed(message, wireId) ? chatMessage(message, wireId, dialect) : unchanged[place];
    if (converted) result.push(converted);
    if (message.role === 'tool' && !dialect.mediaInToolMessage) {
      following.push(...message.content.filter((part) => part.type === 'image_url'));
    }
  }
  flush();
  return result;
}

/** Memoized converters by name of the dialect; there are few names. */
const tellers = new Map<string, (messages: readonly ContextMessage[]) => (ChatMessage | undefined)[]>();

/**
 * Memoizes the wire form of messages, because each request sends the history again; not used for messages with renamed
 * ids, which depend on other messages.
 */
function messagesIn(dialect: ChatDialect) {
  let teller = tellers.get(dialect.name);
  if (!teller)
    tellers.set(dialect.name, (teller = memoizeByPrefix((message) => chatMessage(message, (id) => id, dialect))));
  return teller;
}

function hasRenamed({ role, toolCallId = '', toolCalls }: ContextMessage, wireId: (id: string) => string): boolean {
  return (role === 'tool' && wireId(toolCallId) !== toolCallId) || toolCalls.some(({ id }) => wireId(id) !== id);
}

/** Converts a message; undefined if it has no content in this wire format. */
function chatMessage(
  message: ContextMessage,
  wireId: (id: string) => string,
  dialect: ChatDialect,
): ChatMessage | undefined {
  if (message.role === 'assistant') return assistantMessage(message, wireId, dialect);
  if (message.role === 'tool') {
    return {
      role: 'tool',
      tool_call_id: wireId(message.toolCallId ?? ''),
      content: dialect.mediaInToolMessage ? content(message.content, dialect) : toolText(message.content),
    };
  }
  const declared = message.tools && dialect.declaration?.(message.tools);
  if (message.content.length === 0 && !declared) return undefined;
  return {
    role: message.role,
    ...(message.content.length > 0 && { content: content(message.content, dialect) }),
    ...declared,
  };
}

function assistantMessage(message: ContextMessage, wireId: (id: string) => string, dialect: ChatDialect): ChatMessage {
  const text = textOf(message.content);
  const calls = message.toolCalls.map((call) => ({
    id: wireId(call.id),
    type: 'function',
    function: { name: call.name, arguments: argumentsText(call.arguments) },
    ...(dialect.echoExtras && call.extras && { extras: call.extras }),
  }));
  const blank = text.trim() === '' && calls.length > 0;
  return {
    role: 'assistant',
    ...(blank ? !dialect.omitBlankContent && { content: null } : { content: text }),
    ...dialect.reasoning(message),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function toolText(parts: readonly Part[]): string {
  const omitted = parts.filter(({ type }) => type !== 'text' && type !== 'think' && type !== 'image_url').map(omission);
  return [textOf(parts, '\n'), ...omitted].filter(Boolean).join('\n') || '[the output is attached below]';
}

function content(parts: readonly Part[], dialect: ChatDialect): string | Record<string, unknown>[] {
  const [first] = parts;
  if (parts.length === 1 && first?.type === 'text') return first.text;
  return parts.map((part) => contentPart(part, dialect));
}

function contentPart(part: Part, dialect: ChatDialect): Record<string, unknown> {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'think':
      return { type: 'text', text: part.think };
    case 'image_url':
      return { type: 'image_url', image_url: { url: part.imageUrl.url } };
    case 'audio_url': {
      const audio = parseDataUrl(part.audioUrl.url);
      const format = /mpeg|mp3/.test(audio?.mimeType ?? '')
        ? 'mp3'
        : /wav/.test(audio?.mimeType ?? '')
          ? 'wav'
          : undefined;
      if (!audio || !format) return { type: 'text', text: omission(part) };
      return { type: 'input_audio', input_audio: { data: audio.data, format } };
    }
    case 'video_url':
      return dialect.video?.(part.videoUrl.url, part.videoUrl.id) ?? { type: 'text', text: omission(part) };
  }
}

/** Tools as chat functions; names that start with `$` are the server's own where `builtin` says so. */
export function chatTools(
  tools: readonly ToolSchema[],
  parameters: (schema: Record<string, unknown>) => Record<string, unknown>,
  builtin: boolean,
): ChatTool[] {
  return tools.map((tool) =>
    builtin && tool.name.startsWith('$')
      ? { type: 'builtin_function', function: { name: tool.name } }
      : {
          type: 'function',
          function: { name: tool.name, description: tool.description, parameters: parameters(tool.parameters) },
        },
  );
}

/** `response_format` of both wires. */
export function responseFormat({ output }: ModelRequest): Record<string, unknown> {
  return output
    ? { response_format: { type: 'json_schema', json_schema: { name: output.name, schema: output.schema } } }
    : {};
}
