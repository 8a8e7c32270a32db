import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { ConfigChange } from '#server/config/config.ts';
import { eventually } from '#support/patience.ts';
import { startServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import type { TestServer } from '#support/server.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  if (server) await rm(server.home, { recursive: true, force: true });
  server = undefined;
});

async function start(file?: string, env: NodeJS.ProcessEnv = {}): Promise<TestServer> {
  const home = await temporaryDirectory();
  if (file !== undefined) await writeFile(join(home, 'config.toml'), file);
  server = await startServer({ home, env: () => env });
  return server;
}

const fileOf = ({ home }: TestServer) => readFile(join(home, 'config.toml'), 'utf8');

function changesOf({ app }: TestServer): ConfigChange[] {
  const changes: ConfigChange[] = [];
  app.config.onChanged((change) => changes.push(change));
  return changes;
}

const custom = `my_unknown = 1
[my_table]
x = 2
[providers.fake]
type = "native"
api_key = "sk-provider-secret"
weird_key = "w" # odd
[providers.fake.custom_headers]
X-My_header = "header-secret"
[providers.reg.source]
kind = "apiJson"
url = "http://x/r.json"
apiKey = "sk-registry-secret"
[models.x_y]
provider = "fake"
model = "m"
api_key = "sk-model-secret"
max_context_size = 1000
odd_member = "kept"
[services.search]
base_url = "http://s"
api_key = "sk-service-secret"
[experimental]
wait_for = false
[secondary_model.models]
"p_q/z" = "hint"
[loop_control]
unknown_lc = 1 # why
max_steps_per_turn = 3
`;

it('1. returns the defaults of an empty home', async () => {
  const { api } = await start();
  const { data, code } = await api('GET', '/config');
  expect(code).toBe(0);
  expect(data).toEqual({
    providers: {},
    models: {},
    thinking: {},
    loop_control: {},
    services: {},
    background: {},
    extra_skill_dirs: [],
    merge_all_available_skills: true,
    default_plan_mode: false,
    subagent: { timeoutMs: 7_200_000 },
    raw: {},
    builtin_product_skills: true,
    extra_agent_dirs: [],
    identity: {},
    image: {},
    mcp: {},
    token_counting: { strategy: 'measured+estimated' },
    cron: { debug: false, noJitter: false, noStale: false, disabled: false, manualTick: false },
  });
});

it('2. accepts both spellings of a member', async () => {
  const snake = await start();
  const first = await snake.api('POST', '/config', { loop_control: { max_steps_per_turn: 7 } });
  const firstFile = await fileOf(snake);
  expect(await stat(join(snake.home, 'config.toml'))).toMatchObject({ mode: 0o100600 });
  await snake.close();
  await rm(snake.home, { recursive: true, force: true });
  const camel = await start();
  const second = await camel.api('POST', '/config', { loop_control: { maxStepsPerTurn: 7 } });
  expect(first.data).toEqual(second.data);
  expect(first.data).toMatchObject({ loop_control: { maxStepsPerTurn: 7 } });
  expect(firstFile).toBe('[loop_control]\nmax_steps_per_turn = 7\n');
  expect(await fileOf(camel)).toBe(firstFile);
});

it('3. rejects a patch with one bad domain as a whole', async () => {
  const world = await start(custom);
  const before = await world.api('GET', '/config');
  const answer = await world.api('POST', '/config', {
    telemetry: false,
    models: { 'acme/large': { maxContextSize: 0 } },
    loop_control: { maxStepsPerTurn: -1 },
  });
  expect(answer.code).toBe(40001);
  expect(answer.details).toMatchObject([
    { path: 'models.acme/large.max_context_size' },
    { path: 'loop_control.max_steps_per_turn' },
  ]);
  expect(answer.msg).toMatch(/^models\.acme\/large\.max_context_size: /);
  expect(await fileOf(world)).toBe(custom);
  expect((await world.api('GET', '/config')).data).toEqual(before.data);
});

