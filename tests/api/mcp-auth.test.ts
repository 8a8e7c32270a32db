/** Signing in to MCP servers over REST. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { signIn, startOAuthMcpServer } from '#support/oauth-mcp-server.ts';
import { startServer } from '#support/server.ts';

const flowSchema = z.object({
  status: z.literal('authorization-required'),
  flowId: z.uuid(),
  authorizationUrl: z.url(),
});

async function open() {
  const lines: string[] = [];
  const guarded = await startOAuthMcpServer();
  const server = await startServer();
  onTestFinished(() => server.close());
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

it('signs in: discovery, registration, PKCE, and the server can be used', async () => {
  const { guarded, server, v2, begin, complete, statuses } = await open();
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
  expect(files.map((name) => name.replace(/^guarded-[0-9a-f]{24}-/, '')).toSorted()).toEqual([
    'client.json',
    'discovery.json',
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
