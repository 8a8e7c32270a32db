/** Signing in to MCP servers over REST. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { createLogger } from '#server/logging/log.ts';
import { credentialId } from '#server/mcp/auth/credentials.ts';
import { signIn, startOAuthMcpServer } from '#support/oauth-mcp-server.ts';
import { eventually } from '#support/patience.ts';
import { startServer, type TestServer } from '#support/server.ts';

const flowSchema = z.object({
  status: z.literal('authorization-required'),
  flowId: z.uuid(),
  authorizationUrl: z.url(),
});

let shared: TestServer;
beforeAll(async () => (shared = await startServer()));
afterAll(() => shared.close());

async function ownServer(lines: string[]): Promise<TestServer> {
  const server = await startServer({ log: createLogger('trace', (line) => lines.push(line)) });
  onTestFinished(() => server.close());
  return server;
}

/** Adds a server that requires a sign-in, as the only one of the user. */
async function open({ own = false } = {}) {
  const lines: string[] = [];
  const guarded = await startOAuthMcpServer();
  const server = own ? await ownServer(lines) : shared;
  await writeFile(join(server.home, 'mcp.json'), '');
  const v2 = (method: string, path: string, body?: unknown) => server.api(method, `/api/v2/mcp${path}`, body);
  const add = (name: string, config: Record<string, unknown> = {}) =>
    v2('POST', '/servers', { name, transport: 'http', url: guarded.url, ...config });
  const locator = (name = 'guarded') => ({ source: 'global', name });
  await add('guarded');
  return {
    guarded,
    server,
    lines,
    v2,
    add,
    locator,
    begin: async (name?: string) => flowSchema.parse((await v2('POST', '/auth:begin', locator(name))).data),
    complete: (flowId: string, more = {}) => v2('POST', '/auth:complete', { flowId, ...more }),
    statuses: async (query = '') =>
      z
        .array(z.object({ name: z.string(), authStatus: z.string() }))
        .parse((await v2('GET', `/auth-statuses${query}`)).data),
  };
}

/** Call it before requesting a wait for a sign-in; the returned function resolves when the server waits. */
function nextWait({ app }: TestServer): () => Promise<void> {
  const complete = vi.spyOn(app.mcpAuth, 'complete').mockClear();
  onTestFinished(() => complete.mockRestore());
  return () => eventually(() => expect(complete).toHaveBeenCalled());
}