it('checks types first and drops unknown members', async () => {
  const { api } = await start();
  const answer = await api('POST', '/config', { providers: null, telemetry: 'yes', hooks: {}, raw: 1, nonsense: true });
  expect(answer).toMatchObject({
    code: 40001,
    details: [{ path: 'providers' }, { path: 'telemetry' }, { path: 'hooks' }],
  });
  expect((await api('POST', '/config', { raw: { a: 1 }, nonsense: true })).data).toMatchObject({ raw: {} });
  expect(await api('POST', '/config', { thinking: 5 })).toMatchObject({ code: 40001, details: [{ path: 'thinking' }] });
  expect(await api('POST', '/config', { hooks: [{ event: 'Nope', command: 'x' }] })).toMatchObject({
    details: [{ path: 'hooks.0.event' }],
  });
  expect(await api('POST', '/config', { permission: { rules: [{ decision: 'allow', pattern: '(' }] } })).toMatchObject({
    details: [{ path: 'permission.rules.0.pattern' }],
  });
});

it('4., 5. keeps the spelling of names, and unknown keys at their positions', async () => {
  const world = await start(custom);
  const { data } = await world.api('POST', '/config', {
    providers: { fake: { type: 'openai', weirdKey: 'dropped' } },
    loop_control: { maxAttemptsPerStep: 4, other: 1 },
    experimental: { my_flag: true },
    models: { x_y: { otherMember: { deepValue: 1 } } },
  });
  expect(data).toMatchObject({
    models: { x_y: { maxContextSize: 1000, oddMember: 'kept', otherMember: { deepValue: 1 } } },
    experimental: { wait_for: false, my_flag: true },
    secondary_model: { models: { 'p_q/z': 'hint' } },
    providers: { fake: { type: 'openai' } },
    loop_control: { maxStepsPerTurn: 3, maxAttemptsPerStep: 4 },
    raw: {
      my_unknown: 1,
      my_table: { x: 2 },
      providers: { fake: { weird_key: 'w', custom_headers: { 'X-My_header': '***' } } },
      loop_control: { unknown_lc: 1 },
    },
  });
  const text = await fileOf(world);
  expect(text).toContain('weird_key = "w" # odd');
  expect(text).toContain('unknown_lc = 1 # why');
  expect(text).toMatch(/other_member = \{\s*deep_value = 1\s*\}|\[models\.x_y\.other_member\]\s+deep_value = 1/);
  expect(text).not.toMatch(/^other =|dropped/m);
});

it('6. returns stored keys only in the endpoint of the one provider', async () => {
  const world = await start(custom);
  const changes = changesOf(world);
  await world.api('POST', '/config', { telemetry: true });
  await eventually(() => expect(changes).toHaveLength(1));
  const bodies = [
    JSON.stringify(changes),
    ...(await Promise.all(
      ['/config', '/providers', '/models', '/auth', '/meta'].map(async (path) =>
        JSON.stringify(await world.api('GET', path)),
      ),
    )),
  ];
  for (const body of bodies) expect(body).not.toMatch(/-secret/);
  expect((await world.api('GET', '/providers/fake')).data).toMatchObject({ api_key: 'sk-provider-secret' });
});

it('7. a broken file: old values stay, writes are refused until it is repaired', async () => {
  const world = await start(custom);
  const before = (await world.api('GET', '/config')).data;
  await writeFile(join(world.home, 'config.toml'), 'a = [1,');
  const refusal = `Refusing to persist config: ${join(world.home, 'config.toml')} could not be read; fix the file and reload before writing.`;
  expect(await world.api('POST', '/config', { telemetry: false })).toMatchObject({ code: 40001, msg: refusal });
  expect((await world.api('POST', '/config', { telemetry: false })).details).toBeUndefined();
  const provider = { id: 'acme', type: 'openai', models: [{ model: 'm', max_context_size: 1 }] };
  expect(await world.api('POST', '/providers', provider)).toMatchObject({ code: 50003, msg: refusal });
  expect((await world.api('GET', '/config')).data).toEqual(before);
  expect(await fileOf(world)).toBe('a = [1,');
  await writeFile(join(world.home, 'config.toml'), custom);
  await eventually(async () =>
    expect(await world.api('POST', '/config', { telemetry: false })).toMatchObject({ code: 0 }),
  );
});

it('starts with defaults if the file is broken from the beginning', async () => {
  const { api } = await start('a = [1,');
  expect((await api('GET', '/config')).data).toMatchObject({ providers: {}, raw: {} });
  expect(await api('POST', '/config', { telemetry: false })).toMatchObject({ code: 40001 });
});

