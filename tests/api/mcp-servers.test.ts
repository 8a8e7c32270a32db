/** The configured MCP servers over REST: list, change and test. */
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { createLogger } from '#server/logging/log.ts';
import { managedServerSchema } from '#schema/rest/mcp-management.ts';
import { putFile } from '#support/mcp-config.ts';
import { startOAuthMcpServer } from '#support/oauth-mcp-server.ts';
import { eventually } from '#support/patience.ts';
import { startServer } from '#support/server.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const everything = join(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);

async function open(env: Record<string, string> = {}) {
  const lines: string[] = [];
  const base = await temporaryHome();
  const home = join(base, 'home');
  const root = join(base, 'project');
  await mkdir(home);
  await mkdir(join(root, '.git'), { recursive: true });
  const server = await startServer({
    home,
    env: () => ({ ...process.env, ...env }),
    log: createLogger('trace', (line) => lines.push(line)),
  });
  onTestFinished(() => server.close());
  const v2 = (method: string, path: string, body?: unknown) => server.api(method, `/api/v2/mcp${path}`, body);
  return {
    home,
    root,
    server,
    lines,
    v2,
    user: join(home, 'mcp.json'),
    cwd: `?cwd=${encodeURIComponent(root)}`,
    list: async (query = '') => z.array(managedServerSchema).parse((await v2('GET', `/servers${query}`)).data),
    names: async (query = '') =>
      z
        .array(managedServerSchema)
        .parse((await v2('GET', `/servers${query}`)).data)
        .map(({ name }) => name),
    async trust(path = root) {
      const { data } = await server.api('POST', '/workspaces', { root: path });
      const { id } = z.object({ id: z.string() }).parse(data);
      await server.api('POST', `/workspaces/${id}/trust`);
      return id;
    },
  };
}

it('adds, lists, gets, replaces and removes a server', async () => {
  const { user, v2, list } = await open();
  expect(await list()).toEqual([]);
  const config = { transport: 'stdio', command: 'run', args: ['a'], env: { KEY: 'secret' } };
  const entry = { name: 'one', config, source: 'global', origin: user, mutable: true };
  expect(
    (await v2('POST', '/servers', { name: ' one ', ...config, unknown: 1, url: 'x', executor: 'y' })).data,
  ).toEqual([entry]);
  expect((await stat(user)).mode & 0o777).toBe(0o600);
  expect(await readFile(user, 'utf8')).toBe(`${JSON.stringify({ mcpServers: { one: config } }, null, 2)}\n`);
  expect((await v2('GET', '/servers/one')).data).toEqual(entry);
  const other = {
    transport: 'sse',
    url: 'https://x.example/sse#part',
    headers: {},
    auth: 'oauth',
    startupTimeoutMs: 1,
  };
  expect((await v2('PUT', '/servers/%20one', { name: 'ignored', ...other })).data).toEqual([
    { ...entry, config: other },
  ]);
  expect((await v2('DELETE', '/servers/one')).data).toEqual([]);
  expect(await readFile(user, 'utf8')).toBe('{\n  "mcpServers": {}\n}\n');
});

it('accepts names with any characters', async () => {
  const { v2, names } = await open();
  const odd = ['a/b', 'a:b:test', '__proto__', 'ü ✓', 'constructor', '%2F', '10', 'servers:test'];
  for (const name of odd)
    expect((await v2('POST', '/servers', { name, transport: 'stdio', command: 'x' })).code).toBe(0);
  expect((await names()).toSorted()).toEqual(odd.toSorted());
  for (const name of odd) {
    const path = `/servers/${encodeURIComponent(name)}`;
    expect((await v2('GET', path)).data).toMatchObject({ name });
    expect((await v2('PUT', path, { transport: 'stdio', command: 'y' })).code).toBe(0);
    expect((await v2('DELETE', path)).code).toBe(0);
  }
  expect(await names()).toEqual([]);
});

