/**
 * The one interface between the agent and the wire protocols. A protocol is a file in `protocols/`
 * that exports a `Protocol`; nothing outside that folder knows a vendor's shapes.
 */
import type { ContextMessage, Part, TokenUsage, ToolCall, ToolSchema } from '#schema/engine.ts';

export type WireType = 'native' | 'openai' | 'openai_responses' | 'anthropic' | 'google-genai' | 'vertexai';
export type ProtocolName = 'native' | 'openai' | 'openai_responses' | 'anthropic' | 'google-genai';

/** A model alias with everything a request needs, credentials included. Never logged, never sent to a client. */
export interface ResolvedModel {
  alias: string;
  /** Name at the provider. */
  wireName: string;
  /** Provider id, or the host of a flat model's own base URL. */
  providerId: string;
  providerType: WireType;
  protocol: ProtocolName;
  /** Google only: speak to Vertex. */
  vertex?: { project?: string; location?: string };
  baseUrl?: string;
  apiKey?: string;
  /** Headers to send beside the protocol's own, already merged. */
  headers: Record<string, string>;
  /** Declared and detected ones, lower-cased. */
  capabilities: Set<string>;
  maxContextTokens: number;
  maxInputTokens: number;
  /** Declared `max_output_size`, when there is one. */
  maxOutputTokens?: number;
  supportEfforts: string[];
  defaultEffort?: string;
  offEffort?: string;
  reasoningKey?: string;
  adaptiveThinking?: boolean;
  betaApi?: boolean;
  displayName: string;
}

/** Sampling and thinking of one turn, frozen at its first step: a change counts from the next turn. */
export interface RequestSettings {
  /** `off`, `on` or a named effort, already resolved for the model. */
  effort: string;
  /** Replaces the wire effort, `native` only. */
  forcedEffort?: string;
  /** Preserved thinking: `all` by default, undefined when disabled. */
  keep?: string;
  temperature?: number;
  topP?: number;
}

export interface ModelRequest {
  model: ResolvedModel;
  settings: RequestSettings;
  system: string;
  /** Already projected: no partial, orphan or vacuous messages. */
  messages: ContextMessage[];
  tools: ToolSchema[];
  /** Completion cap in tokens; undefined sends none where the protocol allows it. */
  maxTokens?: number;
  /** Ask for an answer that is JSON of this schema. */
  output?: { name: string; schema: Record<string, unknown> };
  /** Session id: prompt-cache key. */
  cacheKey: string;
  signal: AbortSignal;
}

export type FinishReason = 'completed' | 'tool_calls' | 'truncated' | 'filtered' | 'paused' | 'other';

/** What a stream yields, in wire order. */
export type StreamPart =
  | { type: 'text'; text: string }
  | { type: 'think'; text: string }
  /** A call whose name is known; fragments of its arguments follow under the same index. */
  | { type: 'call'; index: number; id: string; name: string; extras?: Record<string, unknown> }
  | { type: 'arguments'; index: number; text: string };

/** The whole answer, after the end mark arrived. */
export interface ModelResponse {
  /** In stream order, blank ones too; `encrypted` filled in. */
  parts: Part[];
  calls: ToolCall[];
  finishReason: FinishReason;
  /** The provider's own word. */
  rawFinishReason?: string;
  usage?: TokenUsage;
  responseId?: string;
}

/** How requests name a video that its provider has. */
export const PROVIDER_FILE_SCHEME = 'provider-file:';

export interface VideoUpload {
  model: ResolvedModel;
  /** Media type. */
  type: string;
  data: Uint8Array;
  signal: AbortSignal;
}

export interface Protocol {
  name: ProtocolName;
  /**
   * Runs one streaming request. `onPart` is called synchronously as parts arrive. Rejects with a `ModelError`; on abort
   * with the signal's reason. Text received before that has been given to `onPart`.
   */
  stream(request: ModelRequest, onPart: (part: StreamPart) => void): Promise<ModelResponse>;
  /** What is handed to the vendor's SDK: the wire body itself, but for Google, whose SDK rearranges it. */
  body(request: ModelRequest): unknown;
  /** Loads the vendor's SDK, which the first request does otherwise; absent without one. */
  load?(): Promise<unknown>;
  /** Gives the provider a video and returns its id; absent where requests have no place for one. Rejects as `stream`. */
  uploadVideo?(upload: VideoUpload): Promise<string>;
}

export type ModelErrorCode =
  | 'provider.api_error'
  | 'provider.filtered'
  | 'provider.rate_limit'
  | 'provider.auth_error'
  | 'provider.connection_error'
  | 'provider.overloaded'
  | 'context.overflow';

/** A failed request, as `errors.ts` classifies it. */
export interface ModelErrorFacts {
  code: ModelErrorCode;
  /** `APIConnectionError`, `APIEmptyResponseError` or `APIStatusError`: our own names, SDKs say just `Error`. */
  name: string;
  /** Whether the step is tried again; not the payload's `retryable`, which follows from the code alone. */
  retry: boolean;
  statusCode?: number;
  requestId?: string;
  traceId?: string;
  /** From `Retry-After`, milliseconds. */
  retryAfterMs?: number;
  /** What about the request was refused: sent again in another shape it may pass. */
  recovery?: 'request_too_large' | 'image_format' | 'structure';
}

export class ModelError extends Error {
  override readonly name = 'ModelError';
  constructor(
    message: string,
    readonly facts: ModelErrorFacts,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
