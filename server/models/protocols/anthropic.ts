/** Anthropic messages; also used by the native provider for models with `protocol: anthropic`. */
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/beta/messages/messages';
import type { MessageCreateParamsStreaming as PlainParams } from '@anthropic-ai/sdk/resources/messages/messages';
import type { ContextMessage, Part, TokenUsage } from '#schema/engine.ts';
import { sanitizeCallIds } from '../call-ids.ts';
import { NO_SDK_TIMEOUT_MS, type Exchange } from '#server/net/fetch.ts';
import type { ModelTransport } from '../model-transport.ts';
import type { FinishReason, ModelRequest, ModelResponse, Protocol, StreamPart } from '../types.ts';
import { claudeMaxTokens, claudeProfile, isClaude } from './claude-names.ts';
import { createCollector } from './collect.ts';
import { parseDataUrl } from '#server/files/data-url.ts';
import { argumentsObject } from '#server/text/tool-arguments.ts';
import { omission } from './media.ts';
import { NO_KEY, runStream } from './run.ts';

const FORMAT = 'anthropic';
/** Redacted thinking: the API sends only encrypted data, which is returned in later requests. */
const REDACTED = 'anthropic_redacted';
const BUDGETS: Record<string, number> = { low: 1024, medium: 4096 };
const HIGH_BUDGET = 32_000;
const MIN_BUDGET = 1024;
const EPHEMERAL = { cache_control: { type: 'ephemeral' } };

type Block = Record<string, unknown> & { type: string };
interface WireMessage {
  role: 'user' | 'assistant';
  content: Block[];
}

export function createAnthropic(transport: ModelTransport): Protocol {
  return {
    name: 'anthropic',
    body,
    load: () => import('@anthropic-ai/sdk'),
    stream: (request, onPart) =>
      runStream(transport, request, 'authorization', (exchange) => read(exchange, request, onPart)),
  };
}

async function read(
  { fetch }: Exchange,
  request: ModelRequest,
  onPart: (part: StreamPart) => void,
): Promise<ModelResponse | undefined> {
  const { model, signal } = request;
  const { default: Anthropic } = await import('@anthropic-ai/sdk');
  const client = new Anthropic({
    apiKey: NO_KEY,
    authToken: null,
    baseURL: model.baseUrl ?? 'https://api.anthropic.com',
    fetch,
    maxRetries: 0,
    timeout: NO_SDK_TIMEOUT_MS,
    logLevel: 'off',
  });
  // One body for both endpoints, wider than the SDK's types: vendors' efforts, thinking without a budget.
  const params = body(request) as unknown as MessageCreateParamsStreaming;
  const betas = betaNames(request);
  // The native provider's path is `/messages?beta=true`; the SDK does not add the query.
  const query = model.providerType === 'native' ? { query: { beta: 'true' } } : {};
  const stream = usesBetaEndpoint(request)
    ? await client.beta.messages.create({ ...params, ...(betas.length > 0 && { betas }) }, { signal, ...query })
    : await client.messages.create(params as PlainParams, {
        signal,
        ...(betas.length > 0 && { headers: { 'anthropic-beta': betas.join(',') } }),
      });

  const collect = createCollector(onPart);
  let usage: TokenUsage | undefined;
  let responseId: string | undefined;
  let raw: string | undefined;
  for await (const event of stream) {
    switch (event.type) {
      case 'message_start':
        responseId = event.message.id;
        usage = mergeUsage(undefined, event.message.usage);
        break;
      case 'content_block_start': {
        const block = event.content_block;
        collect.split();
        if (block.type === 'text') collect.text(block.text);
        if (block.type === 'thinking') collect.think(block.thinking, FORMAT);
        if (block.type === 'redacted_thinking') collect.sign(block.data, REDACTED);
        if (block.type === 'tool_use') collect.call(event.index, { id: block.id, name: block.name });
        break;
      }
      case 'content_block_delta': {
        const { delta } = event;
        if (delta.type === 'text_delta') collect.text(delta.text);
        if (delta.type === 'thinking_delta') collect.think(delta.thinking, FORMAT);
        if (delta.type === 'signature_delta' && delta.signature) collect.sign(delta.signature, FORMAT);
        if (delta.type === 'input_json_delta') collect.call(event.index, { arguments: delta.partial_json });
        break;
      }
      case 'message_delta':
        raw = event.delta.stop_reason ?? raw;
        usage = mergeUsage(usage, event.usage);
        break;
      case 'message_stop':
        return {
          ...collect.finish(),
          finishReason: finishReason(raw),
          ...(raw !== undefined && { rawFinishReason: raw }),
          ...(usage && { usage }),
          ...(responseId && { responseId }),
        };
      default:
    }
  }
  return undefined;
}

