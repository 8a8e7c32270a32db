/**
 * Request bodies of each wire, as the server receives them. After an intended change: run with `-u` and read the
 * difference.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noLogins } from '#support/no-logins.ts';
import type { ContextMessage, ToolSchema } from '#schema/engine.ts';
import { createModelClient, type ModelClient } from '#server/models/stream.ts';
import type { ModelRequest, ResolvedModel, WireType } from '#server/models/types.ts';
import {
  bashTool,
  modelRequest,
  readTool,
  resolvedModel,
  richHistory,
  user,
  WIRE_TYPES,
} from '#support/model-requests.ts';
import { startModelServer, type ModelServer } from '#support/model-server.ts';

let server: ModelServer;
let client: ModelClient;
beforeEach(async () => {
  server = await startModelServer();
  client = createModelClient({ logins: noLogins });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

async function sent(request: ModelRequest): Promise<{ path: string; betas?: string; body: Record<string, unknown> }> {
  server.enqueue({ text: 'ok' });
  await client.streamModel(request, () => {});
  const { path, body, headers } = await server.waitForRequest(server.requests.length);
  const betas = headers['anthropic-beta'];
  return { path, ...(betas && { betas }), body };
}

const FORMATS: Record<WireType, string> = {
  native: 'reasoning_content',
  openai: 'reasoning',
  openai_responses: 'openai_responses',
  anthropic: 'anthropic',
  'google-genai': 'google-genai',
  vertexai: 'google-genai',
};

const EFFORTS = ['off', 'on', 'low', 'high', 'ultra'];

describe.each(WIRE_TYPES)('%s', (type) => {
  const request = (more: Partial<ModelRequest> = {}, model: Partial<ResolvedModel> = {}) =>
    modelRequest(resolvedModel(server, type, model), more);

  it('matches the recorded bodies', async () => {
    const bodies: Record<string, unknown> = {};
    for (const effort of EFFORTS) bodies[`effort ${effort}`] = await sent(request({ settings: { effort } }));
    bodies['effort high, thinking kept'] = await sent(request({ settings: { effort: 'high', keep: 'all' } }));
    bodies['rich history'] = await sent(
      request({
        settings: { effort: 'on', keep: 'all' },
        messages: richHistory(FORMATS[type]),
        tools: [readTool, bashTool],
      }),
    );
    bodies['JSON output, no cap, no system prompt'] = await sent(
      request({
        system: '',
        output: { name: 'title', schema: { type: 'object', properties: { title: { type: 'string' } } } },
        maxTokens: undefined,
      }),
    );
    await expect(`${JSON.stringify(bodies, null, 2)}\n`).toMatchFileSnapshot(`golden/${type}.json`);
  });

  // Google's SDK converts the result of `body`; the golden files above contain the converted form.
  const bodyIsTheWire = type !== 'google-genai' && type !== 'vertexai';
  it.each(bodyIsTheWire ? [type] : [])('%s sends what `body` returns', async () => {
    const asked = request({
      settings: { effort: 'high', keep: 'all' },
      messages: richHistory(FORMATS[type]),
      tools: [readTool],
    });
    const protocol = client.protocol(asked.model.protocol);
    const { body } = await sent(asked);
    expect(body).toEqual(JSON.parse(JSON.stringify(protocol.body(asked))));
  });

  it('renders a history as for the first time, regardless of earlier requests', async () => {
    const history = [...richHistory(FORMATS[type]), ...callsWithIds('a.b', 'a:b', 'a_b')];
    const { body } = client.protocol(request().model.protocol);
    const asked: Partial<ModelRequest>[] = [
      { settings: { effort: 'high', keep: 'all' } },
      { settings: { effort: 'off' } },
      { model: { ...request().model, reasoningKey: 'reasoning' } },
      { messages: history.slice(2) },
      { messages: history.slice(0, -2) },
      { messages: [...history, user('Größer 🎈 — and longer.')] },
      { messages: history.toSpliced(4, 0, user('In between.')) },
      { messages: history.with(1, user('Another one.')), system: 'Another prompt.' },
      { messages: history.slice(0, 1), system: '' },
      { messages: [], system: '' },
      { tools: [readTool, bashTool] },
      { messages: history.toSpliced(1, 0, declares(readTool)) },
      { messages: history.toSpliced(1, 0, declares(bashTool)) },
      {},
    ];
    for (const more of asked) {
      const now = request({ messages: history, ...more });
      const fresh = { ...now, messages: structuredClone(now.messages) };
      expect(body(now)).toEqual(body(fresh));
      if (bodyIsTheWire) expect((await sent(now)).body).toEqual(JSON.parse(JSON.stringify(body(fresh))));
    }
  });

  it('repeats the earlier messages byte for byte when the history grows', async () => {
    const history = richHistory(FORMATS[type]);
    const first = await sent(request({ messages: history.slice(0, 4) }));
    const second = await sent(request({ messages: history }));
    const list = (body: Record<string, unknown>) => {
      const messages = body.messages ?? body.input ?? body.contents;
      return (Array.isArray(messages) ? messages : []).map((message) =>
        JSON.stringify(message).replaceAll(',"cache_control":{"type":"ephemeral"}', ''),
      );
    };
    expect(list(second.body).slice(0, list(first.body).length)).toEqual(list(first.body));
  });
});

describe('native', () => {
  const native = (more: Partial<ModelRequest> = {}) => modelRequest(resolvedModel(server, 'native'), more);

  it('uses the forced effort except when thinking is off', async () => {
    const on = await sent(native({ settings: { effort: 'low', forcedEffort: 'max', keep: 'all' } }));
    expect(on.body.thinking).toEqual({ type: 'enabled', effort: 'max', keep: 'all' });
    const off = await sent(native({ settings: { effort: 'off', forcedEffort: 'max', keep: 'all' } }));
    expect(off.body.thinking).toEqual({ type: 'disabled' });
    expect(JSON.stringify(off.body)).not.toContain('reasoning_content');
  });

  it('declares tools at the point of history where they were selected; others drop such messages', async () => {
    const messages = [
      user('Hi'),
      { role: 'system' as const, content: [], toolCalls: [], tools: [{ ...readTool, name: '$search' }, readTool] },
    ];
    const { body } = await sent(native({ messages }));
    expect(body.messages).toMatchObject([
      { role: 'system' },
      { role: 'user', content: 'Hi' },
      {
        role: 'system',
        tools: [
          { type: 'builtin_function', function: { name: '$search' } },
          { type: 'function', function: { name: 'Read' } },
        ],
      },
    ]);
    const other = await sent(modelRequest(resolvedModel(server, 'openai'), { messages }));
    expect(other.body.messages).toHaveLength(2);
  });

  it('sends sampling, and omits `thinking` for a model that cannot think', async () => {
    const model = resolvedModel(server, 'native', { capabilities: new Set() });
    const { body } = await sent(modelRequest(model, { settings: { effort: 'off', temperature: 0.5, topP: 0.9 } }));
    expect(body).toMatchObject({ temperature: 0.5, top_p: 0.9 });
    expect(body).not.toHaveProperty('thinking');
  });

  it('uses Anthropic messages for models with that protocol', async () => {
    const model = resolvedModel(server, 'anthropic', { providerType: 'native', wireName: 'fake-1' });
    const high = await sent(modelRequest(model, { settings: { effort: 'high', keep: 'all' } }));
    expect(high).toMatchObject({
      path: '/v1/messages?beta=true',
      betas: 'context-management-2025-06-27',
      body: { thinking: { type: 'enabled' }, output_config: { effort: 'high' } },
    });
    const off = await sent(modelRequest(model, { settings: { effort: 'off', keep: 'all' } }));
    expect(off.body.thinking).toEqual({ type: 'disabled' });
    expect(off.betas).toBeUndefined();
  });
});

describe('openai', () => {
  const openai = (model: Partial<ResolvedModel>, more: Partial<ModelRequest> = {}) =>
    modelRequest(resolvedModel(server, 'openai', model), more);

  it('names the cap by model, within its limit', async () => {
    const old = await sent(openai({ wireName: 'gpt-4.1' }, { maxTokens: 500_000 }));
    expect(old.body).toMatchObject({ max_tokens: 131_072 });
    const young = await sent(openai({ wireName: 'openai/gpt-5.2' }));
    expect(young.body).toMatchObject({ max_completion_tokens: 40_000 });
    expect(young.body).not.toHaveProperty('max_tokens');
  });

  it('turns thinking off with the declared word', async () => {
    const { body } = await sent(openai({ offEffort: 'none' }));
    expect(body.reasoning_effort).toBe('none');
  });

  it('sends reasoning back under the forced key', async () => {
    const { body } = await sent(
      openai({ reasoningKey: 'thought' }, { messages: richHistory('reasoning').slice(0, 2) }),
    );
    expect(body.messages).toMatchObject([{}, {}, { thought: 'Look at the file.' }]);
  });
});

describe('anthropic', () => {
  const anthropic = (model: Partial<ResolvedModel>, more: Partial<ModelRequest> = {}) =>
    modelRequest(resolvedModel(server, 'anthropic', model), more);

  it.each([
    ['claude-opus-4-8', 'adaptive'],
    ['claude-sonnet-4-6-20260101', 'adaptive'],
    ['anthropic/claude-fable-5', 'adaptive'],
    ['claude-next', 'adaptive'],
    ['claude-haiku-4-5-20251001', 'enabled'],
    ['claude-3-7-sonnet-20250219', 'enabled'],
    ['other-model', 'enabled'],
  ])('infers the thinking mode of %s', async (wireName, type) => {
    const { body } = await sent(anthropic({ wireName }, { settings: { effort: 'low' } }));
    expect(body.thinking).toMatchObject({ type });
  });

  it('prefers declarations over the name', async () => {
    const settings = { effort: 'low' };
    const declared = await sent(anthropic({ wireName: 'other', supportEfforts: ['low', 'max'] }, { settings }));
    expect(declared.body.thinking).toMatchObject({ type: 'adaptive' });
    const forced = await sent(anthropic({ adaptiveThinking: false, supportEfforts: ['max'] }, { settings }));
    expect(forced.body.thinking).toEqual({ type: 'enabled', budget_tokens: 1024 });
  });

  it('does not disable thinking for models that always think', async () => {
    const { body } = await sent(anthropic({ wireName: 'claude-mythos-5' }));
    expect(body).not.toHaveProperty('thinking');
  });

  it('keeps the budget below the cap', async () => {
    const small = await sent(
      anthropic({ wireName: 'claude-opus-4-5' }, { settings: { effort: 'high' }, maxTokens: 5000 }),
    );
    expect(small.body.thinking).toEqual({ type: 'enabled', budget_tokens: 4999 });
  });

  it.each([
    ['claude-opus-5', 128_000],
    ['claude-opus-4-6', 128_000],
    ['claude-opus-4-5', 64_000],
    ['claude-sonnet-4-5', 64_000],
    ['claude-sonnet-4-6', 128_000],
    ['claude-opus-4-1-20250805', 32_000],
    ['claude-opus-4-20250514', 32_000],
    ['claude-haiku-4-5', 64_000],
    ['claude-3-5-haiku-20241022', 8192],
    ['claude-3-opus-20240229', 4096],
    ['something', 128_000],
  ])('caps %s at %i by default', async (wireName, limit) => {
    const capped = await sent(anthropic({ wireName }, { maxTokens: 200_000 }));
    expect(capped.body.max_tokens).toBe(limit);
    const declared = await sent(anthropic({ wireName, maxOutputTokens: 150_000 }, { maxTokens: 150_000 }));
    expect(declared.body.max_tokens).toBe(150_000);
  });

  it('drops thinking that is unsigned, of another wire, or last; keeps unsigned for other names', async () => {
    const assistant = (...content: ReturnType<typeof richHistory>[number]['content']) => ({
      role: 'assistant' as const,
      content,
      toolCalls: [],
    });
    const messages = [
      user('Hi'),
      assistant({ type: 'think', think: 'unsigned' }, { type: 'text', text: 'one' }),
      assistant(
        { type: 'think', think: 'foreign', encrypted: 'x', format: 'openai_responses' },
        { type: 'text', text: 'two' },
      ),
      assistant(
        { type: 'text', text: 'three' },
        { type: 'think', think: 'cut off', encrypted: 'x', format: 'anthropic' },
      ),
      user('Go on'),
    ];
    const claude = await sent(anthropic({}, { messages }));
    expect(JSON.stringify(claude.body.messages)).not.toContain('"thinking"');
    const other = await sent(anthropic({ wireName: 'other' }, { messages }));
    expect(JSON.stringify(other.body.messages)).toContain('unsigned');
    expect(JSON.stringify(other.body.messages)).not.toContain('cut off');
  });
});

/** Declarations that differ only in the tool. */
const declares = (tool: ToolSchema): ContextMessage => ({ role: 'system', content: [], toolCalls: [], tools: [tool] });

/** Calls, each followed by its result. */
const callsWithIds = (...ids: string[]): ContextMessage[] =>
  ids.flatMap((id) => [
    { role: 'assistant', content: [], toolCalls: [{ id, name: 'Read', arguments: '{}' }] },
    { role: 'tool', content: [{ type: 'text', text: `of ${id}` }], toolCalls: [], toolCallId: id },
  ]);