const refusals: [string, unknown, RegExp][] = [
  ['no body', undefined, /./],
  ['no transport', { name: 'x', command: 'y' }, /^transport: /],
  ['another transport', { name: 'x', transport: 'ws', url: 'ws://x' }, /^transport: /],
  ['no name', { transport: 'stdio', command: 'y' }, /^name: /],
  ['an empty name', { name: '', transport: 'stdio', command: 'y' }, /^name: /],
  ['a blank name', { name: '  ', transport: 'stdio', command: 'y' }, /^MCP server name cannot be empty$/],
  ['an empty command', { name: 'x', transport: 'stdio', command: '' }, /^command: /],
  ['a url that is none', { name: 'x', transport: 'http', url: 'nowhere' }, /^url: Invalid URL$/],
  ['another auth', { name: 'x', transport: 'http', url: 'http://x', auth: 'basic' }, /^auth: /],
  [
    'an empty variable',
    { name: 'x', transport: 'http', url: 'http://x', bearerTokenEnvVar: '' },
    /^bearerTokenEnvVar: /,
  ],
  ['a header that is no text', { name: 'x', transport: 'http', url: 'http://x', headers: { a: 1 } }, /^headers\.a: /],
  ['a time-out of 0', { name: 'x', transport: 'stdio', command: 'y', startupTimeoutMs: 0 }, /^startupTimeoutMs: /],
  [
    'a time-out above the bound',
    { name: 'x', transport: 'stdio', command: 'y', toolTimeoutMs: 2 ** 31 },
    /^toolTimeoutMs: /,
  ],
  ['a time-out of a fraction', { name: 'x', transport: 'stdio', command: 'y', toolTimeoutMs: 1.5 }, /^toolTimeoutMs: /],
  ['a runtime without name', { name: 'x', transport: 'stdio', command: 'y', runtime_id: '' }, /^runtime_id: /],
];
it('refuses invalid servers, and writes nothing', async () => {
  const { home, v2 } = await open();
  for (const [what, body, message] of refusals) {
    const answer = await v2('POST', '/servers', body);
    expect({ what, ...answer }).toMatchObject({ what, code: 40001, data: null, msg: expect.stringMatching(message) });
  }
  expect(await readdir(home)).not.toContain('mcp.json');
});

it('accepts values at the bounds', async () => {
  const { v2 } = await open();
  const answer = await v2('POST', '/servers', {
    name: 'x',
    transport: 'http',
    url: 'mailto:anything',
    startupTimeoutMs: 1,
    toolTimeoutMs: 2_147_483_647,
  });
  expect(answer.code).toBe(0);
});

it('refuses a used name, and changes of a missing server', async () => {
  const { v2 } = await open();
  const config = { transport: 'stdio', command: 'y' };
  await v2('POST', '/servers', { name: 'x', ...config });
  expect(await v2('POST', '/servers', { name: 'x ', ...config })).toMatchObject({
    code: 40001,
    msg: 'MCP server "x" already exists',
  });
  expect((await v2('POST', '/servers', { name: 'X', ...config })).code).toBe(0);
  for (const answer of [
    await v2('GET', '/servers/y'),
    await v2('PUT', '/servers/y', config),
    await v2('DELETE', '/servers/y'),
  ]) {
    expect(answer).toMatchObject({ code: 40408, msg: 'MCP server "y" was not found', data: null });
  }
  expect(await v2('PUT', '/servers/%20', config)).toMatchObject({
    code: 40001,
    msg: 'MCP server name cannot be empty',
  });
  expect(await v2('DELETE', '/servers/%20')).toMatchObject({ code: 40001, msg: 'MCP server name cannot be empty' });
});

it('a write preserves the rest of the file, through a link and with its mode', async () => {
  const { home, user, v2 } = await open();
  const target = join(dirname(home), 'servers.json');
  const document = {
    $schema: 'x',
    mcpServers: {
      b: { url: 'https://b.example', note: ['kept', 1.5, null] },
      a: { command: 'a', extra: { deep: true } },
    },
    other: { z: 1 },
  };
  await writeFile(target, JSON.stringify(document), { mode: 0o640 });
  await symlink(target, user);
  await v2('POST', '/servers', { name: 'c', transport: 'stdio', command: 'c' });
  await v2('PUT', '/servers/a', { transport: 'stdio', command: 'a2' });
  const text = await readFile(target, 'utf8');
  const expected = {
    $schema: 'x',
    mcpServers: {
      b: document.mcpServers.b,
      a: { transport: 'stdio', command: 'a2' },
      c: { transport: 'stdio', command: 'c' },
    },
    other: { z: 1 },
  };
  expect(text).toBe(`${JSON.stringify(expected, null, 2)}\n`);
  expect((await stat(target)).mode & 0o777).toBe(0o640);
  expect((await stat(user)).isFile()).toBe(true);
});