interface WireUsage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
}

/** `message_delta` overrides the counts of `message_start` that it repeats. */
function mergeUsage(before: TokenUsage | undefined, usage: WireUsage | null | undefined): TokenUsage | undefined {
  if (!usage) return before;
  return {
    inputOther: usage.input_tokens ?? before?.inputOther ?? 0,
    output: usage.output_tokens ?? before?.output ?? 0,
    inputCacheRead: usage.cache_read_input_tokens ?? before?.inputCacheRead ?? 0,
    inputCacheCreation: usage.cache_creation_input_tokens ?? before?.inputCacheCreation ?? 0,
  };
}

function finishReason(raw: string | undefined): FinishReason {
  switch (raw) {
    case 'end_turn':
    case 'stop_sequence':
      return 'completed';
    case 'tool_use':
      return 'tool_calls';
    case 'max_tokens':
      return 'truncated';
    case 'refusal':
      return 'filtered';
    case 'pause_turn':
      return 'paused';
    default:
      return 'other';
  }
}

/** The API accepts clearing of old thinking only while the model thinks. */
function keepEdit({ settings }: ModelRequest): Record<string, unknown> | undefined {
  const { keep, effort } = settings;
  if (!keep || effort === 'off') return undefined;
  const turns = /^[1-9]\d*$/.test(keep) ? { type: 'thinking_turns', value: Number(keep) } : undefined;
  if (keep !== 'all' && !turns) return undefined;
  return { type: 'clear_thinking_20251015', keep: turns ?? 'all' };
}

function usesBetaEndpoint(request: ModelRequest): boolean {
  const { betaApi, providerType } = request.model;
  return Boolean(betaApi) || providerType === 'native' || keepEdit(request) !== undefined;
}

function betaNames(request: ModelRequest): string[] {
  const interleaved = request.model.providerType === 'native' ? [] : ['interleaved-thinking-2025-05-14'];
  return keepEdit(request) ? [...interleaved, 'context-management-2025-06-27'] : interleaved;
}

function body(request: ModelRequest): Record<string, unknown> {
  const { model, system, tools } = request;
  const maxTokens = tokenCap(request);
  const messages = wireMessages(request);
  const lastBlock = messages.at(-1)?.content.at(-1);
  if (lastBlock && !lastBlock.type.includes('thinking')) Object.assign(lastBlock, EPHEMERAL);
  const edit = keepEdit(request);
  return {
    model: model.wireName,
    max_tokens: maxTokens,
    ...(system && { system: [{ type: 'text', text: system, ...EPHEMERAL }] }),
    messages,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }, i) => ({
        name,
        description,
        input_schema: parameters,
        ...(i === tools.length - 1 && EPHEMERAL),
      })),
    }),
    metadata: { user_id: request.cacheKey },
    ...thinking(request, maxTokens),
    ...(edit && { context_management: { edits: [edit] } }),
    stream: true,
  };
}

/** The API requires a cap; only a declared `max_output_size` may exceed the limit that the name implies. */
function tokenCap({ model, maxTokens }: ModelRequest): number {
  const limit = claudeMaxTokens(model.wireName);
  if (maxTokens === undefined) return model.maxOutputTokens ?? limit;
  return model.maxOutputTokens === undefined ? Math.min(maxTokens, limit) : maxTokens;
}

