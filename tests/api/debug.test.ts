import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from 'vitest';
import * as z from 'zod';
import endpoints from '#endpoints';
import { credentialId } from '#server/mcp/auth/credentials.ts';
import { channelSchema, workspaceSnapshotSchema, type Channel } from '#schema/rest/debug.ts';
import type { Session } from '#schema/rest/session.ts';
import { rawRequest } from '#support/raw-request.ts';
import { startServer, type TestServer, type TestServerOptions } from '#support/server.ts';
import { startWorld, type World } from '#support/world.ts';

/** `[method, path]` of every debug endpoint, with parameters that name nothing. */
const routes = endpoints
  .filter(({ route }) => route.startsWith('/api/v1/debug/'))
  .map(({ method, route }) => [method.toUpperCase(), route.replaceAll(/:[^/]+/g, 'x')] as const);

const snapshots = z.object({ workspaces: z.array(workspaceSnapshotSchema) });
const pathsOf = z.object({ paths: z.record(z.string(), z.record(z.string(), z.record(z.string(), z.unknown()))) });

const documentedPaths = async (server: TestServer) => {
  const { paths } = pathsOf.parse(await (await server.fetch('/openapi.json')).json());
  const listed = Object.entries(paths).filter(([path]) => path.startsWith('/api/v1/debug'));
  return listed.toSorted(([a], [b]) => (a < b ? -1 : 1));
};

describe('the debug endpoints', () => {
  let server: TestServer;
  afterEach(() => server.close());

  const absent: [string, TestServerOptions][] = [
    ['without the option', {}],
    ['on a bind that other machines reach', { debugEndpoints: true, host: '0.0.0.0' }],
    ['on such a bind without authentication', { debugEndpoints: true, host: '0.0.0.0', bypassAuth: true }],
  ];
  it.each(absent)('are unknown paths %s, and not documented', async (_name, options) => {
    server = await startServer(options);
    expect(routes).toHaveLength(11);
    for (const [method, path] of routes) {
      expect(await server.api(method, path)).toMatchObject({ status: 404, code: 40400 });
    }
    expect(await documentedPaths(server)).toEqual([]);
  });

  it('need the token, and are documented without tags', async () => {
    server = await startServer({ debugEndpoints: true });
    for (const [method, path] of routes) {
      const { status } = await rawRequest(server.url, { method, path });
      expect(status).toBe(401);
      expect((await server.api(method, path)).status).toBe(200);
    }
    const documented = await documentedPaths(server);
    const methods = documented.map(([path, operations]) => [path, Object.keys(operations)]);
    const call = '{service}/{method}';
    expect(methods).toEqual([
      ['/api/v1/debug/channels', ['get']],
      [`/api/v1/debug/session/{session_id}/agent/{agent_id}/runtime-binding`, ['get']],
      [`/api/v1/debug/session/{session_id}/agent/{agent_id}/${call}`, ['get', 'post']],
      ['/api/v1/debug/session/{session_id}/association', ['get']],
      [`/api/v1/debug/session/{session_id}/${call}`, ['get', 'post']],
      ['/api/v1/debug/workspace/{workspace_id}/snapshot', ['get']],
      ['/api/v1/debug/workspaces', ['get']],
      [`/api/v1/debug/${call}`, ['get', 'post']],
    ]);
    for (const [, operations] of documented) {
      for (const operation of Object.values(operations)) expect(operation).not.toHaveProperty('tags');
    }
  });

  it('call by POST only without authentication, because a page can send a GET without an Origin', async () => {
    server = await startServer({ debugEndpoints: true, bypassAuth: true });
    const paths = ['workspaces/list', 'session/x/log/position', 'session/x/agent/main/agent/idle'];
    for (const path of paths.map((end) => `/api/v1/debug/${end}`)) {
      for (const method of ['GET', 'HEAD']) {
        expect((await server.fetch(path, { method })).status).toBe(404);
      }
      expect((await server.api('POST', path)).status).toBe(200);
      const headers = { origin: 'http://page.test' };
      expect((await server.fetch(path, { method: 'POST', headers })).status).toBe(403);
    }
    expect(await server.api('POST', '/debug/workspaces/list')).toMatchObject({ code: 0, data: [] });
    expect(await server.api('GET', '/debug/channels')).toMatchObject({ code: 0 });
    const calls = (await documentedPaths(server)).filter(([path]) => path.endsWith('/{method}'));
    expect(calls.map(([, operations]) => Object.keys(operations))).toEqual([['post'], ['post'], ['post']]);
  });

  it('are not those of older servers about prompts', async () => {
    server = await startServer({ debugEndpoints: true });
    for (const name of ['state', 'active']) {
      expect(await server.api('GET', `/debug/prompts/session_x/${name}`)).toMatchObject({ status: 404, code: 40400 });
    }
  });
});

