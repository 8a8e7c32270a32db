/** What `native` and `openai` share: the chat-completions stream and its messages. */
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import { z } from 'zod';
import type { ContextMessage, Part, TokenUsage, ToolSchema } from '#schema/engine.ts';
import { sanitizeCallIds } from '../call-ids.ts';
import type { Transport } from '#server/net/fetch.ts';
import type { FinishReason, ModelRequest, ModelResponse, StreamPart } from '../types.ts';
import { createCollector } from './collect.ts';
import { parseDataUrl } from '#server/files/data-url.ts';
import { omission, textOf } from './media.ts';
import { openAIRequest } from './openai-client.ts';
import { runStream } from './run.ts';

const count = z.number().nullish();
const usageSchema = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  cached_tokens: count,
  prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
});
const callSchema = z.object({
  index: z.number().nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
  extras: z.record(z.string(), z.unknown()).nullish(),
});
/** The SDK's own type lacks what compatible servers add: reasoning, usage in the choice, extras of calls. */
const chunkSchema = z.object({
  id: z.string().nullish(),
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            reasoning_content: z.string().nullish(),
            reasoning: z.string().nullish(),
            reasoning_details: z.array(z.record(z.string(), z.unknown())).nullish(),
            tool_calls: z.array(callSchema).nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
        usage: usageSchema.nullish(),
      }),
    )
    .nullish(),
  usage: usageSchema.nullish(),
});

/** Sends `body` and reads the answer. */
export function streamChat(
  transport: Transport,
  request: ModelRequest,
  body: ChatBody,
  onPart: (part: StreamPart) => void,
): Promise<ModelResponse> {
  const { model, signal } = request;
  return runStream(transport, request, 'authorization', async (exchange) => {
    const { client, options } = await openAIRequest(model, exchange, signal);
    // The SDK sends the body as it is; its type lacks the members that compatible servers know.
    const params = body as unknown as ChatCompletionCreateParamsStreaming;
    const stream = await client.chat.completions.create(params, options);
    const collect = createCollector(onPart);
    const details: Record<string, unknown>[] = [];
    let raw: string | undefined;
    let usage: z.infer<typeof usageSchema> | undefined;
    let responseId: string | undefined;
    let lastIndex = 0;

    for await (const item of stream) {
      const chunk = chunkSchema.parse(item);
      responseId ??= chunk.id || undefined;
      usage = chunk.usage ?? usage;
      const choice = chunk.choices?.[0];
      if (!choice) continue;
      usage = choice.usage ?? usage;
      raw = choice.finish_reason || raw;
      const { delta } = choice;
      if (!delta) continue;
      const reasoning = readReasoning(delta, model.reasoningKey);
      if (reasoning) collect.think(reasoning.text, reasoning.key);
      if (reasoning?.details) details.push(...reasoning.details);
      const text = (delta.content ?? '') + (delta.refusal ?? '');
      if (text && details.length > 0) signDetails(collect, details);
      collect.text(text);
      for (const call of delta.tool_calls ?? []) {
        if (details.length > 0) signDetails(collect, details);
        lastIndex = call.index ?? (call.id && call.function?.name ? collect.callCount : lastIndex);
        collect.call(lastIndex, {
          id: call.id,
          name: call.function?.name,
          arguments: call.function?.arguments,
          extras: call.extras ?? undefined,
        });
      }
    }
    if (details.length > 0) signDetails(collect, details);
    if (raw === undefined) return undefined;
    return {
      ...collect.finish(),
      finishReason: finishReason(raw),
      rawFinishReason: raw,
      ...(usage && { usage: tokenUsage(usage) }),
      ...(responseId && { responseId }),
    };
  });
}

/** `reasoning_details` go back as the objects they were: their JSON is the part's opaque blob. */
function signDetails(collect: ReturnType<typeof createCollector>, details: Record<string, unknown>[]): void {
  collect.sign(JSON.stringify(details.splice(0)), 'reasoning_details');
}

type Delta = NonNullable<NonNullable<NonNullable<z.infer<typeof chunkSchema>['choices']>[number]>['delta']>;

function readReasoning(delta: Delta, forced: string | undefined) {
  if (delta.reasoning_content && (!forced || forced === 'reasoning_content')) {
    return { key: 'reasoning_content', text: delta.reasoning_content };
  }
  if (delta.reasoning_details?.length && (!forced || forced === 'reasoning_details')) {
    const text = delta.reasoning_details
      .map((detail) =>
        typeof detail.text === 'string' ? detail.text : typeof detail.summary === 'string' ? detail.summary : '',
      )
      .join('');
    return { key: 'reasoning_details', text, details: delta.reasoning_details };
  }
  if (delta.reasoning && (!forced || forced === 'reasoning')) return { key: 'reasoning', text: delta.reasoning };
  return undefined;
}

function finishReason(raw: string): FinishReason {
  switch (raw) {
    case 'stop':
      return 'completed';
    case 'tool_calls':
    case 'function_call':
      return 'tool_calls';
    case 'length':
      return 'truncated';
    case 'content_filter':
      return 'filtered';
    default:
      return 'other';
  }
}

function tokenUsage(usage: z.infer<typeof usageSchema>): TokenUsage {
  const cached = usage.cached_tokens ?? usage.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    inputOther: Math.max(0, (usage.prompt_tokens ?? 0) - cached),
    output: usage.completion_tokens ?? 0,
    inputCacheRead: cached,
    inputCacheCreation: 0,
  };
}

export type ChatMessage = Record<string, unknown> & { role: string };
export type ChatBody = Record<string, unknown> & { model: string; messages: ChatMessage[] };

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
): Record<string, unknown>[] {
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
