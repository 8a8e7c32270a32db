/** OpenAI's Responses API, without state on the server (`store: false`). */
import type {
  ResponseCreateParamsStreaming,
  ResponseStreamEvent,
  ResponseUsage,
} from 'openai/resources/responses/responses';
import type { ContextMessage, Part, TokenUsage } from '#schema/engine.ts';
import { sanitizeCallIds } from '../call-ids.ts';
import { streamError } from '../errors.ts';
import type { Exchange } from '#server/net/fetch.ts';
import type { ModelTransport } from '../model-transport.ts';
import type { FinishReason, ModelRequest, ModelResponse, Protocol, StreamPart } from '../types.ts';
import { createCollector, type Collector } from './collect.ts';
import { parseDataUrl } from '#server/files/data-url.ts';
import { argumentsText } from '#server/text/tool-arguments.ts';
import { omission } from './media.ts';
import { openAIRequest } from './openai-client.ts';
import { runStream } from './run.ts';

const FORMAT = 'openai_responses';
type Item = Record<string, unknown>;

export function createOpenAIResponses(transport: ModelTransport): Protocol {
  return {
    name: 'openai_responses',
    body,
    load: () => import('openai'),
    stream: (request, onPart) =>
      runStream(transport, request, 'authorization', (exchange) => read(exchange, request, onPart)),
  };
}

async function read(
  exchange: Exchange,
  request: ModelRequest,
  onPart: (part: StreamPart) => void,
): Promise<ModelResponse | undefined> {
  const { model, signal } = request;
  const { result } = exchange;
  const { client, options } = await openAIRequest(model, exchange, signal);
  // The SDK sends the body unmodified; its type requires ids that a request without stored items does not have.
  const params = body(request) as unknown as ResponseCreateParamsStreaming;
  const stream = await client.responses.create(params, options);
  const collect = createCollector(onPart);
  for await (const event of stream) {
    switch (event.type) {
      case 'response.completed':
      case 'response.incomplete': {
        const { response } = event;
        const reason = response.incomplete_details?.reason;
        return {
          ...collect.finish(),
          ...finish(event.type, reason, collect.callCount),
          ...(response.usage && { usage: tokenUsage(response.usage) }),
          responseId: response.id,
        };
      }
      case 'response.failed':
        throw streamError(event.response.error ?? { message: 'the response failed' }, result, false);
      case 'error':
        throw streamError(event, result, false);
      default:
        readEvent(event, collect);
    }
  }
  return undefined;
}

function readEvent(event: ResponseStreamEvent, collect: Collector): void {
  switch (event.type) {
    case 'response.output_item.added':
      collect.split();
      if (event.item.type === 'function_call') {
        collect.call(event.output_index, { id: event.item.call_id, name: event.item.name });
      }
      break;
    case 'response.function_call_arguments.delta':
      collect.call(event.output_index, { arguments: event.delta });
      break;
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      collect.text(event.delta);
      break;
    case 'response.reasoning_summary_part.added':
      if (event.summary_index > 0) collect.think('\n\n', FORMAT);
      break;
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      collect.think(event.delta, FORMAT);
      break;
    case 'response.output_item.done': {
      const { item, output_index: index } = event;
      if (item.type === 'reasoning' && item.encrypted_content) collect.sign(item.encrypted_content, FORMAT);
      if (item.type === 'function_call') {
        // Compatible servers may send the whole call without deltas.
        const rest = collect.hasArguments(index) ? undefined : item.arguments;
        collect.call(index, { id: item.call_id, name: item.name, arguments: rest });
      }
      break;
    }
    default:
  }
}

function finish(
  type: 'response.completed' | 'response.incomplete',
  reason: string | undefined,
  calls: number,
): { finishReason: FinishReason; rawFinishReason: string } {
  if (type === 'response.completed') {
    return { finishReason: calls > 0 ? 'tool_calls' : 'completed', rawFinishReason: 'completed' };
  }
  const rawFinishReason = reason ?? 'incomplete';
  if (reason === 'max_output_tokens') return { finishReason: 'truncated', rawFinishReason };
  if (reason === 'content_filter') return { finishReason: 'filtered', rawFinishReason };
  return { finishReason: 'other', rawFinishReason };
}

function tokenUsage(usage: ResponseUsage): TokenUsage {
  const cached = usage.input_tokens_details?.cached_tokens ?? 0;
  return {
    inputOther: Math.max(0, usage.input_tokens - cached),
    output: usage.output_tokens,
    inputCacheRead: cached,
    inputCacheCreation: 0,
  };
}

function body(request: ModelRequest): Item {
  const { model, settings, tools, output } = request;
  const effort = settings.effort === 'off' ? model.offEffort : settings.effort === 'on' ? undefined : settings.effort;
  // Models that cannot reason reject the `include`.
  const reasons = model.capabilities.has('thinking') || model.capabilities.has('always_thinking');
  return {
    model: model.wireName,
    ...(request.system && { instructions: request.system }),
    input: inputItems(request),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: 'function',
        name,
        description,
        parameters,
        strict: false,
      })),
    }),
    ...(reasons && effort && { reasoning: { effort } }),
    ...(reasons && { include: ['reasoning.encrypted_content'] }),
    store: false,
    stream: true,
    ...(request.maxTokens !== undefined && { max_output_tokens: request.maxTokens }),
    prompt_cache_key: request.cacheKey,
    ...(output && { text: { format: { type: 'json_schema', name: output.name, schema: output.schema } } }),
  };
}

function inputItems({ messages }: ModelRequest): Item[] {
  const wireId = sanitizeCallIds(messages, true);
  return messages.flatMap((message): Item[] => {
    if (message.role === 'tool') {
      const [first] = message.content;
      const single = message.content.length === 1 && first?.type === 'text';
      return [
        {
          type: 'function_call_output',
          call_id: wireId(message.toolCallId ?? ''),
          output: single ? first.text : message.content.map(inputPart),
        },
      ];
    }
    if (message.role === 'assistant') return assistantItems(message, wireId);
    if (message.content.length === 0) return [];
    return [{ type: 'message', role: message.role, content: message.content.map(inputPart) }];
  });
}

/** Reasoning, text and calls become separate items, in the order of the stream. */
function assistantItems(message: ContextMessage, wireId: (id: string) => string): Item[] {
  const items = message.content.flatMap((part): Item[] => {
    if (part.type === 'text') {
      return [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: part.text }] }];
    }
    const own = part.type === 'think' && part.encrypted && (part.format ?? FORMAT) === FORMAT;
    if (!own) return [];
    const summary = part.think ? [{ type: 'summary_text', text: part.think }] : [];
    return [{ type: 'reasoning', summary, encrypted_content: part.encrypted }];
  });
  for (const call of message.toolCalls) {
    items.push({
      type: 'function_call',
      call_id: wireId(call.id),
      name: call.name,
      arguments: argumentsText(call.arguments),
    });
  }
  return items;
}

function inputPart(part: Part): Item {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'think':
      return { type: 'input_text', text: part.think };
    case 'image_url':
      return { type: 'input_image', image_url: part.imageUrl.url, detail: 'auto' };
    case 'audio_url': {
      const audio = parseDataUrl(part.audioUrl.url);
      const format = /mpeg|mp3/.test(audio?.mimeType ?? '') ? 'mp3' : 'wav';
      if (!audio) return { type: 'input_text', text: omission(part) };
      return { type: 'input_audio', input_audio: { data: audio.data, format } };
    }
    case 'video_url':
      return { type: 'input_text', text: omission(part) };
  }
}
