/** Model requests for tests: a resolved model per wire type, and a history with every kind of content. */
import type { ContextMessage, ToolSchema } from '#schema/engine.ts';
import type { ModelRequest, ProtocolName, ResolvedModel, WireType } from '#server/models/types.ts';
import type { ModelServer } from './model-server.ts';

export const WIRE_TYPES: WireType[] = ['native', 'openai', 'openai_responses', 'anthropic', 'google-genai', 'vertexai'];

export function resolvedModel(
  server: Pick<ModelServer, 'baseUrl' | 'key'>,
  type: WireType,
  more: Partial<ResolvedModel> = {},
): ResolvedModel {
  const protocol: ProtocolName = type === 'vertexai' ? 'google-genai' : type;
  const names: Record<WireType, string> = {
    native: 'fake-1',
    openai: 'gpt-4.1',
    openai_responses: 'gpt-5',
    anthropic: 'claude-opus-4-7',
    'google-genai': 'gemini-3-pro',
    vertexai: 'gemini-2.5-pro',
  };
  return {
    alias: 'fake/fake-1',
    wireName: names[type],
    providerId: 'fake',
    providerType: type,
    protocol,
    baseUrl: server.baseUrl(type),
    credential: { key: server.key },
    headers: { 'User-Agent': 'service-code/0', 'X-Custom': 'yes' },
    capabilities: new Set(['thinking', 'tool_use', 'image_in']),
    maxContextTokens: 262_144,
    maxInputTokens: 262_144,
    supportEfforts: [],
    displayName: 'Fake',
    ...more,
  };
}

export function modelRequest(model: ResolvedModel, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model,
    settings: { effort: 'off' },
    system: 'You are a test.',
    messages: [user('Hello')],
    tools: [],
    maxTokens: 40_000,
    cacheKey: 'session_1',
    signal: new AbortController().signal,
    ...more,
  };
}

export function user(text: string): ContextMessage {
  return { role: 'user', content: [{ type: 'text', text }], toolCalls: [], origin: { kind: 'user' } };
}

export const PNG = 'data:image/png;base64,iVBORw0KGgo=';

export const readTool: ToolSchema = {
  name: 'Read',
  description: 'Reads a file.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string' }, mode: { enum: ['text', 'bytes'] } },
    required: ['path'],
    additionalProperties: false,
  },
};

export const bashTool: ToolSchema = {
  name: 'Bash',
  description: 'Runs a command.',
  parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
};

/** Images, reasoning with a signature, two calls with results (one from a tool with an image), and a failed call. */
export function richHistory(format: string): ContextMessage[] {
  return [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is in this picture?' },
        { type: 'image_url', imageUrl: { url: PNG } },
      ],
      toolCalls: [],
      origin: { kind: 'user' },
    },
    {
      role: 'assistant',
      content: [
        { type: 'think', think: 'Look at the file.', encrypted: 'c2ln', format },
        { type: 'text', text: 'Let me look.' },
      ],
      toolCalls: [
        { id: 'call:1', name: 'Read', arguments: '{"path":"a.png"}', extras: { thought_signature: 'dHM=' } },
        { id: 'call 1', name: 'Bash', arguments: '{"command":"ls' },
      ],
    },
    {
      role: 'tool',
      content: [
        { type: 'text', text: 'a.png' },
        { type: 'image_url', imageUrl: { url: PNG } },
      ],
      toolCalls: [],
      toolCallId: 'call:1',
    },
    {
      role: 'tool',
      content: [{ type: 'text', text: '<system>ERROR: the tool call failed.</system>\ncommand: required' }],
      toolCalls: [],
      toolCallId: 'call 1',
      isError: true,
    },
    {
      role: 'user',
      content: [{ type: 'text', text: '<system-reminder>\nIt is Monday.\n</system-reminder>' }],
      toolCalls: [],
      origin: { kind: 'injection', variant: 'date_change' },
    },
    user('Go on.'),
  ];
}
