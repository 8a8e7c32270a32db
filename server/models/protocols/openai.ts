/** OpenAI chat completions, also for compatible servers. */
import type { ContextMessage, ToolSchema } from '#schema/engine.ts';
import { tryParseJson } from '#server/text/json.ts';
import type { ModelTransport } from '../model-transport.ts';
import { memoizeByObject } from '#server/memo/by-object.ts';
import type { ModelRequest, Protocol } from '../types.ts';
import { chatMessages, chatTools, responseFormat, type ChatBody } from './chat.ts';
import { streamChat } from './chat-stream.ts';

const MAX_OUTPUT_TOKENS = 131_072;
/** OpenAI's reasoning models reject `max_tokens`; older ones and compatible servers may not support the newer name. */
const NEW_CAP_NAME = /(?:^|\/)(?:o\d|gpt-(?:[5-9]|\d{2,})|codex)/i;
const REASONING_KEYS = ['reasoning_content', 'reasoning_details', 'reasoning'];

export function createOpenAI(transport: ModelTransport): Protocol {
  return {
    name: 'openai',
    body,
    stream: (request, onPart) => streamChat(transport, request, body(request), onPart),
  };
}

const toolsOf = memoizeByObject((tools: readonly ToolSchema[]) => chatTools(tools, (schema) => schema, false));

function body(request: ModelRequest): ChatBody {
  const { model, tools } = request;
  const capName = NEW_CAP_NAME.test(model.wireName) ? 'max_completion_tokens' : 'max_tokens';
  return {
    model: model.wireName,
    stream: true,
    stream_options: { include_usage: true },
    ...(request.maxTokens !== undefined && { [capName]: Math.min(request.maxTokens, MAX_OUTPUT_TOKENS) }),
    ...effort(request),
    prompt_cache_key: request.cacheKey,
    ...responseFormat(request),
    messages: chatMessages(request, {
      name: `openai ${model.reasoningKey ?? ''}`,
      reasoning: (message) => reasoning(message, model.reasoningKey),
      mediaInToolMessage: false,
      omitBlankContent: false,
      echoExtras: false,
    }),
    ...(tools.length > 0 && { tools: toolsOf(tools) }),
  };
}

function effort({ model, settings, messages }: ModelRequest): Record<string, unknown> {
  if (settings.effort === 'off') return model.offEffort ? { reasoning_effort: model.offEffort } : {};
  if (settings.effort !== 'on') return { reasoning_effort: settings.effort };
  const reasoned = messages.some((message) => message.content.some((part) => part.type === 'think'));
  return reasoned ? { reasoning_effort: 'medium' } : {};
}

/** Sends reasoning back under the key that it was received in, unless the model's record forces one. */
function reasoning(message: ContextMessage, forced: string | undefined): Record<string, unknown> {
  const thoughts = message.content.filter((part) => part.type === 'think');
  const text = thoughts.map((part) => part.think).join('');
  const received = thoughts.find((part) => part.format && REASONING_KEYS.includes(part.format))?.format;
  const key = forced ?? received ?? 'reasoning_content';
  if (key !== 'reasoning_details') return text ? { [key]: text } : {};
  const details = thoughts.flatMap((part): unknown[] => {
    if (part.format !== 'reasoning_details' || !part.encrypted) return [];
    const list = tryParseJson(part.encrypted);
    return Array.isArray(list) ? list : [];
  });
  if (details.length === 0 && text) details.push({ type: 'reasoning.text', text });
  return details.length > 0 ? { reasoning_details: details } : {};
}
