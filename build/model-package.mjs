// Converts the models of `@earendil-works/pi-ai` to a document of the directory's shape.

/** Type and package of an entry by the kind of its models; other kinds need a login, and are omitted. */
const KINDS = {
  'anthropic-messages': { type: 'anthropic', npm: '@ai-sdk/anthropic' },
  'openai-completions': { type: 'openai', npm: '@ai-sdk/openai-compatible' },
  'openai-responses': { type: 'openai_responses', npm: '@ai-sdk/openai' },
  'azure-openai-responses': { type: 'openai_responses', npm: '@ai-sdk/azure' },
  'google-generative-ai': { type: 'google-genai', npm: '@ai-sdk/google' },
  'google-vertex': { type: 'vertexai', npm: '@ai-sdk/google-vertex' },
  'bedrock-converse-stream': { npm: '@ai-sdk/amazon-bedrock' },
  // Its address lacks the version that the compatible protocol needs.
  'mistral-conversations': { type: 'openai', npm: '@ai-sdk/mistral', suffix: '/v1' },
};

/** Addresses that are the default of their protocol. */
const DEFAULTS = new Set([
  'https://api.anthropic.com',
  'https://api.openai.com/v1',
  'https://generativelanguage.googleapis.com/v1beta',
]);

/** Ids of the public directory, where they differ. */
const IDS = {
  'azure-openai-responses': 'azure',
  fireworks: 'fireworks-ai',
  together: 'togetherai',
  'vercel-ai-gateway': 'vercel',
  zai: 'zai-coding-plan',
};

/** Names of providers that only this package has. */
const NAMES = {
  'cloudflare-ai-gateway': 'Cloudflare AI Gateway',
  minimax: 'MiniMax',
  'minimax-cn': 'MiniMax (China)',
  'opencode-go': 'OpenCode Go',
  xiaomi: 'Xiaomi',
  'xiaomi-token-plan-ams': 'Xiaomi Token Plan (Europe)',
  'xiaomi-token-plan-cn': 'Xiaomi Token Plan (China)',
  'xiaomi-token-plan-sgp': 'Xiaomi Token Plan (Singapore)',
};

/** `keys` is the text of the module with the variables of API keys. */
export function directoryOfModels({ MODELS }, keys) {
  const variables = new Map(
    [...keys.matchAll(/^\s+"?([\w-]+)"?: "([A-Z][A-Z0-9_]+)",?$/gm)].map(([, id, variable]) => [id, variable]),
  );
  variables.set('anthropic', 'ANTHROPIC_API_KEY');
  return Object.fromEntries(
    Object.entries(MODELS).flatMap(([id, models]) => {
      const entry = entryOf(id, Object.values(models), variables.get(id));
      return entry ? [[entry.id, entry]] : [];
    }),
  );
}

/** Undefined for a provider without a model that can be used with a key. */
function entryOf(provider, all, variable) {
  // Models that need headers of a certain client cannot be used by another one.
  const models = all.filter(({ api, headers }) => api in KINDS && headers === undefined);
  const kind = mostFrequent(models.map(({ api }) => api));
  if (kind === undefined) return undefined;
  const { suffix = '', ...wire } = KINDS[kind];
  const base = mostFrequent(models.filter(({ api }) => api === kind).map(({ baseUrl }) => baseUrl));
  const id = IDS[provider] ?? provider;
  return {
    id,
    ...(NAMES[id] && { name: NAMES[id] }),
    ...addressOf(base, suffix),
    ...wire,
    ...(variable && { env: [variable] }),
    models: Object.fromEntries(
      models.flatMap((model) => {
        const override = overrideOf(model, kind, base);
        return override ? [[model.id, { ...modelOf(model), ...override }]] : [];
      }),
    ),
  };
}

/** The most frequent value, the first of equals. */
function mostFrequent(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((best, entry) => (!best || entry[1] > best[1] ? entry : best), undefined)?.[0];
}

/** Placeholders as the directory writes them. */
const placed = (address) => address.replace(/(?<!\$)\{(\w+)\}/g, '${$1}');

function addressOf(base, suffix) {
  // The default of Vertex is derived from project and location.
  return base === '' || DEFAULTS.has(base) || base.includes('{location}') ? {} : { api: placed(base) + suffix };
}

/** Undefined for a model that the entry's protocol and Anthropic's do not serve. */
function overrideOf({ api, baseUrl }, kind, base) {
  if (api === kind) return baseUrl === base ? {} : { provider: { api: placed(baseUrl) } };
  return api === 'anthropic-messages' ? { provider: { npm: KINDS[api].npm, api: placed(baseUrl) } } : undefined;
}

function modelOf({ id, name, reasoning, input, cost, contextWindow, maxTokens, compat }) {
  return {
    id,
    name,
    reasoning,
    tool_call: true,
    limit: { context: contextWindow, output: maxTokens },
    modalities: { input, output: ['text'] },
    cost: {
      input: cost.input,
      output: cost.output,
      // The package writes 0 for a price that it does not have.
      ...(cost.cacheRead > 0 && { cache_read: cost.cacheRead }),
      ...(cost.cacheWrite > 0 && { cache_write: cost.cacheWrite }),
    },
    ...(compat?.requiresReasoningContentOnAssistantMessages && { interleaved: { field: 'reasoning_content' } }),
  };
}
