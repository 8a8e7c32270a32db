/**
 * The only interface between the agent and the wire protocols. A protocol is a file in `protocols/` that exports a
 * `Protocol`; vendors' formats are confined to that folder.
 */
import type { ContextMessage, Part, TokenUsage, ToolCall, ToolSchema } from '#schema/engine.ts';
import type { OAuthRef } from '#schema/rest/model.ts';

export type WireType = 'native' | 'openai' | 'openai_responses' | 'anthropic' | 'google-genai' | 'vertexai';
export type ProtocolName = 'native' | 'openai' | 'openai_responses' | 'anthropic' | 'google-genai';

/** A key, or the login whose access token is obtained for each request. */
export type Credential = { key: string } | { login: OAuthRef };

/** A model alias with everything a request needs, its credential included. Never logged, never sent to a client. */
export interface ResolvedModel {
  alias: string;
  /** Name at the provider. */
  wireName: string;
  /** Provider id, or the host of a flat model's own base URL. */
  providerId: string;
  providerType: WireType;
  protocol: ProtocolName;
  /** Google only: use Vertex. */
  vertex?: { project?: string; location?: string };
  baseUrl?: string;
  /** Undefined: requests are sent without one. */
  credential?: Credential;
  /** Merged headers, sent in addition to those of the protocol. */
  headers: Record<string, string>;
  /** Declared and inferred ones, lower-cased. */
  capabilities: Set<string>;
  maxContextTokens: number;
  maxInputTokens: number;
  /** Declared `max_output_size`. */
  maxOutputTokens?: number;
  supportEfforts: string[];
  defaultEffort?: string;
  offEffort?: string;
  reasoningKey?: string;
  adaptiveThinking?: boolean;
  betaApi?: boolean;
  displayName: string;
}

/** Sampling and thinking of one turn, frozen at its first step: a change applies from the next turn. */
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
  /** Requests a response that is JSON of this schema. */
  output?: { name: string; schema: Record<string, unknown> };
  /** Session id: prompt-cache key. */
  cacheKey: string;
  signal: AbortSignal;
}

export type FinishReason = 'completed' | 'tool_calls' | 'truncated' | 'filtered' | 'paused' | 'other';

/** The parts that a stream yields, in wire order. */
export type StreamPart =
  | { type: 'text'; text: string }
  | { type: 'think'; text: string }
  /** Sent when the call's name has arrived; fragments of its arguments follow under the same index. */
  | { type: 'call'; index: number; id: string; name: string; extras?: Record<string, unknown> }
  | { type: 'arguments'; index: number; text: string };

/** The whole response, complete when the end mark has arrived. */
export interface ModelResponse {
  /** In stream order, blank ones too; `encrypted` filled in. */
  parts: Part[];
  calls: ToolCall[];
  finishReason: FinishReason;
  /** The provider's term. */
  rawFinishReason?: string;
  usage?: TokenUsage;
  responseId?: string;
}

/** URL scheme that refers to a video at its provider. */
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
   * Runs one streaming request. `onPart` is called synchronously as parts arrive, also before a failure. Rejects with a
   * `ModelError`, or with the signal's reason on abort.
   */
  stream(request: ModelRequest, onPart: (part: StreamPart) => void): Promise<ModelResponse>;
  /** The input of the vendor's SDK: the wire body itself, except for Google, whose SDK rearranges it. */
  body(request: ModelRequest): unknown;
  /** Preloads the vendor's SDK, which the first request loads otherwise; undefined without one. */
  load?(): Promise<unknown>;
  /** Uploads a video and returns its id; undefined for protocols without video input. Rejects as `stream`. */
  uploadVideo?(upload: VideoUpload): Promise<string>;
}

export type ModelErrorCode =
  | 'provider.api_error'
  | 'provider.filtered'
  | 'provider.rate_limit'
  | 'provider.auth_error'
  | 'provider.connection_error'
  | 'provider.overloaded'
  | 'context.overflow'
  | 'auth.login_required'
  | 'auth.token_missing';

/** A failed request, as `errors.ts` classifies it. */
export interface ModelErrorDetails {
  code: ModelErrorCode;
  /** `APIConnectionError`, `APIEmptyResponseError`, `APIStatusError` or `AccessTokenError`: not the SDKs' names, which are just `Error`. */
  name: string;
  /** Whether the step is retried; independent of the payload's `retryable`, which follows from the code only. */
  retry: boolean;
  statusCode?: number;
  requestId?: string;
  traceId?: string;
  /** The value of `Retry-After`, in milliseconds. */
  retryAfterMs?: number;
  /** The aspect of the request that was refused: a changed request may pass. */
  recovery?: 'request_too_large' | 'image_format' | 'structure';
}

export class ModelError extends Error {
  override readonly name = 'ModelError';
  constructor(
    message: string,
    readonly details: ModelErrorDetails,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