it('concurrent writers lose no change', async () => {
  const { v2, names } = await open();
  const all = Array.from({ length: 20 }, (_, at) => `s${String(at).padStart(2, '0')}`);
  await Promise.all(all.map((name) => v2('POST', '/servers', { name, transport: 'stdio', command: name })));
  expect((await names()).toSorted()).toEqual(all);
});

it('a broken file fails every route that reads it, and is not modified', async () => {
  const { user, v2, root, cwd, trust } = await open();
  await trust();
  const routes = async (query = '') => [
    await v2('GET', `/servers${query}`),
    await v2('GET', `/servers/x${query}`),
    await v2('POST', `/servers${query}`, { name: 'x', transport: 'stdio', command: 'x' }),
    await v2('PUT', `/servers/x${query}`, { transport: 'stdio', command: 'x' }),
    await v2('DELETE', `/servers/x${query}`),
    await v2('GET', `/auth-statuses${query}`),
    await v2('POST', '/servers:inspect', query === '' ? {} : { cwd: root }),
    await v2('POST', '/servers:test', { name: 'x', ...(query === '' ? {} : { cwd: root }) }),
    await v2('POST', `/auth:begin${query}`, { source: 'global', name: 'x' }),
    await v2('POST', `/auth:reset${query}`, { source: 'global', name: 'x' }),
  ];
  await writeFile(user, '{"secret-token": ');
  for (const answer of await routes()) {
    expect(answer).toMatchObject({ code: 40001, data: null });
    expect(answer.msg).toMatch(`Invalid JSON in ${user}: `);
    expect(answer.msg).not.toContain('secret');
  }
  expect(await readFile(user, 'utf8')).toBe('{"secret-token": ');
  await writeFile(user, '');
  const local = await putFile(join(root, '.service-code', 'mcp.json'), { mcpServers: { x: { command: '' } } });
  for (const answer of await routes(cwd)) {
    expect(answer.msg).toMatch(`Invalid MCP server config in ${local}: mcpServers.x: command: `);
    expect(answer.code).toBe(40001);
  }
  // Without `cwd` the project's file is not read.
  expect((await v2('GET', '/servers')).data).toEqual([]);
});

it("a trusted project's servers are listed, read-only, at the position of the name's first definition", async () => {
  const { user, root, cwd, v2, list, trust } = await open();
  await putFile(user, { mcpServers: { a: { command: 'a' }, b: { command: 'b', env: { K: 's' } } } });
  const shared = await putFile(join(root, '.mcp.json'), {
    mcpServers: { c: { command: 'c', env: { Z: 's', B: 's' } }, a: { url: 'https://x.example', headers: {} } },
  });
  const local = await putFile(join(root, '.service-code', 'mcp.json'), {
    mcpServers: { d: { url: 'https://d.example', headers: { H: 's' } } },
  });
  expect((await list(cwd)).map(({ name }) => name)).toEqual(['a', 'b']);
  await trust();
  const shown = await list(cwd);
  expect(shown).toEqual([
    {
      name: 'a',
      config: { transport: 'http', url: 'https://x.example', headerKeys: [] },
      source: 'global',
      origin: shared,
      mutable: false,
    },
    {
      name: 'b',
      config: { transport: 'stdio', command: 'b', env: { K: 's' } },
      source: 'global',
      origin: user,
      mutable: true,
    },
    {
      name: 'c',
      config: { transport: 'stdio', command: 'c', cwd: root, envKeys: ['B', 'Z'] },
      source: 'global',
      origin: shared,
      mutable: false,
    },
    {
      name: 'd',
      config: { transport: 'http', url: 'https://d.example', headerKeys: ['H'] },
      source: 'global',
      origin: local,
      mutable: false,
    },
  ]);
  expect((await v2('GET', `/servers/d${cwd}`)).data).toEqual(shown[3]);
  expect((await v2('GET', '/servers/d')).code).toBe(40408);

  const config = { transport: 'stdio', command: 'new' };
  const message = `MCP server "a" is read-only: it is defined in ${shared} — edit that file instead`;
  expect(await v2('POST', `/servers${cwd}`, { name: 'a', ...config })).toMatchObject({ code: 40001, msg: message });
  expect(await v2('PUT', `/servers/a${cwd}`, config)).toMatchObject({ code: 40001, msg: message });
  expect(await v2('DELETE', `/servers/a${cwd}`)).toMatchObject({ code: 40001, msg: message });
  // The user's entry of that name, which the project's entry overrides.
  expect((await v2('PUT', '/servers/a', config)).data).toMatchObject([{ name: 'a', config }, { name: 'b' }]);
  expect((await v2('POST', `/servers${cwd}`, { name: 'e', ...config })).data).toHaveLength(5);
});

