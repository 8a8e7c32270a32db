/** Chat completions with the native provider's extensions. */
import type { ModelTransport } from '../model-transport.ts';
import { memoizeByObject } from '#server/memo/by-object.ts';
import type { ToolSchema } from '#schema/engine.ts';
import { normalizeToolSchema } from '../tool-schema.ts';
import type { ModelRequest, Protocol } from '../types.ts';
import { uploadNativeVideo } from './native-files.ts';
import { chatMessages, chatTools, responseFormat, type ChatBody, type ChatDialect } from './chat.ts';
import { streamChat } from './chat-stream.ts';

export function createNative(transport: ModelTransport): Protocol {
  return {
    name: 'native',
    body,
    stream: (request, onPart) => streamChat(transport, request, body(request), onPart),
    uploadVideo: (upload) => uploadNativeVideo(transport, upload),
  };
}

const toolsOf = memoizeByObject((tools: readonly ToolSchema[]) => chatTools(tools, normalizeToolSchema, true));

/** @param keep whether a message's reasoning is sent back with it. */
const dialect = (keep: boolean): ChatDialect => ({
  name: keep ? 'native, with reasoning' : 'native',
  reasoning(message) {
    if (!keep) return {};
    const text = message.content.map((part) => (part.type === 'think' ? part.think : '')).join('');
    return { reasoning_content: text };
  },
  mediaInToolMessage: true,
  omitBlankContent: true,
  echoExtras: true,
  declaration: (declared) => ({ tools: toolsOf(declared) }),
  video: (url, id) => ({ type: 'video_url', video_url: { url, ...(id && { id }) } }),
});

function body(request: ModelRequest): ChatBody {
  const { model, settings, tools } = request;
  const keep = settings.effort === 'off' ? undefined : settings.keep;
  return {
    model: model.wireName,
    stream: true,
    stream_options: { include_usage: true },
    ...(request.maxTokens !== undefined && { max_completion_tokens: request.maxTokens }),
    ...thinking(request, keep),
    prompt_cache_key: request.cacheKey,
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.topP !== undefined && { top_p: settings.topP }),
    ...responseFormat(request),
    messages: chatMessages(request, dialect(keep === 'all')),
    ...(tools.length > 0 && { tools: toolsOf(tools) }),
  };
}

/** Omitted for models that cannot think: they may reject the member. */
function thinking({ model, settings }: ModelRequest, keep: string | undefined): Record<string, unknown> {
  if (!model.capabilities.has('thinking') && !model.capabilities.has('always_thinking')) return {};
  if (settings.effort === 'off') return { thinking: { type: 'disabled' } };
  const effort = settings.forcedEffort ?? (settings.effort === 'on' ? undefined : settings.effort);
  return { thinking: { type: 'enabled', ...(effort && { effort }), ...(keep && { keep }) } };
}
