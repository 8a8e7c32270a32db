/** Gemini, and Vertex with an API key. */
import type {
  GenerateContentParameters,
  GenerateContentResponse,
  GenerateContentResponseUsageMetadata,
} from '@google/genai';
import type { ContextMessage, Part, TokenUsage } from '#schema/engine.ts';
import { sanitizeCallIds } from '../call-ids.ts';
import type { Exchange } from '#server/net/fetch.ts';
import type { ModelTransport } from '../model-transport.ts';
import {
  ModelError,
  type FinishReason,
  type ModelRequest,
  type ModelResponse,
  type Protocol,
  type StreamPart,
} from '../types.ts';
import { createCollector, type Collector } from './collect.ts';
import { parseDataUrl } from '#server/files/data-url.ts';
import { stringifyJson } from '#server/text/json.ts';
import { argumentsObject } from '#server/text/tool-arguments.ts';
import { omission } from './media.ts';
import { NO_KEY, runStream } from './run.ts';

/** Formats of signatures: of thoughts, and of a text; the latter is stored in an empty part after the text. */
const FORMAT = 'google-genai';
const TEXT_SIGNATURE = 'google-genai_text';

const FILTERED = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
]);
const LEVELS: Record<string, string> = { off: 'MINIMAL', minimal: 'MINIMAL', low: 'LOW', medium: 'MEDIUM' };
const BUDGETS: Record<string, number> = { off: 0, minimal: 0, low: 1024, medium: 4096 };
const HIGH_BUDGET = 32_000;

type WirePart = Record<string, unknown>;
interface Content {
  role: 'user' | 'model';
  parts: WirePart[];
}

export function createGoogle(transport: ModelTransport): Protocol {
  return {
    name: 'google-genai',
    body,
    load: () => import('@google/genai'),
    stream: (request, onPart) =>
      runStream(transport, request, 'x-goog-api-key', (exchange) => read(exchange, request, onPart)),
  };
}

async function read(
  { fetch }: Exchange,
  request: ModelRequest,
  onPart: (part: StreamPart) => void,
): Promise<ModelResponse | undefined> {
  const { model, signal } = request;
  const vertexai = model.providerType === 'vertexai';
  if (vertexai && !model.credential) {
    throw new ModelError('Vertex needs an API key; application-default credentials are not supported', {
      code: 'provider.auth_error',
      name: 'APIStatusError',
      retry: false,
    });
  }
  const { GoogleGenAI } = await import('@google/genai');
  const client = new GoogleGenAI({
    vertexai,
    apiKey: NO_KEY,
    httpOptions: { fetch, ...googleBaseUrl(model.baseUrl, vertexai) },
  });
  const { config, ...params } = body(request);
  const stream = await client.models.generateContentStream({ ...params, config: { ...config, abortSignal: signal } });
  const collect = createCollector(onPart);
  let usage: GenerateContentResponseUsageMetadata | undefined;
  let responseId: string | undefined;
  let raw: string | undefined;
  let blocked = false;
  for await (const chunk of stream) {
    usage = chunk.usageMetadata ?? usage;
    responseId ??= chunk.responseId;
    const block = chunk.promptFeedback?.blockReason;
    if (block) {
      raw = block;
      blocked = true;
    }
    readParts(chunk, collect);
    raw = chunk.candidates?.[0]?.finishReason ?? raw;
  }
  if (raw === undefined) return undefined;
  return {
    ...collect.finish(),
    finishReason: blocked ? 'filtered' : finishReason(raw, collect.callCount),
    rawFinishReason: raw,
    ...(usage && { usage: tokenUsage(usage) }),
    ...(responseId && { responseId }),
  };
}

/** Without a base URL the SDK derives the address; that of Vertex depends on more than the type. */
function googleBaseUrl(baseUrl: string | undefined, vertexai: boolean): { baseUrl?: string } {
  if (baseUrl) return { baseUrl };
  return vertexai ? {} : { baseUrl: 'https://generativelanguage.googleapis.com' };
}

function readParts(chunk: GenerateContentResponse, collect: Collector): void {
  for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
    const signature = part.thoughtSignature;
    if (part.functionCall) {
      collect.split();
      const { id, name, args } = part.functionCall;
      collect.call(collect.callCount, {
        id,
        name,
        arguments: args && stringifyJson(args),
        ...(signature && { extras: { thought_signature: signature } }),
      });
    } else if (part.thought) {
      collect.think(part.text ?? '', FORMAT);
      if (signature) collect.sign(signature, FORMAT);
    } else {
      collect.text(part.text ?? '');
      if (signature) collect.sign(signature, TEXT_SIGNATURE);
    }
  }
}

function finishReason(raw: string, calls: number): FinishReason {
  if (raw === 'STOP') return calls > 0 ? 'tool_calls' : 'completed';
  if (raw === 'MAX_TOKENS') return 'truncated';
  return FILTERED.has(raw) ? 'filtered' : 'other';
}