it('signs in: discovery, registration, PKCE; then the server can be used', async () => {
  const { guarded, server, v2, begin, complete, statuses } = await open({ own: true });
  expect(await statuses()).toEqual([{ name: 'guarded', authStatus: 'oauth-required' }]);
  expect((await v2('POST', '/servers:test', { name: 'guarded' })).data).toMatchObject({
    success: false,
    output: expect.stringMatching(/^guarded requires OAuth/),
  });
  const { flowId, authorizationUrl } = await begin();
  const query = new URL(authorizationUrl).searchParams;
  expect(query.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  expect(query.get('resource')).toBe(guarded.url);
  const done = complete(flowId);
  expect((await signIn(authorizationUrl)).status).toBe(200);
  expect(await done).toMatchObject({ code: 0, data: null });
  expect(guarded.registrations).toEqual([
    expect.objectContaining({
      client_name: 'service-code',
      redirect_uris: [query.get('redirect_uri')],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    }),
  ]);
  expect(await statuses('?verify=true')).toEqual([{ name: 'guarded', authStatus: 'oauth-authorized' }]);
  expect((await v2('POST', '/servers:test', { name: 'guarded' })).data).toEqual({
    success: true,
    output: 'Connected to MCP server "guarded".\nAvailable tools: 2\n- look: Looks.\n- bare',
  });

  const folder = join(server.home, 'credentials', 'mcp');
  const files = await readdir(folder);
  expect(files.map((name) => name.replace(/^guarded-[0-9a-f]{24}[-.]/, '')).toSorted()).toEqual([
    'client.json',
    'discovery.json',
    'lock.1',
    'meta.json',
    'tokens.json',
  ]);
  for (const name of files) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  const tokens = files.find((name) => name.endsWith('tokens.json')) ?? '';
  expect(JSON.parse(await readFile(join(folder, tokens), 'utf8'))).toEqual({
    access_token: guarded.grants[0]?.access,
    refresh_token: guarded.grants[0]?.refresh,
    expires_in: 3600,
    obtained_at: expect.any(Number),
  });
});

it('stores what registration, authorization server and token reply say, and sends the secret of its client', async () => {
  const { guarded, server, begin, complete } = await open({ own: true });
  const secret = {
    client_secret: 's3cret',
    client_secret_expires_at: 0,
    token_endpoint_auth_method: 'client_secret_post',
  };
  Object.assign(guarded.behaviour, {
    registrationReply: secret,
    metadataOverrides: { token_endpoint_auth_methods_supported: ['client_secret_post'] },
    resourceOverrides: { scopes_supported: ['look', 'offline'] },
  });
  const { flowId, authorizationUrl } = await begin();
  const query = new URL(authorizationUrl).searchParams;
  expect(query.get('scope')).toBe('look offline');
  await signIn(authorizationUrl);
  expect((await complete(flowId)).code).toBe(0);

  const folder = join(server.home, 'credentials', 'mcp');
  const stored: Record<string, unknown> = {};
  for (const name of await readdir(folder)) {
    const kind = /[.-](client|discovery|meta|tokens)\.json$/.exec(name)?.[1];
    if (kind) stored[kind] = JSON.parse(await readFile(join(folder, name), 'utf8'));
  }
  expect(stored).toEqual({
    client: {
      issuer: guarded.origin,
      client_id: query.get('client_id'),
      redirect_uri: query.get('redirect_uri'),
      ...secret,
    },
    discovery: {
      issuer: guarded.origin,
      authorization_server: expect.stringMatching(new RegExp(`^${guarded.origin}/?$`)),
      token_endpoint: `${guarded.origin}/token`,
      token_endpoint_auth_methods_supported: ['client_secret_post'],
      resource: guarded.url,
    },
    meta: { granted: 'look offline' },
    tokens: expect.objectContaining({ access_token: guarded.grants[0]?.access, scope: 'look offline' }),
  });
  expect(guarded.tokenCalls.at(-1)?.get('client_secret')).toBe('s3cret');
});

it('does not sign in again if already signed in', async () => {
  const { guarded, server, v2, begin, complete, locator } = await open({ own: true });
  const changes: unknown[] = [];
  server.app.mcpAuth.onChanged((change) => changes.push(change));
  const { flowId, authorizationUrl } = await begin();
  await signIn(authorizationUrl);
  expect((await complete(flowId)).code).toBe(0);
  expect((await v2('POST', '/auth:begin', locator())).data).toEqual({ status: 'already-authorized' });
  const id = credentialId('guarded', guarded.url);
  // Both changes reconnect servers that wait for a sign-in.
  expect(changes).toEqual([
    { id, kind: 'saved' },
    { id, kind: 'saved' },
  ]);
});

it.each(['openid', 'none'] as const)('finds the authorization server with metadata %s', async (metadata) => {
  const { guarded, begin, complete } = await open();
  guarded.behaviour.metadata = metadata;
  const { flowId, authorizationUrl } = await begin();
  await signIn(authorizationUrl);
  expect((await complete(flowId)).code).toBe(0);
});

it('finds metadata that only a refusal names', async () => {
  const { guarded, begin, complete } = await open();
  guarded.behaviour.resourceMetadata = 'challenge';
  guarded.behaviour.resourceOverrides = { scopes_supported: ['told'] };
  const { flowId, authorizationUrl } = await begin();
  expect(new URL(authorizationUrl).searchParams.get('scope')).toBe('told');
  await signIn(authorizationUrl);
  expect((await complete(flowId)).code).toBe(0);
});

it('flows of one credential share an authorization, and each call completes with it', async () => {
  const { guarded, v2, begin, complete } = await open();
  const [first, second] = await Promise.all([begin(), begin()]);
  expect(second.authorizationUrl).toBe(first.authorizationUrl);
  expect(second.flowId).not.toBe(first.flowId);
  expect(guarded.registrations).toHaveLength(1);
  const waiting = [complete(first.flowId), complete(second.flowId), complete(second.flowId)];
  await signIn(first.authorizationUrl);
  for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject({ code: 0, data: null });
  expect(await complete(first.flowId)).toMatchObject({ code: 40001, msg: `Unknown MCP OAuth flow: ${first.flowId}` });
  expect((await v2('POST', '/auth:cancel', { flowId: first.flowId })).data).toBeNull();
});

it('a callback that arrives before any wait is stored', async () => {
  const { begin, complete } = await open();
  const { flowId, authorizationUrl } = await begin();
  const { status, page, url } = await signIn(authorizationUrl);
  expect([status, page]).toEqual([200, expect.stringContaining('Received')]);
  await eventually(async () => expect(await (await fetch(url)).text()).toContain('Signed in'));
  expect((await complete(flowId)).code).toBe(0);
});

it('the page of a callback whose code is refused never reports success', async () => {
  const { guarded, begin, complete } = await open();
  const { flowId, authorizationUrl } = await begin();
  let refuse: () => void = () => undefined;
  const refused = new Promise<void>((resolve) => (refuse = resolve));
  guarded.behaviour.intercept = (request, response) => {
    if (request.url !== '/token') return false;
    void refused.then(() => response.writeHead(400).end('{"error":"invalid_grant"}'));
    return true;
  };
  const first = await signIn(authorizationUrl);
  expect([first.status, first.page]).toEqual([200, expect.stringContaining('Received')]);
  expect(await (await fetch(first.url)).text()).toContain('Received');
  refuse();
  await eventually(async () => expect(await (await fetch(first.url)).text()).toContain('Sign-in failed'));
  expect((await complete(flowId)).msg).toContain('invalid_grant');
});

it('requests tokens for the URL of a server without resource metadata', async () => {
  const { guarded, begin, complete } = await open();
  guarded.behaviour.resourceMetadata = 'none';
  const { flowId, authorizationUrl } = await begin();
  expect(new URL(authorizationUrl).searchParams.get('resource')).toBe(guarded.url);
  await signIn(authorizationUrl);
  expect((await complete(flowId)).code).toBe(0);
  expect(guarded.tokenCalls.map((call) => call.get('resource'))).toEqual([guarded.url]);
});

it('requests tokens for a URL without user name and query, unless the metadata has a query', async () => {
  const { guarded, add, begin, complete } = await open();
  const secretive = new URL(`${guarded.url}?key=secret`);
  secretive.username = 'me';
  secretive.password = 'hidden';
  await add('secretive', { url: secretive.href });
  guarded.behaviour.resourceMetadata = 'none';
  const { flowId, authorizationUrl } = await begin('secretive');
  expect(new URL(authorizationUrl).searchParams.get('resource')).toBe(guarded.url);
  expect(authorizationUrl).not.toMatch(/secret|hidden|me@/);
  await signIn(authorizationUrl);
  expect((await complete(flowId)).code).toBe(0);
  expect(guarded.tokenCalls.map((call) => call.get('resource'))).toEqual([guarded.url]);
  expect(JSON.stringify(guarded.registrations)).not.toMatch(/secret|hidden/);

  guarded.behaviour.resourceMetadata = 'well-known';
  guarded.behaviour.resourceOverrides = { resource: `${guarded.url}?tenant=1` };
  await add('tenant', { url: `${guarded.url}?tenant=1` });
  const named = await begin('tenant');
  expect(new URL(named.authorizationUrl).searchParams.get('resource')).toBe(`${guarded.url}?tenant=1`);
});

it('accepts the callback URL from a browser on another machine', async () => {
  const { begin, complete, v2 } = await open();
  const { flowId, authorizationUrl } = await begin();
  const callback = new URL(authorizationUrl).searchParams.get('redirect_uri') ?? '';
  const bad = ['nowhere', callback, `${callback}?`, `${callback}/x?code=1`, callback.replace('127.0.0.1', 'localhost')];
  for (const redirectUrl of [...bad, callback.replace('http:', 'https:')]) {
    expect(await complete(flowId, { redirectUrl })).toMatchObject({
      code: 40001,
      details: [{ path: 'redirectUrl', message: expect.any(String) }],
    });
  }
  const redirected = await fetch(authorizationUrl, { redirect: 'manual' });
  expect(await complete(flowId, { redirectUrl: redirected.headers.get('location') })).toMatchObject({ code: 0 });
  expect((await v2('POST', '/servers:test', { name: 'guarded' })).data).toMatchObject({ success: true });
});

const badCallbacks: [string, (state: string) => string, string][] = [
  ['no code', (state) => `state=${state}`, 'the callback has no code'],
  ['a code that nobody gave', (state) => `code=x&state=${state}`, 'invalid_grant: it is invalid_grant'],
  ['an error', (state) => `error=access_denied&state=${state}`, 'OAuth error: access_denied'],
  [
    'an error with its description',
    (state) => `error=access_denied&error_description=not%0Atoday&state=${state}`,
    'OAuth error: access_denied — not today',
  ],
];
it.each(badCallbacks)('a callback with %s ends the flow', async (_what, query, cause) => {
  const { guarded, begin, complete } = await open();
  const { flowId, authorizationUrl } = await begin();
  const { searchParams } = new URL(authorizationUrl);
  const state = searchParams.get('state') ?? '';
  const done = complete(flowId);
  const response = await fetch(`${searchParams.get('redirect_uri')}?${query(state)}`);
  if (!query(state).startsWith('code=x&state=')) expect(response.status).toBe(400);
  expect(await done).toMatchObject({ code: 40929, msg: `OAuth flow for "guarded" failed: ${cause}`, data: null });
  expect((await complete(flowId)).code).toBe(40001);
  expect(guarded.grants).toEqual([]);
});

/** Another text of the same length. */
const altered = (state: string) => (state.startsWith('A') ? 'B' : 'A') + state.slice(1);
const foreignStates: [string, (state: string) => string][] = [
  ['none', () => 'code=x'],
  ['an empty one', () => 'code=x&state='],
  ['another one', () => 'code=x&state=other'],
  ['another one of the same length', (state) => `code=x&state=${altered(state)}`],
  ['another one, with an error', (state) => `error=access_denied&state=${altered(state)}`],
  ['its own after another one', (state) => `code=x&state=${altered(state)}&state=${state}`],
];
it.each(foreignStates)('a callback with a wrong state changes nothing: %s', async (_what, query) => {
  const { guarded, server, begin, complete } = await open();
  const { flowId, authorizationUrl } = await begin();
  const { searchParams } = new URL(authorizationUrl);
  const callback = `${searchParams.get('redirect_uri')}?${query(searchParams.get('state') ?? '')}`;
  const waits = nextWait(server);
  const done = complete(flowId);
  await waits();
  for (let tries = 0; tries < 3; tries += 1) {
    const response = await fetch(callback);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('Sign-in failed')]);
  }
  expect(await complete(flowId, { redirectUrl: callback })).toMatchObject({
    code: 40001,
    details: [{ path: 'redirectUrl', message: expect.any(String) }],
  });
  expect(guarded.grants).toEqual([]);
  expect((await signIn(authorizationUrl)).status).toBe(200);
  expect(await done).toMatchObject({ code: 0, data: null });
});

