import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#server/clock.ts';
import { createConfig } from '#server/config/config.ts';
import { createConfigWriter } from '#server/config/config-writer.ts';
import type { Config } from '#server/config/config.ts';
import { createLogger } from '#server/logging/log.ts';
import { completionBudget } from '#server/models/budget.ts';
import { createAccount } from '#server/account/account.ts';
import { createIdentity } from '#server/account/identity.ts';
import { checkReady, resolveModel } from '#server/models/resolve.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { assertEffort, requestSettings, resolveEffort } from '#server/models/thinking.ts';

let home: string;
const opened: Config[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'models-'));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((config) => config.close()));
  await rm(home, { recursive: true, force: true });
});

async function open(text: string, env: NodeJS.ProcessEnv = {}) {
  await writeFile(join(home, 'config.toml'), text);
  const log = createLogger('silent');
  const lock = createChangeLock({
    path: join(home, 'config.toml.lock'),
    holder: leaseHolder(),
    writer: createConfigWriter(home),
  });
  const config = await createConfig({ home, env: () => env, log, clock: systemClock, lock });
  opened.push(config);
  const documents = createDocuments({ home });
  const identity = await createIdentity({ documents, log });
  const account = createAccount({
    home,
    documents,
    holder: leaseHolder(),
    config,
    env: () => env,
    identity,
    fetch: () => Promise.reject(new Error('no network')),
    clock: systemClock,
    log,
  });
  const resolve = (alias: string) => resolveModel(alias, { config: config.effective(), env, identity });
  return {
    resolve,
    checkReady: (alias: string | undefined) => checkReady(alias, config.effective(), account.readiness),
    effort: (wanted: string | undefined) => resolveEffort(resolve('m'), wanted, config.effective().thinking),
  };
}

const provider = (type: string, more = '') => `[providers.p]\ntype = "${type}"\n${more}\n`;
const model = (name: string, more = '') =>
  `[models.m]\nprovider = "p"\nmodel = "${name}"\nmax_context_size = 1000\n${more}\n`;

describe('resolving an alias', () => {
  it('applies the precedence of addresses and keys', async () => {
    const env: NodeJS.ProcessEnv = { OPENAI_API_KEY: 'process', OPENAI_BASE_URL: 'http://process' };
    const table = '[providers.p.env]\nOPENAI_API_KEY = "table"\nOPENAI_BASE_URL = "http://table"';
    expect((await open(provider('openai') + model('x'), env)).resolve('m')).toMatchObject({
      credential: { key: 'process' },
      baseUrl: 'http://process',
    });
    expect((await open(provider('openai', table) + model('x'), env)).resolve('m')).toMatchObject({
      credential: { key: 'table' },
      baseUrl: 'http://table',
    });
    const own = `api_key = "own"\nbase_url = "http://own"\n${table}`;
    expect((await open(provider('openai', own) + model('x'), env)).resolve('m')).toMatchObject({
      credential: { key: 'own' },
      baseUrl: 'http://own',
    });
    const models = model('x', 'api_key = "mine"\nbase_url = "http://mine"');
    expect((await open(provider('openai', own) + models, env)).resolve('m')).toMatchObject({
      credential: { key: 'mine' },
      baseUrl: 'http://mine',
    });
    expect((await open(provider('openai') + model('x'))).resolve('m')).toMatchObject({
      baseUrl: 'https://api.openai.com/v1',
    });
  });

  it('removes /v1 for Anthropic and detects Vertex by its host', async () => {
    const anthropic = await open(
      provider('native', 'base_url = "http://h/v1/"') + model('x', 'protocol = "anthropic"'),
    );
    expect(anthropic.resolve('m')).toMatchObject({
      protocol: 'anthropic',
      providerType: 'native',
      baseUrl: 'http://h',
    });
    const vertex = await open(
      provider('vertexai', 'base_url = "https://europe-west1-aiplatform.googleapis.com"') + model('gemini-2.5-pro'),
      { GOOGLE_CLOUD_PROJECT: 'pro' },
    );
    expect(vertex.resolve('m')).toMatchObject({
      protocol: 'google-genai',
      vertex: { project: 'pro', location: 'europe-west1' },
    });
  });

  it('sends the full identity only to the own protocol', async () => {
    const env = { SERVICE_CODE_CUSTOM_HEADERS: 'X-Extra: 1\nbroken\n: none\nuser-agent: mine' };
    const headers = '[providers.p.custom_headers]\nx-service-platform = "custom"';
    const native = (await open(provider('native', headers) + model('x'), env)).resolve('m').headers;
    expect(native).toMatchObject({
      'X-Extra': '1',
      'User-Agent': expect.stringMatching(/^service-code-cli\/\d.* \(web\)$/),
      'x-service-platform': 'custom',
      'X-Service-Device-Id': (await readFile(join(home, 'device_id'), 'utf8')).trim(),
    });
    expect(Object.keys(native).filter((name) => /platform/i.test(name))).toHaveLength(1);
    const third = (
      await open(`${provider('anthropic')}${model('x')}[identity]\nname = "My Code!"\n`, {
        ANTHROPIC_CUSTOM_HEADERS: 'A: b',
      })
    ).resolve('m').headers;
    expect(third).toEqual({ A: 'b', 'User-Agent': expect.stringMatching(/^my-code\/\d/) });
  });

  it('merges overrides, other names, inference and detection', async () => {
    const record = model(
      'claude-opus-4-6',
      'aliases = ["short"]\ncapabilities = [" Video_In "]\nmax_input_size = 5000\nmax_output_size = 7\n[models.m.overrides]\nmax_output_size = 9',
    );
    expect((await open(provider('anthropic') + record)).resolve('short')).toMatchObject({
      alias: 'short',
      wireName: 'claude-opus-4-6',
      maxInputTokens: 1000,
      maxOutputTokens: 9,
      supportEfforts: ['low', 'medium', 'high', 'max'],
      defaultEffort: 'high',
      capabilities: new Set(['video_in', 'thinking', 'image_in', 'tool_use']),
    });
  });

  it.each([
    ['an unknown alias', '', 'other', 'not configured'],
    ['an unknown provider', model('x'), 'm', 'provider p'],
    ['no wire name', `${provider('openai')}[models.m]\nprovider = "p"\nmax_context_size = 1\n`, 'm', 'no model name'],
    ['no context size', `${provider('openai')}[models.m]\nprovider = "p"\nmodel = "x"\n`, 'm', 'max_context_size'],
    ['an unknown type', provider('strange') + model('x'), 'm', 'unknown type'],
    [
      'a key beside a login',
      provider('native', 'api_key = "k"\noauth = { storage = "file", key = "k" }') + model('x'),
      'm',
      'both',
    ],
    ['neither provider nor address', '[models.m]\nmodel = "x"\nmax_context_size = 1\n', 'm', 'base_url'],
  ])('rejects %s', async (_case, text, alias, words) => {
    const models = await open(text);
    expect(() => models.resolve(alias)).toThrow(
      expect.objectContaining({ code: 40001, message: expect.stringContaining(words) }),
    );
  });
});