function tokenUsage(usage: GenerateContentResponseUsageMetadata): TokenUsage {
  const cached = usage.cachedContentTokenCount ?? 0;
  return {
    inputOther: Math.max(0, (usage.promptTokenCount ?? 0) - cached),
    output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
    inputCacheRead: cached,
    inputCacheCreation: 0,
  };
}

function body(request: ModelRequest): GenerateContentParameters {
  const { model, system, tools, output } = request;
  const params = {
    model: model.wireName,
    contents: contents(request),
    config: {
      ...(system && { systemInstruction: system }),
      ...(tools.length > 0 && {
        tools: [
          {
            functionDeclarations: tools.map(({ name, description, parameters }) => ({
              name,
              description,
              parametersJsonSchema: parameters,
            })),
          },
        ],
      }),
      ...(request.maxTokens !== undefined && { maxOutputTokens: request.maxTokens }),
      ...thinking(request),
      ...(output && { responseMimeType: 'application/json', responseSchema: output.schema }),
      // The SDK's defaults would resume broken streams and run tools automatically.
      automaticContinuation: false,
      automaticFunctionCalling: { disable: true },
    },
  };
  // The SDK declares enums where this code has plain strings.
  return params as GenerateContentParameters;
}

function thinking({ model, settings }: ModelRequest): Record<string, unknown> {
  if (!model.capabilities.has('thinking') && !model.capabilities.has('always_thinking')) return {};
  const { effort } = settings;
  const version = Number(/gemini-(\d+(?:\.\d+)?)/.exec(model.wireName)?.[1] ?? 3);
  const amount =
    version >= 3 ? { thinkingLevel: LEVELS[effort] ?? 'HIGH' } : { thinkingBudget: BUDGETS[effort] ?? HIGH_BUDGET };
  return { thinkingConfig: { includeThoughts: effort !== 'off', ...amount } };
}

function contents({ messages }: ModelRequest): Content[] {
  const wireId = sanitizeCallIds(messages);
  const names = new Map<string, string>();
  const result: (Content & { results: boolean })[] = [];
  for (const message of messages) {
    for (const call of message.toolCalls) names.set(call.id, call.name);
    const results = message.role === 'tool';
    const role = message.role === 'assistant' ? 'model' : 'user';
    const parts = results
      ? [functionResponse(message, wireId, names.get(message.toolCallId ?? '') ?? '')]
      : role === 'model'
        ? modelParts(message, wireId)
        : message.content.map(inputPart);
    if (parts.length === 0) continue;
    const last = result.at(-1);
    // The API requires all responses to a group of calls in one content, without other parts.
    if (last && role === 'user' && last.role === 'user' && last.results === results) last.parts.push(...parts);
    else result.push({ role, parts, results });
  }
  return result.map(({ role, parts }) => ({ role, parts }));
}

function modelParts(message: ContextMessage, wireId: (id: string) => string): WirePart[] {
  const parts = message.content.flatMap((part): WirePart[] => {
    if (part.type === 'text') return [{ text: part.text }];
    if (part.type !== 'think' || !part.encrypted) return [];
    if (part.format === TEXT_SIGNATURE) return [{ text: '', thoughtSignature: part.encrypted }];
    if ((part.format ?? FORMAT) !== FORMAT) return [];
    return [{ text: part.think, thought: true, thoughtSignature: part.encrypted }];
  });
  for (const call of message.toolCalls) {
    const signature = call.extras?.thought_signature;
    parts.push({
      functionCall: { id: wireId(call.id), name: call.name, args: argumentsObject(call.arguments) },
      ...(typeof signature === 'string' && { thoughtSignature: signature }),
    });
  }
  return parts;
}

function functionResponse(message: ContextMessage, wireId: (id: string) => string, name: string): WirePart {
  const media = message.content.filter((part) => part.type !== 'text' && part.type !== 'think');
  const parts = media.flatMap((part): WirePart[] => {
    const wire = mediaPart(part);
    return wire ? [wire] : [];
  });
  const text = message.content.flatMap((part) => {
    if (part.type === 'text') return [part.text];
    return part.type !== 'think' && !mediaPart(part) ? [omission(part)] : [];
  });
  return {
    functionResponse: {
      id: wireId(message.toolCallId ?? ''),
      name,
      response: { [message.isError ? 'error' : 'output']: text.join('\n') },
      ...(parts.length > 0 && { parts }),
    },
  };
}

function inputPart(part: Part): WirePart {
  if (part.type === 'text') return { text: part.text };
  if (part.type === 'think') return { text: part.think };
  return mediaPart(part) ?? { text: omission(part) };
}

function mediaPart(part: Part): WirePart | undefined {
  const url =
    part.type === 'image_url'
      ? part.imageUrl.url
      : part.type === 'audio_url'
        ? part.audioUrl.url
        : part.type === 'video_url'
          ? part.videoUrl.url
          : undefined;
  if (url === undefined) return undefined;
  const inline = parseDataUrl(url);
  if (inline) return { inlineData: { mimeType: inline.mimeType, data: inline.data } };
  if (!/^(?:https?|gs):/.test(url)) return undefined;
  return { fileData: { fileUri: url, mimeType: `${part.type.replace('_url', '')}/*` } };
}