it('reports a denial, and the callback server answers no other request', async () => {
  const { guarded, begin, complete } = await open();
  guarded.behaviour.denial = { error: 'access_denied', error_description: '<b>no</b>' };
  const { flowId, authorizationUrl } = await begin();
  const callback = new URL(authorizationUrl).searchParams.get('redirect_uri') ?? '';
  expect((await fetch(new URL('/', callback))).status).toBe(404);
  expect((await fetch(callback, { method: 'POST' })).status).toBe(404);
  const { status, page } = await signIn(authorizationUrl);
  expect(status).toBe(400);
  expect(page).not.toContain('<b>');
  expect((await complete(flowId)).msg).toContain('OAuth error: access_denied — <b>no</b>');
  await expect(fetch(callback)).rejects.toThrow('fetch failed');
});

it('a wait settles on time-out, on cancel, and when the client disconnects', async () => {
  const { server, v2, begin, complete } = await open();
  const timedOut = await begin();
  const callback = new URL(timedOut.authorizationUrl).searchParams.get('redirect_uri') ?? '';
  expect(await complete(timedOut.flowId, { timeoutMs: 1 })).toMatchObject({
    code: 40929,
    msg: 'OAuth flow for "guarded" failed: OAuth callback timed out',
  });
  await expect(fetch(callback)).rejects.toThrow('fetch failed');

  const cancelled = await begin();
  const cancelledWaits = nextWait(server);
  const done = complete(cancelled.flowId);
  await cancelledWaits();
  await v2('POST', '/auth:cancel', { flowId: cancelled.flowId });
  expect(await done).toMatchObject({
    code: 40929,
    msg: 'OAuth flow for "guarded" failed: the sign-in was cancelled',
  });
  expect((await v2('POST', '/auth:cancel', { flowId: 'unknown' })).data).toBeNull();

  const left = await begin();
  const gone = new AbortController();
  const waits = nextWait(server);
  const asked = server.fetch('/api/v2/mcp/auth:complete', {
    method: 'POST',
    body: JSON.stringify({ flowId: left.flowId }),
    headers: { 'content-type': 'application/json' },
    signal: gone.signal,
  });
  await waits();
  gone.abort();
  await expect(asked).rejects.toThrow(/abort/i);
  await eventually(async () => expect((await complete(left.flowId, { timeoutMs: 50 })).code).toBe(40001));
});