describe('readiness', () => {
  const key = 'api_key = "k"';
  it.each<[string, string, string | undefined, NodeJS.ProcessEnv, number | undefined, unknown]>([
    ['nothing configured', '', undefined, {}, 40110, undefined],
    ['no default', provider('openai', key), undefined, {}, 40113, undefined],
    ['unknown alias', provider('openai', key), 'nope', {}, 40113, { model_id: 'nope' }],
    [
      'dangling provider',
      `${provider('openai', key)}[models.m]\nprovider = "gone"\n`,
      'm',
      {},
      40113,
      { model_id: 'm', provider_id: 'gone' },
    ],
    [
      'nothing to derive from',
      `${provider('openai', key)}[models.m]\nmodel = "x"\n`,
      'm',
      {},
      40113,
      { model_id: 'm' },
    ],
    ['unknown type', provider('odd', key) + model('x'), 'm', {}, 40113, { model_id: 'm' }],
    ['no key', provider('openai') + model('x'), 'm', {}, 40111, { provider_id: 'p' }],
    [
      'login without token',
      provider('native', 'oauth = { storage = "file", key = "k" }') + model('x'),
      'm',
      {},
      40111,
      { provider_id: 'p' },
    ],
    ['key', provider('openai', key) + model('x'), 'm', {}, undefined, undefined],
    [
      'the default',
      `default_model = "m"\n${provider('openai', key)}${model('x')}`,
      undefined,
      {},
      undefined,
      undefined,
    ],
    [
      'flat',
      '[models.m]\nbase_url = "http://h:1"\nmodel = "x"\nmax_context_size = 1\napi_key = "k"\n',
      'm',
      {},
      undefined,
      undefined,
    ],
    [
      'flat without key',
      '[models.m]\nbase_url = "http://h:1"\nmodel = "x"\nmax_context_size = 1\n',
      'm',
      {},
      40111,
      { provider_id: 'h:1' },
    ],
    ['environment', '', undefined, { SERVICE_MODEL_NAME: 'x', SERVICE_MODEL_API_KEY: 'k' }, undefined, undefined],
    ['environment without key', '', undefined, { SERVICE_MODEL_NAME: 'x' }, 40111, { provider_id: '__service_env__' }],
    [
      'environment of unknown type',
      '',
      undefined,
      { SERVICE_MODEL_NAME: 'x', SERVICE_MODEL_PROVIDER_TYPE: 'odd' },
      40113,
      { model_id: '__service_env_model__' },
    ],
  ])('%s', async (_case, text, alias, env, code, details) => {
    const problem = await (await open(text, env)).checkReady(alias);
    expect(problem?.code).toBe(code);
    expect(problem?.details).toEqual(details);
  });
});