it('trust applies to exactly this directory, the root of a workspace', async () => {
  const { root, server, v2, names, trust } = await open();
  const sub = join(root, 'sub');
  const link = join(dirname(root), 'link');
  await putFile(join(root, '.mcp.json'), { mcpServers: { shared: { command: 'c' } } });
  await putFile(join(sub, '.service-code', 'mcp.json'), { mcpServers: { sub: { command: 'c' } } });
  await symlink(root, link);
  const of = (path: string) => names(`?cwd=${encodeURIComponent(path)}`);
  const id = await trust();
  expect(await of(root)).toEqual(['shared']);
  expect(await of(link)).toEqual(['shared']);
  expect(await of(sub)).toEqual([]);
  expect(await of('project')).toEqual([]);
  expect(await of(join(root, 'missing'))).toEqual([]);
  await trust(sub);
  expect(await of(sub)).toEqual(['shared', 'sub']);
  await server.api('DELETE', `/workspaces/${id}`);
  expect(await of(root)).toEqual([]);
  for (const path of ['/servers?cwd=', '/servers/x?cwd=', '/auth-statuses?cwd=']) {
    expect(await v2('GET', path)).toMatchObject({ code: 40001, msg: expect.stringMatching(/^cwd: /) });
  }
});

it('an unknown action is refused', async () => {
  const { v2 } = await open();
  for (const path of ['/servers:bogus', '/auth:bogus']) {
    expect(await v2('POST', path, {})).toMatchObject({ code: 40001, msg: `unsupported action: ${path.slice(1)}` });
  }
});

it('tests a stored server, and one that is not stored', async () => {
  const { root, v2, lines } = await open({ EVERYTHING: everything, SERVICE_X_API_KEY: 'secret-key' });
  const config = { transport: 'stdio', command: process.execPath, args: ['${EVERYTHING}', 'stdio'] };
  await v2('POST', '/servers', { name: 'all', ...config, enabledTools: ['echo'] });
  const answers = await Promise.all([
    v2('POST', '/servers:test', { name: 'all' }),
    v2('POST', '/servers:test', { server: { name: 'inline', ...config } }),
    v2('POST', '/servers:test', { name: 'all', cwd: root }),
  ]);
  for (const { data } of answers) {
    expect(data).toMatchObject({
      success: true,
      output: expect.stringMatching(/^Connected to MCP server "(all|inline)"\.\nAvailable tools: \d\d\n- /),
    });
    expect(z.object({ output: z.string() }).parse(data).output.split('\n').length).toBeGreaterThan(10);
  }
  expect(lines.join()).not.toContain(everything);
});

it('reports why a test failed', async () => {
  const { v2, root } = await open({ PLAIN: 'p', SERVICE_X_API_KEY: 'k' });
  const node = (script: string, more = {}) => ({
    name: 'x',
    transport: 'stdio',
    command: process.execPath,
    args: ['-e', script],
    ...more,
  });
  const output = async (server: unknown, more = {}) => {
    const answer = await v2('POST', '/servers:test', { server, ...more });
    expect(answer).toMatchObject({ code: 0, data: { success: false } });
    return z.object({ output: z.string() }).parse(answer.data).output;
  };
  expect(await output({ name: 'x', transport: 'stdio', command: 'no-such-program' })).toMatch(
    /spawn no-such-program ENOENT/,
  );
  expect(await output(node('console.error("said before"); process.exit(3)'))).toMatch(/said before/);
  expect(await output(node('', { args: ['${NO_SUCH}'] }))).toBe('environment variable NO_SUCH is not set');
  expect(await output(node('', { args: ['${SERVICE_X_API_KEY}'] }))).toBe(
    'environment variable SERVICE_X_API_KEY is not set',
  );
  expect(await output(node('setInterval(() => {}, 1000)', { startupTimeoutMs: 300 }))).toMatch(/300 ms/);
  expect(await output(node('', { enabled: false }))).toBe('MCP server "x" finished with status disabled');
  expect(await output({ name: 'x', transport: 'http', url: 'http://127.0.0.1:1/mcp' })).not.toBe('');
  expect(await output({ name: 'x', transport: 'http', url: 'ftp://x.example' })).not.toBe('');
  expect(
    await output(
      node('console.error(process.cwd(), process.env.SERVICE_X_API_KEY, process.env.PLAIN); process.exit(1)'),
      { cwd: root },
    ),
  ).toMatch(`${root} undefined p`);
  await mkdir(join(root, 'sub'));
  expect(await output(node('console.error(process.cwd()); process.exit(1)', { cwd: 'sub' }), { cwd: root })).toMatch(
    join(root, 'sub'),
  );
});

