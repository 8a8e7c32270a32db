/** What the requests of `native` and `openai` share. */
import { parseDataUrl } from '#server/files/data-url.ts';
import { oncePer } from '#server/once-per.ts';
import type { ContextMessage, Part, ToolSchema } from '#schema/engine.ts';
import { sanitizeCallIds } from '../call-ids.ts';
import type { ModelRequest } from '../types.ts';
import { omission, textOf } from './media.ts';

export type ChatMessage = Record<string, unknown> & { role: string };
type ChatTool = Record<string, unknown>;
export type ChatBody = Record<string, unknown> & { model: string; messages: ChatMessage[]; tools?: ChatTool[] };

const encodedTools = oncePer((tools: ChatTool[]) => Buffer.from(`,"tools":${JSON.stringify(tools)}}`));

/** The JSON of a body. The tools, the same in each request of a session and most of many, are encoded once. */
export function encodeChat({ tools, ...rest }: ChatBody): Uint8Array {
  const json = JSON.stringify(rest);
  return tools ? Buffer.concat([Buffer.from(json.slice(0, -1)), encodedTools(tools)]) : Buffer.from(json);
}

/** Where the two wires differ in their messages. */
export interface ChatDialect {
  /** Members that carry an assistant message's reasoning. */
  reasoning(message: ContextMessage): Record<string, unknown>;
  /** Media stay inside the tool message; else they follow in a user message after the run of results. */
  mediaInToolMessage: boolean;
  /** Blank text beside calls: no `content` at all, or null. */
  omitBlankContent: boolean;
  /** Extras of a call are echoed back on it. */
  echoExtras: boolean;
  /** A message that declares tools, or undefined where the wire has no such thing. */
  declaration?(tools: ToolSchema[]): Record<string, unknown>;
  /** Video as a content part, or undefined to replace it by text. */
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

  for (const message of request.messages) {
    if (message.role === 'tool') {
      const media = message.content.filter((part) => part.type !== 'text' && part.type !== 'think');
      result.push({
        role: 'tool',
        tool_call_id: wireId(message.toolCallId ?? ''),
        content: dialect.mediaInToolMessage ? content(message.content, dialect) : toolText(message.content, media),
      });
      if (!dialect.mediaInToolMessage) following.push(...media.filter((part) => part.type === 'image_url'));
      continue;
    }
    flush();
    if (message.role === 'assistant') {
      result.push(assistantMessage(message, wireId, dialect));
      continue;
    }
    const declared = message.tools && dialect.declaration?.(message.tools);
    if (message.content.length === 0 && !declared) continue;
    result.push({
      role: message.role,
      ...(message.content.length > 0 && { content: content(message.content, dialect) }),
      ...declared,
    });
  }
  flush();
  return result;
}

function assistantMessage(message: ContextMessage, wireId: (id: string) => string, dialect: ChatDialect): ChatMessage {
  const text = textOf(message.content);
  const calls = message.toolCalls.map((call) => ({
    id: wireId(call.id),
    type: 'function',
    function: { name: call.name, arguments: call.arguments || '{}' },
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

function toolText(parts: readonly Part[], media: readonly Part[]): string {
  const omitted = media.filter((part) => part.type !== 'image_url').map(omission);
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