describe('a call', () => {
  let world: World;
  let session: Session;
  beforeAll(async () => {
    world = await startWorld({ debugEndpoints: true });
    session = await world.session();
  });
  afterAll(() => world.close());

  const get = (path: string, arg?: string) =>
    world.api('GET', `/debug/${path}${arg === undefined ? '' : `?arg=${encodeURIComponent(arg)}`}`);
  const post = (path: string, body?: unknown) => world.api('POST', `/debug/${path}`, body);

  test('takes its argument from the body or the query: one value, or an array of all', async () => {
    const found = { code: 0, data: { id: session.id } };
    expect(await post('sessions/get', session.id)).toMatchObject(found);
    expect(await post('sessions/get', [session.id])).toMatchObject(found);
    expect(await get('sessions/get', JSON.stringify(session.id))).toMatchObject(found);
    expect(await get('sessions/get', JSON.stringify([session.id]))).toMatchObject(found);
    expect(await post('sessions/children', [session.id, { page_size: 1 }])).toMatchObject({ data: { items: [] } });
    expect(await post('sessions/list')).toMatchObject({ data: { items: [{ id: session.id }] } });
    expect(await get('sessions/list')).toMatchObject({ data: { items: [{ id: session.id }] } });
  });

  test.each(['{', '', 'session', '['.repeat(5000)])('refuses a query that is no JSON: %.9s', async (arg) => {
    expect(await get('sessions/get', arg)).toMatchObject({ code: 40001, details: [{ path: 'arg' }] });
  });

  test('refuses a body that is no JSON, and one that reaches a prototype', async () => {
    const headers = { 'content-type': 'application/json' };
    for (const body of ['{', '{"__proto__":1}', '[{"constructor":{"prototype":{}}}]']) {
      const response = await world.server.fetch('/api/v1/debug/sessions/get', { method: 'POST', headers, body });
      expect(await response.json()).toMatchObject({ code: 40001 });
    }
  });

  test('refuses arguments that the member does not take', async () => {
    expect(await post('sessions/get')).toMatchObject({ code: 40001, details: [{ path: 'id' }] });
    expect(await post('sessions/get', { id: session.id })).toMatchObject({ code: 40001, details: [{ path: 'id' }] });
    expect(await post('projects/find', 'relative')).toMatchObject({ code: 40001, details: [{ path: 'directory' }] });
  });

  test('without a result gives null', async () => {
    expect(await post('sessions/assertExists', session.id)).toMatchObject({ code: 0, data: null });
    expect(await post('additionalDirs/refresh')).toMatchObject({ code: 0, data: null });
  });

  test('answers a Map as its entries', async () => {
    const { data } = await post('workspaces/byId');
    expect(data).toEqual([[session.workspace_id, { root: world.project, ids: [session.workspace_id] }]]);
  });

  test('answers with the errors of the member', async () => {
    expect(await post('sessions/get', 'session_none')).toMatchObject({ code: 40401 });
    expect(await post('workspaces/get', 'wd_none')).toMatchObject({ code: 40410 });
    expect(await post('models/assertConfigured', 'none')).toMatchObject({ code: 40001 });
  });

  test('reaches services of a loaded session and of its agents', async () => {
    const { data: row } = await post(`session/${session.id}/session/row`);
    expect(row).toMatchObject({ id: session.id, cwd: world.project });
    expect(await get(`session/${session.id}/log/held`)).toMatchObject({ code: 0, data: false });
    expect(await get(`session/${session.id}/agents/has`, '"main"')).toMatchObject({ code: 0, data: true });
    expect(await get(`session/${session.id}/agents/has`, '"agent-9"')).toMatchObject({ code: 0, data: false });
    expect(await get(`session/${session.id}/agent/main/agent/id`)).toMatchObject({ code: 0, data: 'main' });
    expect(await post(`session/${session.id}/agent/main/binding/permission`)).toMatchObject({ data: 'manual' });
  });

  test('does not load a session, nor make an agent other than main', async () => {
    const cold = await world.session();
    await world.ok('POST', `/sessions/${cold.id}:archive`);
    for (const id of [cold.id, 'session_none', '__proto__']) {
      expect(await post(`session/${id}/session/row`)).toMatchObject({ code: 40401 });
      expect(await post(`session/${id}/nope/row`)).toMatchObject({ code: 40401 });
      expect(await post(`session/${id}/agent/main/agent/id`)).toMatchObject({ code: 40401 });
      expect(await get(`session/${id}/association`)).toMatchObject({ code: 40401 });
      expect(await get(`session/${id}/agent/main/runtime-binding`)).toMatchObject({ code: 40401 });
    }
    expect(world.server.app.sessions.liveRow(cold.id)).toBeUndefined();
    for (const id of ['agent-1', '__proto__', 'constructor']) {
      expect(await post(`session/${session.id}/agent/${id}/agent/id`)).toMatchObject({ code: 40401 });
      expect(await get(`session/${session.id}/agent/${id}/runtime-binding`)).toMatchObject({ code: 40401 });
    }
  });

  test('names a service of another scope, an unknown service and an unknown member', async () => {
    const of = `session/${session.id}`;
    const invalid = (msg: string) => ({ code: 40001, msg });
    const wrong = (scope: string, name: string) => invalid(`service not available in ${scope} scope: ${name}`);
    expect(await post('agent/id')).toMatchObject(wrong('app', 'agent'));
    expect(await post('log/position')).toMatchObject(wrong('app', 'log'));
    expect(await post(`${of}/workspaces/list`)).toMatchObject(wrong('session', 'workspaces'));
    expect(await post(`${of}/agent/main/sessions/get`)).toMatchObject(wrong('agent', 'sessions'));
    expect(await post('nope/id')).toMatchObject(invalid('unknown service: nope'));
    expect(await post('workspaces/nope')).toMatchObject(invalid('method not found: workspaces.nope'));
    expect(await post(`${of}/log/append`)).toMatchObject(invalid('method not found: log.append'));
    expect(await post(`${of}/agent/main/binding/present`)).toMatchObject(invalid('method not found: binding.present'));
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', '__defineGetter__'])(
    '%s is neither a service nor a member',
    async (name) => {
      const of = `session/${session.id}`;
      for (const start of ['', `${of}/`, `${of}/agent/main/`]) {
        expect(await post(`${start}${name}/list`)).toMatchObject({ code: 40001, msg: `unknown service: ${name}` });
        expect(await get(`${start}${name}/${name}`)).toMatchObject({ code: 40001, msg: `unknown service: ${name}` });
      }
      for (const [path, service] of [
        ['workspaces', 'workspaces'],
        [`${of}/log`, 'log'],
        [`${of}/agent/main/agent`, 'agent'],
      ]) {
        const refusal = { code: 40001, msg: `method not found: ${service}.${name}` };
        expect(await post(`${path}/${name}`)).toMatchObject(refusal);
        expect(await get(`${path}/${name}`)).toMatchObject(refusal);
      }
    },
  );

  test('reaches no other member of the server than its services', async () => {
    const reached = [
      'additionalDirs',
      'connections',
      'models',
      'projects',
      'sessions',
      'trust',
      'uploads',
      'workspaces',
    ];
    const kept = Object.keys(world.server.app).filter((name) => !reached.includes(name));
    expect(kept).toEqual(expect.arrayContaining(['access', 'account', 'config', 'logins', 'remote', 'token']));
    for (const name of kept) {
      for (const member of ['effective', 'stored', 'environment', 'env', 'close', 'current', 'call', 'list']) {
        const answer = await post(`${name}/${member}`);
        expect([name, answer]).toMatchObject([name, { code: 40001, msg: expect.not.stringContaining('method') }]);
      }
    }
  });

  test('of a session reaches neither its context nor its transcripts', async () => {
    for (const name of ['context', 'services', 'config', 'transcripts', 'approvals']) {
      expect(await post(`session/${session.id}/${name}/effective`)).toMatchObject({ msg: `unknown service: ${name}` });
    }
  });
});

describe('the channels', () => {
  let world: World;
  beforeAll(async () => (world = await startWorld({ debugEndpoints: true })));
  afterAll(() => world.close());

  const channels = async () => z.array(channelSchema).parse(await world.ok('GET', '/debug/channels'));

  test('are the services of all scopes with their members, sorted by name', async () => {
    const all = await channels();
    const sorted = (names: string[]) => [...names].sort((a, b) => (a < b ? -1 : 1));
    expect(all.map(({ name }) => name)).toEqual(sorted(all.map(({ name }) => name)));
    for (const { methods } of all) {
      expect(methods.length).toBeGreaterThan(0);
      expect(methods.map(({ name }) => name)).toEqual(sorted(methods.map(({ name }) => name)));
      for (const { name, arity, params } of methods) {
        expect(name).not.toMatch(/^_/);
        expect(params === '' ? 0 : params.split(', ').length).toBe(arity);
      }
    }
    expect(new Set(all.map(({ scope }) => scope))).toEqual(new Set(['app', 'session', 'agent']));
    expect(all.find(({ name }) => name === 'sessions')).toMatchObject({ scope: 'app', domain: 'sessions' });
    const methods = all.flatMap((channel) => channel.methods.map((member) => ({ ...member, of: channel.name })));
    expect(methods).toContainEqual({ of: 'sessions', name: 'children', kind: 'method', arity: 2, params: 'id, query' });
    expect(methods).toContainEqual({ of: 'log', name: 'length', kind: 'property', arity: 0, params: '' });
  });

  test('name no member that closes, stops, opens or writes', async () => {
    const names = (await channels()).flatMap(({ methods }) => methods.map(({ name }) => name));
    const written = /^(close|end|stop|open|load|receive|remove|append|attempt|store|keep|trust|untrust|add|present)$/;
    expect(names.filter((name) => written.test(name))).toEqual([]);
  });
});

/** Occurs in every secret of the home below. */
const MARK = 'MARKED';

describe('replies of the debug endpoints', () => {
  let world: World;
  let session: Session;
  let replies: Map<string, string>;

  async function fillHome(home: string, project: string): Promise<void> {
    const secret = (name: string) => `${MARK}-${name}`;
    const server = {
      remote: { url: 'http://127.0.0.1:1/mcp', headers: { 'X-Key': secret('header') } },
      local: { command: '/bin/false', env: { KEY: secret('mcp-env') } },
      token: { url: 'http://127.0.0.1:1/mcp', bearerTokenEnvVar: 'MARKED_VARIABLE' },
    };
    await writeFile(join(home, 'mcp.json'), JSON.stringify({ mcpServers: server }));
    const mcp = join(home, 'credentials', 'mcp');
    await mkdir(mcp, { recursive: true });
    const grant = { access_token: secret('access'), refresh_token: secret('refresh'), expires_at: 4_000_000_000 };
    await writeFile(join(home, 'credentials', 'service-code.json'), JSON.stringify(grant));
    const id = credentialId('remote', server.remote.url);
    const tokens = {
      access_token: secret('mcp-access'),
      refresh_token: secret('mcp-refresh'),
      obtained_at: Date.now(),
    };
    await writeFile(join(mcp, `${id}-tokens.json`), JSON.stringify(tokens));
    const registered = { issuer: 'http://127.0.0.1:1', client_id: 'id', client_secret: secret('client') };
    await writeFile(join(mcp, `${id}-client.json`), JSON.stringify({ ...registered, redirect_uri: 'http://x' }));
    await writeFile(join(project, '.env'), `KEY=${secret('dotenv')}`);
  }

  /** Arguments of a member: for each parameter all values that the test knows for it. */
  function argumentsFor({ methods }: Channel, name: string, known: Record<string, unknown[]>): unknown[][] {
    const names =
      methods
        .find((member) => member.name === name)
        ?.params.split(', ')
        .filter(Boolean) ?? [];
    return names.reduce<unknown[][]>(
      (lists, param) => lists.flatMap((list) => (known[param] ?? []).map((value) => [...list, value])),
      [[]],
    );
  }

  beforeAll(async () => {
    const env = {
      ...process.env,
      SERVICE_CODE_PASSWORD: `${MARK}-password`,
      SERVICE_API_KEY: `${MARK}-key`,
      ANTHROPIC_API_KEY: `${MARK}-anthropic`,
      MARKED_VARIABLE: `${MARK}-variable`,
    };
    world = await startWorld({ debugEndpoints: true, env: () => env });
    const { home } = world.server;
    await fillHome(home, world.project);
    await world.ok('POST', '/providers', {
      id: 'kept',
      type: 'openai',
      base_url: 'http://127.0.0.1:1/v1',
      api_key: `${MARK}-provider`,
      models: [{ model: 'm', max_context_size: 1000 }],
    });
    const search = { base_url: 'http://127.0.0.1:1', api_key: `${MARK}-service`, custom_headers: { a: `${MARK}-web` } };
    await world.ok('POST', '/config', { services: { search } });
    session = await world.session();
    world.model.enqueue({ text: 'Hello.' });
    const events = await world.watch(session.id);
    await world.prompt(session.id, 'Hi');
    await events.waitFor(({ type }) => type === 'prompt.completed');

    const form = new FormData();
    form.append('file', new Blob(['a']), 'a.txt');
    const upload = await world.server.fetch('/api/v1/files', { method: 'POST', body: form });
    const { data: file } = z.object({ data: z.object({ id: z.string() }) }).parse(await upload.json());
    const known = {
      id: [session.id, session.workspace_id, file.id, 'main'],
      alias: ['fake/model', 'nope', ...new Set(await modelAliases())],
      directory: [world.project, home],
      real: [world.project],
      effort: ['low', 'off', 'high'],
      query: [{}, { page_size: 5 }],
    };
    replies = new Map();
    const channels = z.array(channelSchema).parse(await world.ok('GET', '/debug/channels'));
    // Those of the server last, because they archive the session.
    for (const scope of ['agent', 'session', 'app'] as const) {
      const start = { app: '', session: `session/${session.id}/`, agent: `session/${session.id}/agent/main/` }[scope];
      for (const channel of channels.filter((one) => one.scope === scope)) {
        for (const { name } of channel.methods) {
          for (const given of argumentsFor(channel, name, known)) {
            const { code, ...rest } = await world.api('POST', `/debug/${start}${channel.name}/${name}`, given);
            replies.set(`${channel.name}.${name} ${JSON.stringify(given)} ${code}`, JSON.stringify(rest));
          }
        }
      }
    }
    for (const path of [
      'channels',
      'workspaces',
      `workspace/${session.workspace_id}/snapshot`,
      `session/${session.id}/association`,
      `session/${session.id}/agent/main/runtime-binding`,
    ]) {
      const { code, ...rest } = await world.api('GET', `/debug/${path}`);
      replies.set(`${path} [] ${code}`, JSON.stringify(rest));
    }
  });
  afterAll(() => world.close());

  async function modelAliases(): Promise<string[]> {
    const models = z.object({ items: z.array(z.object({ model: z.string() })) });
    return models.parse(await world.ok('GET', '/models')).items.map(({ model }) => model);
  }

  test('contain no secret of the home, the environment or the project', async () => {
    // The model's key is the one of the fake server.
    const secrets = [MARK, 'fake-key', world.server.token];
    const found = [...replies].filter(([, reply]) => secrets.some((secret) => reply.includes(secret)));
    expect(found).toEqual([]);
    // Which are in use, so that a reply could have them.
    const { config } = world.server.app;
    expect(JSON.stringify(config.effective())).toContain(`${MARK}-provider`);
    expect(JSON.stringify(config.effective())).toContain(`${MARK}-service`);
  });

  test('are a success for every listed member with some arguments, and never an internal error', () => {
    const members = new Map<string, string[]>();
    for (const call of replies.keys()) {
      const [name = '', code = ''] = [call.split(' ')[0], call.split(' ').at(-1)];
      members.set(name, [...(members.get(name) ?? []), code]);
    }
    expect(members.size).toBeGreaterThan(50);
    expect([...members].filter(([, codes]) => !codes.includes('0'))).toEqual([]);
    expect([...members].filter(([, codes]) => codes.includes('50001'))).toEqual([]);
  });
});

describe('a workspace', () => {
  let world: World;
  beforeAll(async () => (world = await startWorld({ debugEndpoints: true })));
  afterAll(() => world.close());

  const loaded = async () => snapshots.parse(await world.ok('GET', '/debug/workspaces')).workspaces;
  const register = async (root: string) => {
    await mkdir(root, { recursive: true });
    return z.object({ id: z.string() }).parse(await world.ok('POST', '/workspaces', { root }));
  };

  test('is loaded by its snapshot, which has what applies to its sessions', async () => {
    const { project } = world;
    const agents = join(project, '.service-code', 'agents');
    await mkdir(agents, { recursive: true });
    await writeFile(join(agents, 'review.md'), '---\nname: review\ndescription: Reviews.\n---\nReview.');
    await writeFile(join(project, 'AGENTS.md'), 'Be brief.');
    const mcp = { mcpServers: { one: { command: 'one', env: { A: 'b' } } } };
    await writeFile(join(world.server.home, 'mcp.json'), JSON.stringify(mcp));
    const projectMcp = { mcpServers: { two: { command: 'two' } } };
    await writeFile(join(project, '.service-code', 'mcp.json'), JSON.stringify(projectMcp));
    const { id } = await register(project);
    expect(await loaded()).toEqual([]);

    const read = async () => workspaceSnapshotSchema.parse(await world.ok('GET', `/debug/workspace/${id}/snapshot`));
    const generation = world.server.app.serverId;
    const runtime = { runtimeId: 'local', generation, status: 'ready', capabilities: ['files', 'processes'] };
    const before = await read();
    const { workspaces } = z.object({ workspaces: z.array(z.unknown()) }).parse({ workspaces: await loaded() });
    expect(workspaces).toEqual([before]);
    expect(before).toMatchObject({
      metadata: { id, root: project, name: 'project' },
      lifecycle: 'active',
      program: {
        workspaceId: id,
        binding: { workspaceId: id, runtimeId: 'local' },
        status: 'ready',
        ready: true,
        generation,
        trusted: false,
        catalog: { skills: { total: 7, invocable: 2, skipped: 0 }, mcpServers: 1 },
        sources: {
          skills: [{ source: 'builtin', count: 7 }],
          skillRoots: [],
          instructionPaths: [join(project, 'AGENTS.md')],
          mcpServers: ['one'],
        },
        runtimes: [runtime],
      },
      runtimes: { workspaceId: id, runtimes: [runtime] },
    });
    expect(before.metadata.createdAt).toBeGreaterThan(Date.parse('2020-01-01'));
    expect(before.metadata.lastOpenedAt).toBeGreaterThanOrEqual(before.metadata.createdAt);
    const { catalog, sources } = before.program;
    expect(sources.agentProfiles).toEqual([
      { sourceId: 'builtin', priority: 0, profiles: expect.arrayContaining(['agent', 'coder', 'explore', 'plan']) },
      { sourceId: agents, priority: 30, profiles: ['review'] },
    ]);
    expect(catalog.agentProfiles).toBe(sources.agentProfiles.flatMap(({ profiles }) => profiles).length);

    await world.ok('POST', `/workspaces/${id}/trust`);
    expect((await read()).program).toMatchObject({
      trusted: true,
      catalog: { mcpServers: 2 },
      sources: { mcpServers: ['one', 'two'] },
    });
  });

  test('is loaded by a session, and no longer after it was removed', async () => {
    const other = join(world.project, '..', 'other');
    const { id } = await register(other);
    expect((await loaded()).map(({ metadata }) => metadata.id)).not.toContain(id);
    await world.session({ metadata: { cwd: other } });
    expect((await loaded()).map(({ metadata }) => metadata.id)).toContain(id);
    await world.ok('DELETE', `/workspaces/${id}`);
    expect((await loaded()).map(({ metadata }) => metadata.id)).not.toContain(id);
  });

  test('that is unknown is 40410, also with a name of a prototype', async () => {
    for (const id of ['wd_none_000000000000', '__proto__', 'constructor']) {
      expect(await world.api('GET', `/debug/workspace/${id}/snapshot`)).toMatchObject({ code: 40410 });
    }
  });
});

describe('a loaded session', () => {
  let world: World;
  beforeAll(async () => (world = await startWorld({ debugEndpoints: true })));
  afterAll(() => world.close());

  test('has an association and a runtime for each agent', async () => {
    const { id, workspace_id: workspaceId } = await world.session();
    expect(await world.ok('GET', `/debug/session/${id}/association`)).toEqual({
      sessionId: id,
      workspaceId,
      cwd: world.project,
    });
    expect(await world.ok('GET', `/debug/session/${id}/agent/main/runtime-binding`)).toEqual({
      binding: { workspaceId, runtimeId: 'local' },
      available: true,
      runtime: {
        runtimeId: 'local',
        generation: world.server.app.serverId,
        status: 'ready',
        capabilities: ['files', 'processes'],
      },
    });
  });
});