it('cancelling one handle does not affect the others', async () => {
  const { v2, begin, complete } = await open();
  const first = await begin();
  const second = await begin();
  const done = complete(second.flowId);
  await v2('POST', '/auth:cancel', { flowId: first.flowId });
  expect((await complete(first.flowId)).code).toBe(40001);
  await signIn(second.authorizationUrl);
  expect((await done).code).toBe(0);
});

it('reset removes all credentials, ends running flows, and is idempotent', async () => {
  const { server, v2, begin, complete, locator, statuses } = await open({ own: true });
  const { flowId, authorizationUrl } = await begin();
  await signIn(authorizationUrl);
  await complete(flowId);
  const changes: unknown[] = [];
  server.app.mcpAuth.onChanged(({ kind }) => changes.push(kind));
  expect((await v2('POST', '/auth:reset', locator())).data).toBeNull();
  expect((await v2('POST', '/auth:reset', locator())).code).toBe(0);
  expect(changes).toEqual(['removed', 'removed']);
  const folder = join(server.home, 'credentials', 'mcp');
  const [lock = '', ...others] = await readdir(folder);
  expect(others).toEqual([]);
  // Lock numbers only increase; the empty file names no owner.
  expect([lock, (await stat(join(folder, lock))).size]).toEqual([expect.stringMatching(/\.lock\.3$/), 0]);
  expect(await statuses()).toEqual([{ name: 'guarded', authStatus: 'oauth-required' }]);
  const again = await begin();
  const waits = nextWait(server);
  const waiting = complete(again.flowId);
  await waits();
  await v2('POST', '/auth:reset', locator());
  expect((await waiting).code).toBe(40929);
});