it('8. publishes one event per change, with the changed domains', async () => {
  const world = await start(custom);
  const changes = changesOf(world);
  await writeFile(join(world.home, 'config.toml'), custom.replace('max_steps_per_turn = 3', 'max_steps_per_turn = 4'));
  await eventually(() => expect(changes).toHaveLength(1));
  expect(changes[0]).toMatchObject({
    changedFields: ['loopControl'],
    config: { loop_control: { maxStepsPerTurn: 4 } },
  });

  const text = await fileOf(world);
  await world.api('POST', '/config', { loop_control: { maxStepsPerTurn: 4 } });
  expect(await fileOf(world)).toBe(text);

  await world.api('POST', '/config', { telemetry: false, default_model: 'x_y' });
  await eventually(() => expect(changes).toHaveLength(2));
  expect(changes[1]?.changedFields).toEqual(['defaultModel', 'telemetry']);
});

it('null removes members, records and sections', async () => {
  const world = await start(custom);
  const { data } = await world.api('POST', '/config', {
    loop_control: { max_steps_per_turn: null },
    models: { x_y: { api_key: null, oddMember: null } },
    providers: { reg: null, absent: null },
    experimental: null,
    services: { search: null },
  });
  expect(data).toMatchObject({
    loop_control: {},
    models: { x_y: { provider: 'fake', model: 'm', maxContextSize: 1000 } },
    services: {},
  });
  const text = await fileOf(world);
  expect(text).not.toMatch(/experimental|services|sk-model|odd_member|providers\.reg/);
  expect(text).toContain('unknown_lc = 1 # why');
});

it('accepts yolo, plan_mode and the task table', async () => {
  const world = await start(
    '[background]\nmax_running_tasks = 2\nkeep_alive_on_exit = true\n[task]\nmax_running_tasks = 3\n',
  );
  const patch = {
    yolo: true,
    default_permission_mode: 'auto',
    background: { killGracePeriodMs: 1, keepAliveOnExit: null },
  };
  expect((await world.api('POST', '/config', patch)).data).toMatchObject({
    default_permission_mode: 'yolo',
    yolo: true,
    background: { maxRunningTasks: 3, killGracePeriodMs: 1 },
  });
  expect(await fileOf(world)).toMatch(/\[task\]\nmax_running_tasks = 3\nkill_grace_period_ms = 1/);
  const { data } = await world.api('POST', '/config', { yolo: false, plan_mode: true });
  expect(data).toMatchObject({ yolo: true, plan_mode: true, default_plan_mode: true });
  expect((await world.api('POST', '/config', { default_permission_mode: 'sometimes' })).code).toBe(40001);
});

it('merges the shorthands of permission rules and drops them when rules are written', async () => {
  const file =
    '[permission]\nodd = 1\nrules = [{ decision = "allow", pattern = "Read" }]\ndeny = [{ tool = "Bash", match = "rm -rf *" }]\nask = [{ pattern = "Write" }]\n';
  const world = await start(file);
  const rules = [
    { decision: 'allow', scope: 'user', pattern: 'Read' },
    { decision: 'deny', scope: 'user', pattern: 'Bash(rm -rf *)' },
    { decision: 'ask', scope: 'user', pattern: 'Write' },
  ];
  expect((await world.api('GET', '/config')).data).toMatchObject({ permission: { rules } });
  await world.api('POST', '/config', { permission: { rules } });
  expect(await fileOf(world)).toBe(file);
  await world.api('POST', '/config', { permission: { rules: rules.slice(1) } });
  expect((await world.api('GET', '/config')).data).toMatchObject({ permission: { rules: rules.slice(1) } });
  expect(await fileOf(world)).not.toMatch(/deny =|ask =/);
  expect(await fileOf(world)).toContain('odd = 1');
});

it('keeps the other sections when one is invalid', async () => {
  const warnings: unknown[] = [];
  const world = await start('telemetry = false\ndefault_thinking = true\n[loop_control]\nmax_steps_per_turn = "x"\n');
  world.app.config.onWarnings((list) => warnings.push(...list));
  expect((await world.api('GET', '/config')).data).toMatchObject({ telemetry: false, loop_control: {} });
  expect(warnings).toEqual([
    { domain: 'loopControl', message: expect.stringContaining('loop_control.max_steps_per_turn') },
    { domain: 'thinking', message: expect.stringContaining('thinking.enabled') },
  ]);
});