it('refuses a test of no server, of two servers, and in another runtime', async () => {
  const { v2 } = await open();
  const server = { name: 'x', transport: 'stdio', command: 'x' };
  const test = (body: unknown) => v2('POST', '/servers:test', body);
  expect(await test({})).toMatchObject({ code: 40001, msg: 'Pass an MCP server name or an inline server config' });
  expect(await test({ name: 'x', server })).toMatchObject({
    code: 40001,
    msg: 'Pass either an MCP server name or an inline server config, not both',
  });
  expect(await test({ name: 'x' })).toMatchObject({ code: 40408, msg: 'MCP server "x" was not found' });
  expect(await test({ server: { ...server, runtime_id: 'other' } })).toMatchObject({ code: 40001 });
  expect(await test({ server: { command: 'x' } })).toMatchObject({
    code: 40001,
    msg: expect.stringMatching(/^server\.transport: /),
  });
  expect(await test({ name: '' })).toMatchObject({ code: 40001, msg: expect.stringMatching(/^name: /) });
});

it('a test ends with its time-out, even if the client disconnects, and leaves no process running', async () => {
  const { v2, server, home } = await open();
  const mark = join(home, 'pid');
  const script = `require('fs').writeFileSync(${JSON.stringify(mark)}, String(process.pid)); setInterval(() => {}, 1000)`;
  const body = JSON.stringify({
    server: { name: 'x', transport: 'stdio', command: process.execPath, args: ['-e', script], startupTimeoutMs: 1000 },
  });
  const gone = new AbortController();
  const asked = server.fetch('/api/v2/mcp/servers:test', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
    signal: gone.signal,
  });
  const pid = await eventually(async () => {
    const text = await readFile(mark, 'utf8');
    expect(text).not.toBe('');
    return Number(text);
  });
  gone.abort();
  await expect(asked).rejects.toThrow(/abort/i);
  await eventually(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));
  expect((await v2('GET', '/servers')).code).toBe(0);
});