function thinking(request: ModelRequest, maxTokens: number): Record<string, unknown> {
  const { model, settings, output } = request;
  const { effort } = settings;
  const named = effort === 'off' || effort === 'on' ? undefined : effort;
  const format = output && { format: { type: 'json_schema', schema: output.schema } };
  const withConfig = (thinking: Record<string, unknown> | undefined, wireEffort?: string) => {
    const config = { ...(wireEffort && { effort: wireEffort }), ...format };
    return { ...(thinking && { thinking }), ...(Object.keys(config).length > 0 && { output_config: config }) };
  };

  if (model.providerType === 'native') {
    const wireEffort = effort === 'off' ? undefined : (settings.forcedEffort ?? named);
    return withConfig({ type: effort === 'off' ? 'disabled' : 'enabled' }, wireEffort);
  }
  const profile = claudeProfile(model.wireName);
  const listed = model.supportEfforts.some((name) => !['low', 'medium', 'high'].includes(name));
  const adaptive = model.adaptiveThinking ?? (listed || profile.adaptive);
  if (effort === 'off') return withConfig(profile.canDisable ? { type: 'disabled' } : undefined);
  if (adaptive) return withConfig({ type: 'adaptive', display: 'summarized' }, named);
  // The budget must be smaller than the cap, which includes the response.
  const budget = Math.min(BUDGETS[effort] ?? HIGH_BUDGET, maxTokens - 1);
  return withConfig(budget < MIN_BUDGET ? { type: 'disabled' } : { type: 'enabled', budget_tokens: budget });
}

function wireMessages({ model, messages }: ModelRequest): WireMessage[] {
  const wireId = sanitizeCallIds(messages);
  const result: (WireMessage & { results: boolean })[] = [];
  for (const message of messages) {
    const results = message.role === 'tool';
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = results
      ? [toolResult(message, wireId)]
      : role === 'assistant'
        ? assistantBlocks(message, wireId, isClaude(model.wireName))
        : message.content.map(inputBlock);
    if (content.length === 0) continue;
    const last = result.at(-1);
    // Tool results are merged only with tool results, user input only with user input.
    if (last && role === 'user' && last.role === 'user' && last.results === results) last.content.push(...content);
    else result.push({ role, content, results });
  }
  return result.map(({ role, content }) => ({ role, content }));
}

function assistantBlocks(message: ContextMessage, wireId: (id: string) => string, claude: boolean): Block[] {
  const blocks = message.content.flatMap((part): Block[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type !== 'think') return [];
    if (part.format === REDACTED && part.encrypted) return [{ type: 'redacted_thinking', data: part.encrypted }];
    const signature = (part.format ?? FORMAT) === FORMAT ? part.encrypted : undefined;
    if (signature) return [{ type: 'thinking', thinking: part.think, signature }];
    return claude || !part.think ? [] : [{ type: 'thinking', thinking: part.think, signature: '' }];
  });
  for (const call of message.toolCalls) {
    blocks.push({ type: 'tool_use', id: wireId(call.id), name: call.name, input: argumentsObject(call.arguments) });
  }
  // An aborted step can end with a thinking block, which the API rejects.
  while (blocks.at(-1)?.type.includes('thinking')) blocks.pop();
  return blocks;
}

function toolResult(message: ContextMessage, wireId: (id: string) => string): Block {
  return {
    type: 'tool_result',
    tool_use_id: wireId(message.toolCallId ?? ''),
    content: message.content.map(inputBlock),
    ...(message.isError && { is_error: true }),
  };
}

function inputBlock(part: Part): Block {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'think':
      return { type: 'text', text: part.think };
    case 'image_url': {
      const data = parseDataUrl(part.imageUrl.url);
      return {
        type: 'image',
        source: data
          ? { type: 'base64', media_type: data.mimeType, data: data.data }
          : { type: 'url', url: part.imageUrl.url },
      };
    }
    default:
      return { type: 'text', text: omission(part) };
  }
}
