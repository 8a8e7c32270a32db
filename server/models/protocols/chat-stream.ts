/** Responses of `native` and `openai`: a stream of chat-completion chunks. */
import * as z from 'zod';
import { asRecord, parseJson } from '#server/text/json.ts';
import type { TokenUsage } from '#schema/engine.ts';
import { streamError } from '../errors.ts';
import type { ModelTransport } from '../model-transport.ts';
import type { FinishReason, ModelRequest, ModelResponse, StreamPart } from '../types.ts';
import type { ChatBody } from './chat.ts';
import { createCollector } from './collect.ts';
import { readEvents } from './event-stream.ts';
import { OPENAI_BASE_URL, runStream } from './run.ts';

/** Data of the event after the last chunk. */
const END_MARK = '[DONE]';

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
/** Includes members that compatible servers add: reasoning, usage in the choice, extras of calls. */
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

/** Sends `body` and reads the response. */
export function streamChat(
  transport: ModelTransport,
  request: ModelRequest,
  body: ChatBody,
  onPart: (part: StreamPart) => void,
): Promise<ModelResponse> {
  const { model, signal } = request;
  return runStream(transport, request, 'authorization', async ({ post, result }) => {
    const { baseUrl = OPENAI_BASE_URL } = model;
    const answer = await post(`${baseUrl.replace(/\/$/, '')}/chat/completions`, JSON.stringify(body), signal);
    const collect = createCollector(onPart);
    const details: Record<string, unknown>[] = [];
    let raw: string | undefined;
    let usage: z.infer<typeof usageSchema> | undefined;
    let responseId: string | undefined;
    let lastIndex = 0;
    let done = false;

    await readEvents(answer, (data) => {
      if (done) return;
      done = data.startsWith(END_MARK);
      if (done) return;
      const item = parseJson(data);
      const error = asRecord(item)?.error;
      if (error) throw streamError(error, result, model.providerType === 'native');
      const chunk = chunkSchema.parse(item);
      responseId ??= chunk.id || undefined;
      usage = chunk.usage ?? usage;
      const choice = chunk.choices?.[0];
      if (!choice) return;
      usage = choice.usage ?? usage;
      raw = choice.finish_reason || raw;
      const { delta } = choice;
      if (!delta) return;
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
    });
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

/** Stores `reasoning_details` as JSON in the part's opaque blob, so that they are returned unmodified. */
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