it('errors contain one line of the server’s answer, without the credentials that it echoes', async () => {
  const { v2, server, home } = await open({ TOKEN_OF_MINE: 'SECRETBEARER2' });
  const hostile = createServer((request, response) => {
    const echoed = `token=${request.headers.authorization} key=${String(request.headers['x-key'])}`;
    response.writeHead(500, { 'content-type': 'text/html' }).end(`<html>\n${echoed}\n${'<p>x</p>\n'.repeat(30_000)}`);
  });
  hostile.listen(0, '127.0.0.1');
  await once(hostile, 'listening');
  onTestFinished(() => void hostile.close());
  const address = hostile.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/mcp`;
  const config = { transport: 'http', url, bearerTokenEnvVar: 'TOKEN_OF_MINE', headers: { 'x-key': 'KEY-OF-MINE' } };
  const tested = await v2('POST', '/servers:test', { server: { name: 'x', ...config } });
  const text = JSON.stringify(tested);
  expect(text).toContain('token=…');
  expect(text).not.toMatch(/SECRETBEARER2|KEY-OF-MINE|<p>x<\/p>.{400}/);
  expect(text.length).toBeLessThan(1500);

  await putFile(join(home, 'mcp.json'), { mcpServers: { x: config } });
  const created = await server.api('POST', '/sessions', { metadata: { cwd: home } });
  expect(created.code).toBe(0);
  const listed = await eventually(async () => {
    const { data } = await server.api('GET', '/mcp/servers');
    const { servers } = z.object({ servers: z.array(z.looseObject({ last_error: z.string() })) }).parse(data);
    return servers[0]?.last_error ?? expect.fail('not there yet');
  });
  expect(listed).toContain('token=…');
  expect(listed).not.toMatch(/SECRETBEARER2|KEY-OF-MINE|\n/);
  expect(listed.length).toBeLessThanOrEqual(300);
});

it('inspects the configuration and the connection', async () => {
  const { v2, user } = await open({ HOST: '127.0.0.1:1' });
  const guarded = await startOAuthMcpServer();
  const plain = await startOAuthMcpServer();
  plain.behaviour.open = true;
  await putFile(user, {
    mcpServers: {
      stdio: { command: 'x', env: { B: 's', A: 's' } },
      off: { url: 'https://off.example', enabled: false },
      bearer: { url: 'https://bearer.example', bearerTokenEnvVar: 'T' },
      headers: { url: 'https://headers.example', headers: { K: 's' } },
      'a b/c': { url: `${guarded.url}#part` },
      plain: { url: plain.url },
      away: { url: 'http://${HOST}/mcp#part', startupTimeoutMs: 5000 },
      unset: { url: 'http://${NO_SUCH}/mcp' },
    },
  });
  const before = Date.now();
  const answer = await v2('POST', '/servers:inspect', {});
  const items = z.array(z.looseObject({ checkedAt: z.number().optional() })).parse(answer.data);
  const fixed = (authStatus: string) => ({ authStatus });
  expect(items).toMatchObject([
    {
      serverId: 'global:stdio',
      runtimeName: 'stdio',
      config: { transport: 'stdio', command: 'x', envKeys: ['A', 'B'] },
      ...fixed('not-applicable'),
    },
    { serverId: 'global:off', enabled: false, canonicalUrl: 'https://off.example/', ...fixed('not-applicable') },
    { serverId: 'global:bearer', ...fixed('bearer-token') },
    { serverId: 'global:headers', config: { headerKeys: ['K'] }, ...fixed('not-applicable') },
    {
      serverId: 'global:a%20b%2Fc',
      locator: { source: 'global', name: 'a b/c' },
      canonicalUrl: guarded.url,
      editable: true,
      enabled: true,
      ...fixed('oauth-required'),
    },
    { serverId: 'global:plain', origin: 'global', ...fixed('not-applicable') },
    {
      serverId: 'global:away',
      canonicalUrl: 'http://${HOST}/mcp',
      ...fixed('unavailable'),
      error: expect.stringMatching(/./),
    },
    { serverId: 'global:unset', ...fixed('unavailable'), error: 'environment variable NO_SUCH is not set' },
  ]);
  expect(items.map(({ checkedAt }) => checkedAt !== undefined)).toEqual([
    false,
    false,
    false,
    false,
    true,
    true,
    true,
    true,
  ]);
  expect(new Set(items.slice(4).map(({ checkedAt }) => checkedAt)).size).toBe(1);
  expect(items[4]?.checkedAt).toBeGreaterThanOrEqual(before);
  expect(items[0]).not.toHaveProperty('canonicalUrl');
  expect(JSON.stringify(answer.data)).not.toContain('"s"');

  const probes = guarded.requests.length;
  const target = { source: 'global', name: 'a b/c' };
  const chosen = await v2('POST', '/servers:inspect', {
    targets: [target, { source: 'global', name: 'stdio' }, target],
  });
  expect(chosen.data).toMatchObject([{ runtimeName: 'a b/c' }, { runtimeName: 'stdio' }, { runtimeName: 'a b/c' }]);
  expect(guarded.requests.length - probes).toBeLessThanOrEqual(probes);
  expect((await v2('POST', '/servers:inspect', { targets: [] })).data).toEqual([]);
  expect(await v2('POST', '/servers:inspect', { targets: [target, { source: 'global', name: 'no' }] })).toMatchObject({
    code: 40408,
    msg: 'MCP server "no" was not found',
  });
  expect(
    await v2('POST', '/servers:inspect', { targets: [{ source: 'plugin', pluginId: 'p', serverName: 's' }] }),
  ).toMatchObject({
    code: 40408,
    msg: 'MCP server "p/s" was not found',
  });
  expect(await v2('POST', '/servers:inspect')).toMatchObject({ code: 40001 });
});

it('changes of trust and of the files are published to followers of a workspace before the reply', async () => {
  const { root, server, v2, trust } = await open();
  await putFile(join(root, '.mcp.json'), { mcpServers: { shared: { command: 'c' } } });
  const followed = server.app.mcpConfig.workspace(root);
  const entries = async () => (await followed.load()).entries.map(({ name }) => name);
  expect(await entries()).toEqual([]);
  const id = await trust();
  expect(await entries()).toEqual(['shared']);
  await v2('POST', '/servers', { name: 'mine', transport: 'stdio', command: 'x' });
  expect(await entries()).toEqual(['mine', 'shared']);
  await server.api('POST', `/workspaces/${id}/untrust`);
  expect(await entries()).toEqual(['mine']);
});