it('refuses to sign in to servers without a sign-in', async () => {
  const { v2, add, guarded } = await open();
  await v2('POST', '/servers', { name: 'stdio', transport: 'stdio', command: 'x' });
  await add('bearer', { bearerTokenEnvVar: 'TOKEN' });
  await add('headers', { headers: { Authorization: 'x' } });
  const begin = (locator: unknown) => v2('POST', '/auth:begin', locator);
  const at = (name: string) => ({ source: 'global', name });
  expect(await begin(at('no'))).toMatchObject({ code: 40408, msg: 'MCP server "no" was not found' });
  expect(await begin(at('stdio'))).toMatchObject({
    code: 40001,
    msg: 'MCP server "stdio" does not use a remote transport',
  });
  expect(await begin(at('bearer'))).toMatchObject({
    code: 40001,
    msg: 'MCP server "bearer" uses a static bearer token',
  });
  expect(await begin(at('headers'))).toMatchObject({
    code: 40001,
    msg: 'MCP server "headers" uses static headers and is not marked for OAuth',
  });
  expect(await begin({ source: 'file', name: 'x' })).toMatchObject({
    code: 40001,
    msg: expect.stringMatching(/^source: /),
  });
  expect(await begin({ source: 'plugin', pluginId: 'p', serverName: 's' })).toMatchObject({ code: 40408 });
  expect((await v2('POST', '/auth:reset', at('stdio'))).msg).toBe('MCP server "stdio" does not use a remote transport');
  expect((await v2('POST', '/auth:reset', at('no'))).code).toBe(40408);
  expect((await v2('POST', '/auth:reset', at('bearer'))).code).toBe(0);
  for (const timeoutMs of [0, 1.5, 2 ** 31]) {
    const answer = await v2('POST', '/auth:complete', { flowId: 'x', timeoutMs });
    expect(answer).toMatchObject({ code: 40001, msg: expect.stringMatching(/^timeoutMs: /) });
  }
  expect(guarded.requests).toEqual([]);

  // Headers that are no credentials, and a disabled server.
  await add('marked', { headers: { 'X-Own': 'x' }, auth: 'oauth', enabled: false });
  expect(await begin(at('marked'))).toMatchObject({ code: 0, data: { status: 'authorization-required' } });
  await add('unset', { url: 'http://${NO_SUCH}/mcp' });
  expect(await begin(at('unset'))).toMatchObject({
    code: 40929,
    msg: 'failed to start OAuth flow for "unset": environment variable NO_SUCH is not set',
  });
});