it('a login is ready when its slot contains a token', async () => {
  const models = await open(provider('native', 'oauth = { storage = "file", key = "oauth/k" }') + model('x'));
  await mkdir(join(home, 'credentials'));
  const slot = join(home, 'credentials', 'k.json');
  await writeFile(slot, JSON.stringify({ access_token: '' }));
  expect(await models.checkReady('m')).toMatchObject({ code: 40112 });
  await writeFile(slot, JSON.stringify({ access_token: 't' }));
  expect(await models.checkReady('m')).toBeUndefined();
});

describe('thinking effort', () => {
  const efforts = 'capabilities = ["thinking"]\nsupport_efforts = ["low", "medium", "max"]\n';
  const cases: [string, string, string, string, string | undefined, string][] = [
    ['no capability', 'native', '', '', 'high', 'off'],
    ['capability alone', 'native', 'capabilities = ["thinking"]', '', undefined, 'on'],
    ['middle of the list', 'native', efforts, '', undefined, 'medium'],
    ['declared default', 'native', `${efforts}default_effort = "max"`, '', undefined, 'max'],
    ['wish, other case', 'native', efforts, '', ' LOW ', 'low'],
    ['unlisted wish on native', 'native', efforts, '', 'xhigh', 'medium'],
    ['unlisted wish elsewhere', 'openai', efforts, '', 'xhigh', 'xhigh'],
    ['on with a list', 'openai', efforts, '', 'on', 'medium'],
    ['switched off', 'native', efforts, 'enabled = false\neffort = "low"', undefined, 'off'],
    ['wish beats switched off', 'native', efforts, 'enabled = false', 'low', 'low'],
    ['configured', 'native', efforts, 'effort = "low"', undefined, 'low'],
    [
      'off where it cannot be',
      'native',
      'capabilities = ["always_thinking"]\nsupport_efforts = ["low"]',
      '',
      'off',
      'low',
    ],
    [
      'off where it cannot be, configured',
      'openai',
      'capabilities = ["always_thinking"]',
      'effort = "high"',
      'off',
      'high',
    ],
  ];
  it.each(cases)('%s', async (_case, type, more, thinking, wanted, expected) => {
    const models = await open(`${provider(type)}${model('x', more)}[thinking]\n${thinking}\n`);
    expect(models.effort(wanted)).toBe(expected);
  });

  it('rejects an unlisted effort of a request, on native only', async () => {
    const native = await open(provider('native') + model('x', efforts));
    expect(() => assertEffort(native.resolve('m'), 'xhigh')).toThrow(
      expect.objectContaining({ code: 40001, details: [{ path: 'thinking', message: expect.any(String) }] }),
    );
    assertEffort(native.resolve('m'), 'off');
    const other = await open(provider('openai') + model('x', efforts));
    expect(() => assertEffort(other.resolve('m'), 'xhigh')).not.toThrow();
  });

  it('settings: forced effort, keep and sampling', async () => {
    const models = await open(provider('native') + model('x'));
    const resolved = models.resolve('m');
    const variables = { problems: [], temperature: 0.5 };
    expect(requestSettings(resolved, 'low', { forcedEffort: 'max' }, variables)).toEqual({
      effort: 'low',
      forcedEffort: 'max',
      keep: 'all',
      temperature: 0.5,
    });
    expect(requestSettings(resolved, 'off', { forcedEffort: 'max' }, variables)).toEqual({
      effort: 'off',
      temperature: 0.5,
    });
    expect(
      requestSettings({ ...resolved, providerType: 'openai' }, 'low', { forcedEffort: 'max', keep: 'None' }, variables),
    ).toEqual({ effort: 'low' });
  });
});

it('completion budget', async () => {
  const native = (await open(provider('native') + model('x'))).resolve('m');
  expect(completionBudget(native, 400, {})).toBe(600);
  expect(completionBudget(native, 4000, {})).toBe(1);
  expect(completionBudget({ ...native, maxOutputTokens: 50 }, 400, {})).toBe(50);
  expect(completionBudget(native, 0, { variable: 20 })).toBe(20);
  expect(completionBudget(native, 0, { variable: 0 })).toBeUndefined();
  expect(completionBudget({ ...native, providerType: 'openai' }, 0, { variable: 0 })).toBe(1000);
  expect(completionBudget({ ...native, protocol: 'google-genai' }, 400, {})).toBe(1000);
  expect(completionBudget({ ...native, maxContextTokens: 0 }, 0, { reserved: 70 })).toBe(70);
  expect(completionBudget({ ...native, maxContextTokens: 0 }, 0, {})).toBe(32_000);
});