it('15. the model from the environment is visible and never written', async () => {
  const env: NodeJS.ProcessEnv = {
    SERVICE_MODEL_NAME: ' m-1 ',
    SERVICE_MODEL_API_KEY: 'sk-env-secret',
    SERVICE_MODEL_PROVIDER_TYPE: 'openai',
  };
  const world = await start(custom, env);
  expect((await world.api('GET', '/config')).data).toMatchObject({
    default_model: '__service_env_model__',
    providers: { __service_env__: { type: 'openai', has_api_key: true } },
    models: {
      __service_env_model__: { model: 'm-1', maxContextSize: 262_144, capabilities: ['image_in', 'thinking'] },
    },
  });
  const { data: providers } = await world.api('GET', '/providers');
  expect(providers).toMatchObject({
    items: [
      { id: 'fake' },
      { id: 'reg' },
      {
        id: '__service_env__',
        type: 'openai',
        base_url: 'https://api.openai.com/v1',
        default_model: '__service_env_model__',
        has_api_key: true,
        status: 'connected',
        models: ['__service_env_model__'],
      },
    ],
  });
  expect((await world.api('GET', '/providers/__service_env__')).data).not.toHaveProperty('api_key');
  expect(
    await world.api('PUT', '/providers/__service_env__', {
      type: 'openai',
      models: [{ model: 'a', max_context_size: 1 }],
    }),
  ).toMatchObject({ code: 40412 });
  expect((await world.api('DELETE', '/providers/__service_env__')).code).toBe(40412);

  await world.api('POST', '/config', {
    telemetry: false,
    default_model: 'x_y',
    models: { __service_env_model__: { model: 'no' } },
  });
  const reply = await world.api('POST', '/models/x_y:set_default');
  expect(reply.data).toMatchObject({ default_model: 'x_y', model: { model: 'x_y' } });
  expect((await world.api('GET', '/config')).data).toMatchObject({
    default_model: '__service_env_model__',
    raw: { default_model: 'x_y' },
  });
  expect((await world.api('GET', '/auth')).data).toEqual({
    models_ready: true,
    providers_count: 3,
    managed_provider: null,
  });
  expect(await fileOf(world)).not.toMatch(/service_env|m-1|sk-env/);
  delete env.SERVICE_MODEL_NAME;
  await eventually(async () =>
    expect((await world.api('GET', '/config')).data).toMatchObject({ default_model: 'x_y' }),
  );
});

it('a malformed SERVICE_MODEL_* variable disables the overlay with a warning', async () => {
  const world = await start('', { SERVICE_MODEL_NAME: 'm', SERVICE_MODEL_MAX_CONTEXT_SIZE: '12x' });
  const warnings: unknown[] = [];
  world.app.config.onWarnings((list) => warnings.push(...list));
  expect(warnings).toEqual([{ message: expect.stringContaining('SERVICE_MODEL_MAX_CONTEXT_SIZE') }]);
  expect((await world.api('GET', '/config')).data).toMatchObject({ providers: {}, models: {} });
});

it('variables override the file, are read at every use and are not written', async () => {
  const env: NodeJS.ProcessEnv = {
    SERVICE_LOOP_MAX_STEPS_PER_TURN: '9',
    SERVICE_SUBAGENT_TIMEOUT_MS: '0',
    SERVICE_WEB_SEARCH_BASE_URL: 'http://env',
    SERVICE_MODEL_THINKING_EFFORT: 'max',
  };
  const world = await start(custom, env);
  const patch = {
    loop_control: { maxStepsPerTurn: 5, maxAttemptsPerStep: 2 },
    services: { search: { base_url: 'http://mine' } },
    thinking: { forcedEffort: 'low' },
  };
  expect((await world.api('POST', '/config', patch)).data).toMatchObject({
    loop_control: { maxStepsPerTurn: 9, maxAttemptsPerStep: 2 },
    subagent: { timeoutMs: 7_200_000 },
    services: { search: { baseUrl: 'http://env' } },
    thinking: { forcedEffort: 'max' },
    raw: { loop_control: { max_steps_per_turn: 3 }, services: { search: { base_url: 'http://s' } } },
  });
  expect(world.app.config.effective().services.search).toEqual({ baseUrl: 'http://env' });
  delete env.SERVICE_LOOP_MAX_STEPS_PER_TURN;
  await eventually(async () =>
    expect((await world.api('GET', '/config')).data).toMatchObject({ loop_control: { maxStepsPerTurn: 3 } }),
  );
});