const hostile: [string, Record<string, unknown>, RegExp][] = [
  [
    'a script as the address to open',
    { authorization_endpoint: 'javascript:alert(1)' },
    /cannot be understood|does not go to/,
  ],
  [
    'data as the address to open',
    { authorization_endpoint: 'data:text/html,x' },
    /cannot be understood|does not go to/,
  ],
  [
    'a file as the address to open',
    { authorization_endpoint: 'file:///etc/passwd' },
    /cannot be understood|does not go to file/,
  ],
  [
    'an unencrypted host',
    { authorization_endpoint: 'http://elsewhere.example/authorize' },
    /does not go to http:\/\/elsewhere\.example/,
  ],
  [
    'a registration elsewhere',
    { registration_endpoint: 'http://169.254.169.254/register' },
    /does not go to http:\/\/169\.254/,
  ],
  ['another issuer', { issuer: 'https://elsewhere.example' }, /issuer/i],
  ['no registration', { registration_endpoint: undefined }, /does not support dynamic client registration/],
  ['no PKCE', { code_challenge_methods_supported: ['plain'] }, /code challenge method S256/],
  ['nothing of PKCE', { code_challenge_methods_supported: undefined }, /code challenge method S256/],
  [
    'a page with the host of another one before it',
    { authorization_endpoint: 'https://accounts.example@evil.example/authorize' },
    /has a user name in it/,
  ],
  ['a page with a password', { authorization_endpoint: 'https://:x@evil.example/authorize' }, /has a user name in it/],
  ['what is no metadata', { response_types_supported: 7 }, /cannot be understood/],
  ['too much', { padding: 'x'.repeat(2_000_000) }, /larger than/],
];
it.each(hostile)('refuses a server that names %s', async (_what, overrides, cause) => {
  const { guarded, v2, locator } = await open();
  guarded.behaviour.metadataOverrides = overrides;
  const answer = await v2('POST', '/auth:begin', locator());
  expect(answer).toMatchObject({ code: 40929, data: null });
  expect(answer.msg).toMatch(/^failed to start OAuth flow for "guarded": /);
  expect(answer.msg).toMatch(cause);
  expect(answer.msg.length).toBeLessThan(400);
});

it('does not follow a server to other origins', async () => {
  const { guarded, v2, begin, locator } = await open();
  const visits: string[] = [];
  const other = createServer((request, response) => {
    visits.push(request.url ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.2', resolve));
  onTestFinished(() => void other.close());
  const { port } = z.object({ port: z.number() }).parse(other.address());
  const elsewhere = `http://127.0.0.2:${port}`;
  // Redirects of each document and of the registration endpoint.
  for (const path of ['/.well-known/oauth-authorization-server', '/register', '/mcp']) {
    guarded.behaviour.intercept = (request, response) => {
      if (request.url !== path) return false;
      response.writeHead(307, { location: `${elsewhere}${path}` }).end();
      return true;
    };
    if (path === '/mcp') {
      expect((await v2('POST', '/servers:test', { name: 'guarded' })).data).toMatchObject({ success: false });
    } else if (path === '/register') {
      expect((await v2('POST', '/auth:begin', locator())).code).toBe(40929);
    } else {
      // Treated as missing metadata: the default paths of the server are used.
      const { flowId, authorizationUrl } = await begin();
      expect(new URL(authorizationUrl).origin).toBe(guarded.origin);
      await v2('POST', '/auth:cancel', { flowId });
    }
  }
  guarded.behaviour.intercept = undefined;
  // Metadata of another resource.
  guarded.behaviour.resourceOverrides = { resource: `${elsewhere}/mcp` };
  expect((await v2('POST', '/auth:begin', locator())).msg).toMatch(/the sign-in of another resource/);
  expect(visits).toEqual([]);
});

it('requests only the advertised scopes, plus those that a refusal named in addition to the granted ones', async () => {
  const { guarded, server, begin, complete, statuses } = await open();
  guarded.behaviour.resourceOverrides = { scopes_supported: ['read', 'list'] };
  guarded.behaviour.metadataOverrides = { scopes_supported: ['read', 'offline_access'] };
  const scope = ({ authorizationUrl }: { authorizationUrl: string }) =>
    new URL(authorizationUrl).searchParams.get('scope');
  const first = await begin();
  expect(scope(first)).toBe('read list offline_access');
  await signIn(first.authorizationUrl);
  await complete(first.flowId);

  guarded.behaviour.neededScope = 'write';
  expect(await statuses('?verify=true')).toEqual([{ name: 'guarded', authStatus: 'oauth-expired' }]);
  await server.app.mcpAuth.scopeMissing({ name: 'guarded', url: guarded.url }, 'write');
  const second = await begin();
  expect(scope(second)?.split(' ').toSorted()).toEqual(['list', 'offline_access', 'read', 'write']);
  await signIn(second.authorizationUrl);
  expect((await complete(second.flowId)).code).toBe(0);
  expect(await statuses('?verify=true')).toEqual([{ name: 'guarded', authStatus: 'oauth-authorized' }]);
  // The client registration is reused, with its port.
  expect(guarded.registrations).toHaveLength(1);
});

it('registers again if the port of the registration is in use', async () => {
  const { guarded, v2, begin, complete, locator } = await open();
  const first = await begin();
  await signIn(first.authorizationUrl);
  await complete(first.flowId);
  guarded.revokeAll();
  const taken = new URL(new URL(first.authorizationUrl).searchParams.get('redirect_uri') ?? '');
  const squatter = createServer();
  await eventually(async () => {
    await new Promise<void>((resolve, reject) => {
      squatter.once('error', reject);
      squatter.listen(Number(taken.port), '127.0.0.1', resolve);
    });
  });
  onTestFinished(() => void squatter.close());
  // The server refuses both the token and its refresh.
  expect((await v2('POST', '/servers:test', { name: 'guarded' })).data).toMatchObject({ success: false });
  const second = await begin();
  expect(new URL(second.authorizationUrl).searchParams.get('redirect_uri')).not.toBe(taken.href);
  await signIn(second.authorizationUrl);
  expect((await complete(second.flowId)).code).toBe(0);
  expect(guarded.registrations).toHaveLength(2);
  expect((await v2('POST', '/auth:begin', locator())).data).toEqual({ status: 'already-authorized' });
});

it('reports the stored status without a connection, and the verified one with it', async () => {
  const { guarded, v2, add, begin, complete, statuses } = await open();
  await add('pinned', { auth: 'oauth' });
  await v2('POST', '/servers', { name: 'stdio', transport: 'stdio', command: 'x' });
  const of = async (query: string) =>
    Object.fromEntries((await statuses(query)).map((one) => [one.name, one.authStatus]));
  expect(await of('?verify=false')).toEqual({
    guarded: 'not-applicable',
    pinned: 'oauth-required',
    stdio: 'not-applicable',
  });
  expect(guarded.requests).toEqual([]);
  expect(await of('')).toMatchObject({ guarded: 'oauth-required', pinned: 'oauth-required' });
  expect(guarded.requests.filter((line) => line === 'POST /mcp')).toHaveLength(1);
  expect(await of('?verify=true')).toMatchObject({ guarded: 'oauth-required', pinned: 'oauth-required' });

  const { flowId, authorizationUrl } = await begin();
  await signIn(authorizationUrl);
  await complete(flowId);
  expect(await of('?verify=false')).toMatchObject({ guarded: 'oauth-authorized' });
  guarded.revokeAll();
  expect(await of('')).toMatchObject({ guarded: 'oauth-authorized' });
  // A new token is not refreshed after its first refusal, which may be a late answer; the second one invalidates it.
  expect(await of('?verify=true')).toMatchObject({ guarded: 'oauth-expired' });
  expect(await of('?verify=true')).toMatchObject({ guarded: 'oauth-expired' });
  expect(await of('?verify=false')).toMatchObject({ guarded: 'not-applicable' });
  expect(await of('?verify=true')).toMatchObject({ guarded: 'oauth-required' });
  await guarded.close();
  expect(await of('?verify=true')).toMatchObject({ guarded: 'not-applicable', pinned: 'oauth-required' });
  for (const bad of ['?verify=1', '?verify=', '?verify=yes']) {
    expect(await v2('GET', `/auth-statuses${bad}`)).toMatchObject({
      code: 40001,
      msg: expect.stringMatching(/^verify: /),
    });
  }
});

it('returns and logs no part of a grant', async () => {
  const { guarded, server, lines, v2, begin, complete, statuses, locator } = await open({ own: true });
  guarded.behaviour.lifetime = 1;
  const shown: unknown[] = [];
  const { flowId, authorizationUrl } = await begin();
  await signIn(authorizationUrl);
  shown.push(await complete(flowId));
  shown.push(await v2('GET', '/servers'), await statuses('?verify=true'), await v2('POST', '/servers:inspect', {}));
  guarded.revokeAll();
  shown.push(await v2('POST', '/servers:test', { name: 'guarded' }), await statuses('?verify=true'));
  shown.push(await v2('POST', '/auth:reset', locator()));
  const logs = await readdir(join(server.home, 'logs'), { recursive: true, withFileTypes: true });
  const files = await Promise.all(
    logs.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')),
  );
  const all = `${JSON.stringify(shown)}${lines.join('')}${files.join('')}`;
  expect(guarded.grants.length).toBeGreaterThan(0);
  for (const { access, refresh } of guarded.grants) {
    expect(all).not.toContain(access);
    expect(all).not.toContain(refresh);
  }
  expect(lines.join('')).not.toContain(new URL(authorizationUrl).searchParams.get('state'));
  expect(all).not.toMatch(/code-[0-9a-f]{8}/);
});

it('stopping the server settles the waits', async () => {
  const { server, begin, complete } = await open({ own: true });
  const { flowId } = await begin();
  const waits = nextWait(server);
  const done = complete(flowId);
  await waits();
  await server.app.close();
  expect(await done).toMatchObject({ code: 40929, msg: expect.stringMatching(/shutting down/) });
});
