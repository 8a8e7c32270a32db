/** MCP servers that plugins contribute: in sessions, in the management, with sign-in, and in hostile plugins. */
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { groupRuns } from '#server/processes/process-group.ts';
import { inspectionSchema, managedServerSchema } from '#schema/rest/mcp-management.ts';
import { hasNoted, mcpTalks, noted, serverStatuses, type McpTalks } from '#support/mcp-talk.ts';
import { signIn, startOAuthMcpServer } from '#support/oauth-mcp-server.ts';
import { eventually } from '#support/patience.ts';
import { SERVER, writePlugin } from '#support/mcp-plugin.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { call, callThenText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

const EVERYTHING = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const REMOVED = 'was removed from the configuration. Do not call its tools again';

const folder = useTemporaryFolder();
let world: World;
let mcp: McpTalks;
beforeAll(async () => {
  world = await startWorld({ config: { default_permission_mode: 'yolo' } });
  mcp = mcpTalks(world);
});
afterEach(async () => {
  await mcp.endAll();
  const data = await world.ok('GET', '/plugins');
  const { plugins } = z.object({ plugins: z.array(z.looseObject({ id: z.string() })) }).parse(data);
  for (const { id } of plugins) await act(id, 'remove');
  await mcp.configure({});
});
afterAll(() => world.close());

/** An entry that runs the plugin's copy of the misbehaving server. */
const own = (file = '', more: object = {}) => ({
  command: 'node',
  args: [`\${SERVICE_PLUGIN_ROOT}/${SERVER}`, '', file],
  ...more,
});

interface InstallOptions {
  files?: Record<string, string>;
  /** Called with the directory before the install. */
  prepare?(root: string): Promise<unknown>;
  /** Further members of the manifest. */
  manifest?: object;
}

async function install(
  name: string,
  mcpServers: object,
  { files = {}, prepare, manifest = {} }: InstallOptions = {},
): Promise<string> {
  const root = await writePlugin(join(folder.path, `source-${name}`), { name, mcpServers, ...manifest }, files);
  await prepare?.(root);
  await world.ok('POST', '/plugins', { source: root });
  return join(world.server.home, 'plugins', 'managed', name);
}

const act = (id: string, action: 'enable' | 'disable' | 'remove') => world.ok('POST', `/plugins/${id}:${action}`);
const v2 = (method: string, path: string, body?: unknown) => world.api(method, `/api/v2/mcp${path}`, body);
const catalog = async () => z.array(managedServerSchema).parse((await v2('GET', '/servers')).data);
const rows = async () => (await mcp.servers()).map(({ name, status }) => `${name} ${status}`);
const turn = (talk: Talk) => talk.turn('go', [{ text: 'Done.' }]);
const outcome = async (talk: Talk, name: string, text = 'hi') =>
  (await talk.turn('go', callThenText(name, { text }))).results[0];
const tested = async (name: string) =>
  z.object({ success: z.boolean(), output: z.string() }).parse((await v2('POST', '/servers:test', { name })).data);

it('a server of a plugin is for new sessions; it runs in the plugin, with the variables', async () => {
  const old = await mcp.talk();
  await turn(old);
  const root = await install('tools', {
    one: own(),
    all: { command: 'node', args: [EVERYTHING, 'stdio'], enabledTools: ['echo'] },
    off: own('', { enabled: false }),
  });
  const talk = await mcp.talk(old);
  expect(await outcome(talk, 'mcp__plugin-tools_one__echo', 'cwd')).toMatchObject({ output: root, isError: false });
  const result = await outcome(talk, 'mcp__plugin-tools_one__echo', 'env');
  expect(JSON.parse(result?.output ?? '')).toMatchObject({
    SERVICE_CODE_HOME: world.server.home,
    SERVICE_PLUGIN_ROOT: root,
  });
  expect(await mcp.toolNames(talk)).toEqual(
    expect.arrayContaining(['mcp__plugin-tools_one__echo', 'mcp__plugin-tools_all__echo']),
  );
  expect(await rows()).toEqual(['plugin-tools:one connected', 'plugin-tools:all connected']);
  expect(await mcp.toolNames(old)).toEqual([]);
});

it('a change of the plugins is applied before its request is answered, and ends the program', async () => {
  const file = mcp.notes();
  await install('tools', { one: own(file) });
  const talk = await mcp.talk();
  await turn(talk);
  const group = async (n: number) => Number([...(await noted(file)).matchAll(/started (\d+)/g)][n]?.[1]);
  const first = await group(0);
  expect(await groupRuns(first)).toBe(true);

  await act('tools', 'disable');
  expect(await rows()).toEqual([]);
  await eventually(async () => expect(await groupRuns(first)).toBe(false));
  expect(serverStatuses(talk, 'plugin-tools:one')).toEqual(['pending', 'connected', 'removed']);
  expect(await mcp.toolNames(talk)).toEqual(['mcp__plugin-tools_one__echo']);
  expect(await outcome(talk, 'mcp__plugin-tools_one__echo')).toMatchObject({
    output: expect.stringContaining(REMOVED),
    isError: true,
  });
  expect(await world.api('POST', '/mcp/servers/plugin-tools%3Aone:restart')).toMatchObject({ code: 40408 });
  const fresh = await mcp.talk(talk);
  await turn(fresh);
  expect(await mcp.toolNames(fresh)).toEqual([]);

  await act('tools', 'enable');
  expect(await outcome(talk, 'mcp__plugin-tools_one__echo')).toMatchObject({ output: 'echo: hi' });
  const second = await group(1);
  // The program of a replaced copy does not continue to run.
  await install('tools', { one: own(file) });
  await eventually(async () => expect(await groupRuns(second)).toBe(false));
  expect(await outcome(talk, 'mcp__plugin-tools_one__echo')).toMatchObject({ output: 'echo: hi' });
  const third = await group(2);
  await install('others', { one: own() });
  await act('tools', 'enable');
  expect(await groupRuns(third)).toBe(true);

  await act('tools', 'remove');
  await eventually(async () => expect(await groupRuns(third)).toBe(false));
  expect(await rows()).toEqual([expect.stringMatching(/^plugin-others:one /)]);
  expect(await outcome(talk, 'mcp__plugin-tools_one__echo')).toMatchObject({
    output: expect.stringContaining(REMOVED),
  });
});

it('a call that runs when its plugin is disabled ends like later ones', async () => {
  const file = mcp.notes();
  await install('tools', { one: own(file) });
  const talk = await mcp.talk();
  const { prompt_id } = await talk.prompt('go', [
    { calls: [call('mcp__plugin-tools_one__echo', { text: 'hang' })] },
    { text: 'Done.' },
  ]);
  await hasNoted(file, 'call echo hang');
  await act('tools', 'disable');
  await talk.settled(prompt_id);
  expect((await talk.nth('tool.result', 1)).payload).toMatchObject({
    output: expect.stringContaining(REMOVED),
    isError: true,
  });
  expect((await noted(file)).match(/started/g)).toHaveLength(1);
});

it('a change by another server of the home, and a switch of a server, are applied', async () => {
  await install('tools', { one: own(), two: own() });
  const talk = await mcp.talk();
  await turn(talk);
  const path = join(world.server.home, 'plugins', 'installed.json');
  const registry = z
    .looseObject({ plugins: z.array(z.looseObject({})) })
    .parse(JSON.parse(await readFile(path, 'utf8')));
  const write = (fields: object) =>
    writeFile(path, JSON.stringify({ ...registry, plugins: registry.plugins.map((row) => ({ ...row, ...fields })) }));
  await write({ capabilities: { mcpServers: { two: { enabled: false } } } });
  await eventually(async () => expect(await rows()).toEqual(['plugin-tools:one connected']));
  expect((await catalog()).map(({ name, config }) => [name, config.enabled])).toEqual([
    ['plugin-tools:one', true],
    ['plugin-tools:two', false],
  ]);
  await write({ enabled: false });
  await eventually(async () => expect(await rows()).toEqual([]));
});

it('a file overrides a server of a plugin, also to disable it; the catalog lists both', async () => {
  const root = await install('tools', {
    one: own('', { env: { B: 'secret', A: 'secret' } }),
    two: own(),
    away: { url: 'https://x.example/mcp#part', headers: { K: 'secret' } },
  });
  const user = join(world.server.home, 'mcp.json');
  await mcp.configure({ 'plugin-tools:two': { command: 'mine', enabled: false } });
  const talk = await mcp.talk();
  await turn(talk);
  expect(await rows()).toEqual([
    'plugin-tools:one connected',
    'plugin-tools:two disconnected',
    expect.stringMatching(/^plugin-tools:away /),
  ]);
  expect(await mcp.toolNames(talk)).toEqual(['mcp__plugin-tools_one__echo']);

  const stdio = { transport: 'stdio', command: 'node', cwd: root };
  const envKeys = ['SERVICE_CODE_HOME', 'SERVICE_PLUGIN_ROOT'];
  const args = own().args;
  const common = { source: 'plugin', origin: 'tools', mutable: false };
  const plugin = (name: string) => ({ ...common, plugin: { id: 'tools', name } });
  const listed = await catalog();
  expect(listed).toEqual([
    {
      name: 'plugin-tools:two',
      config: { transport: 'stdio', command: 'mine', enabled: false },
      source: 'global',
      origin: user,
      mutable: true,
    },
    {
      name: 'plugin-tools:one',
      config: { ...stdio, args, enabled: true, envKeys: ['A', 'B', ...envKeys] },
      ...plugin('one'),
    },
    { name: 'plugin-tools:two', config: { ...stdio, args, enabled: true, envKeys }, ...plugin('two') },
    {
      name: 'plugin-tools:away',
      config: { transport: 'http', url: 'https://x.example/mcp#part', headerKeys: ['K'], enabled: true },
      ...plugin('away'),
    },
  ]);
  expect((await v2('GET', '/servers/plugin-tools%3Atwo')).data).toEqual(listed[0]);
  expect((await v2('GET', '/servers/plugin-tools%3Aone')).data).toEqual(listed[1]);
  await act('tools', 'disable');
  expect((await catalog()).map(({ config }) => config.enabled)).toEqual([false, false, false, false]);
});

it('requests cannot change a server of a plugin, and may define one of its name', async () => {
  await install('tools', { one: own() });
  const path = '/servers/plugin-tools%3Aone';
  const config = { transport: 'stdio', command: 'mine' };
  expect(await v2('PUT', path, config)).toMatchObject({ code: 40408 });
  expect(await v2('DELETE', path)).toMatchObject({ code: 40408 });
  expect((await v2('POST', '/servers', { name: 'plugin-tools:one', ...config })).data).toMatchObject([
    { name: 'plugin-tools:one', source: 'global' },
    { name: 'plugin-tools:one', source: 'plugin' },
  ]);
  expect(await v2('POST', '/servers:test', { name: 'plugin-tools:one' })).toMatchObject({
    code: 40001,
    msg: 'MCP runtime name "plugin-tools:one" is shared by multiple enabled servers',
  });
  expect((await v2('DELETE', path)).data).toMatchObject([{ source: 'plugin' }]);
  expect(await tested('plugin-tools:one')).toEqual({
    success: true,
    output: 'Connected to MCP server "plugin-tools:one".\nAvailable tools: 1\n- echo: Says it again.',
  });
});

it('an unreadable registry fails all routes of the catalog; sessions have no servers of plugins', async () => {
  await install('tools', { one: own() });
  const path = join(world.server.home, 'plugins', 'installed.json');
  const text = await readFile(path, 'utf8');
  const talk = await mcp.talk();
  await turn(talk);
  await writeFile(path, '{"secret": ');
  try {
    await eventually(async () => expect(await rows()).toEqual([]));
    const config = { transport: 'stdio', command: 'x' };
    const locator = { source: 'plugin', pluginId: 'tools', serverName: 'one' };
    for (const answer of [
      await v2('GET', '/servers'),
      await v2('GET', '/servers/x'),
      await v2('POST', '/servers', { name: 'x', ...config }),
      await v2('PUT', '/servers/x', config),
      await v2('DELETE', '/servers/x'),
      await v2('GET', '/auth-statuses'),
      await v2('POST', '/servers:inspect', {}),
      await v2('POST', '/servers:test', { name: 'x' }),
      await v2('POST', '/auth:begin', locator),
      await v2('POST', '/auth:reset', locator),
    ]) {
      expect(answer).toMatchObject({ code: 50001, data: null });
      expect(answer.msg).toMatch(/^Plugin state failed to load: /);
      expect(answer.msg).not.toContain('secret');
    }
    expect(await v2('POST', '/servers:test', { server: { name: 'x', ...config, enabled: false } })).toMatchObject({
      code: 0,
    });
    expect(await v2('POST', '/auth:cancel', { flowId: 'x' })).toMatchObject({ code: 0 });
    // No file was written.
    expect(await readFile(join(world.server.home, 'mcp.json'), 'utf8')).toBe('{"mcpServers":{}}');
  } finally {
    await writeFile(path, text);
  }
  await eventually(async () => expect(await rows()).toEqual(['plugin-tools:one connected']));
});

it('locators find servers of plugins; inspections of them are redacted', async () => {
  await install('tools', { 'o ne': own('', { env: { A: 'secret' } }), off: own('', { enabled: false }) });
  const locator = (pluginId: string, serverName: string) => ({ source: 'plugin', pluginId, serverName });
  const inspect = (...targets: object[]) => v2('POST', '/servers:inspect', { targets });
  const { data } = await inspect(locator('tools', 'off'), locator('TOOLS', 'o ne'));
  expect(z.array(inspectionSchema).parse(data)).toMatchObject([
    { serverId: 'plugin:tools:off', enabled: false, runtimeName: 'plugin-tools:off' },
    {
      serverId: 'plugin:tools:o%20ne',
      locator: locator('tools', 'o ne'),
      origin: 'plugin',
      enabled: true,
      editable: false,
      config: { envKeys: ['A', 'SERVICE_CODE_HOME', 'SERVICE_PLUGIN_ROOT'] },
      authStatus: 'not-applicable',
    },
  ]);
  expect(JSON.stringify(data)).not.toContain('secret');
  expect(await inspect(locator('Tools', 'none'))).toMatchObject({
    code: 40408,
    msg: 'MCP server "Tools/none" was not found',
  });
  expect(await inspect({ source: 'global', name: 'plugin-tools:off' })).toMatchObject({ code: 40408 });
});

it('signs in to a server of a plugin; the removal of the plugin removes the grant', async () => {
  const guarded = await startOAuthMcpServer();
  await install('tools', { away: { url: guarded.url, auth: 'oauth' } });
  const talk = await mcp.talk();
  await turn(talk);
  expect(serverStatuses(talk, 'plugin-tools:away')).toEqual(['pending', 'needs-auth']);
  const locator = { source: 'plugin', pluginId: 'tools', serverName: 'away' };
  const flow = async () =>
    z
      .object({ flowId: z.string(), authorizationUrl: z.string() })
      .parse((await v2('POST', '/auth:begin', locator)).data);
  const statuses = async () => (await v2('GET', '/auth-statuses?verify=true')).data;

  const { flowId } = await flow();
  expect(await v2('POST', '/auth:cancel', { flowId })).toMatchObject({ code: 0 });
  const again = await flow();
  const complete = v2('POST', '/auth:complete', { flowId: again.flowId });
  await signIn(again.authorizationUrl);
  expect(await complete).toMatchObject({ code: 0 });
  await mcp.status('plugin-tools:away', 'connected');
  expect(await mcp.toolNames(talk)).toContain('mcp__plugin-tools_away__look');
  expect(await statuses()).toEqual([{ name: 'plugin-tools:away', authStatus: 'oauth-authorized' }]);

  expect(await v2('POST', '/auth:reset', locator)).toMatchObject({ code: 0 });
  await mcp.status('plugin-tools:away', 'error');
  expect(await statuses()).toEqual([{ name: 'plugin-tools:away', authStatus: 'oauth-required' }]);

  const third = await flow();
  const done = v2('POST', '/auth:complete', { flowId: third.flowId });
  await signIn(third.authorizationUrl);
  expect(await done).toMatchObject({ code: 0 });
  const stored = async () =>
    (await readdir(join(world.server.home, 'credentials', 'mcp'))).filter((name) => name.endsWith('-tokens.json'));
  expect(await stored()).toHaveLength(1);
  await act('tools', 'disable');
  expect(await stored()).toHaveLength(1);
  await act('tools', 'remove');
  expect(await stored()).toEqual([]);
});

it('a name that a file defines too cannot be signed in to while the other entry is enabled', async () => {
  await install('tools', { away: { url: 'https://x.example/mcp', auth: 'oauth' } });
  await mcp.configure({ 'plugin-tools:away': { url: 'https://y.example/mcp' } });
  const locator = { source: 'plugin', pluginId: 'tools', serverName: 'away' };
  for (const action of ['begin', 'reset']) {
    expect(await v2('POST', `/auth:${action}`, locator)).toMatchObject({
      code: 40001,
      msg: 'MCP runtime name "plugin-tools:away" is shared by multiple enabled servers',
    });
  }
});

it('servers that leave their plugin are dropped from the manifest; the others are offered', async () => {
  const root = await install(
    'hostile',
    {
      up: { command: './../../bin/sh' },
      absolute: { command: '/bin/sh' },
      relative: { command: 'bin/run' },
      linked: { command: './sh' },
      outside: { ...own(), cwd: './out' },
      above: { ...own(), cwd: '..' },
      entry: 'text',
      good: { command: './bin/run', cwd: './bin' },
    },
    {
      files: { 'bin/run': `#!/bin/sh\nexec ${process.execPath} "$SERVICE_PLUGIN_ROOT/${SERVER}"\n` },
      async prepare(source) {
        await symlink('/bin/sh', join(source, 'sh'));
        await symlink('/', join(source, 'out'));
      },
    },
  );
  expect((await catalog()).map(({ name }) => name)).toEqual(['plugin-hostile:good']);
  const talk = await mcp.talk();
  expect(await outcome(talk, 'mcp__plugin-hostile_good__echo', 'cwd')).toMatchObject({ output: join(root, 'bin') });
});

it('a link that leads out since the manifest was read is refused at the connection', async () => {
  const root = await install(
    'hostile',
    { program: { command: './bin/run' }, directory: { command: './run', cwd: './work' }, good: own() },
    {
      files: { 'bin/run': `#!/bin/sh\ntouch "${folder.path}/ran"\n`, run: `#!/bin/sh\ntouch "${folder.path}/ran"\n` },
      prepare: (source) => mkdir(join(source, 'work')),
    },
  );
  await rm(join(root, 'bin', 'run'));
  await cp(join(root, 'run'), join(folder.path, 'elsewhere', 'run'));
  await symlink(join(folder.path, 'elsewhere', 'run'), join(root, 'bin', 'run'));
  await rm(join(root, 'work'), { recursive: true });
  await symlink(folder.path, join(root, 'work'));
  expect(await tested('plugin-hostile:program')).toEqual({
    success: false,
    output: 'the command of the server is outside its plugin',
  });
  const talk = await mcp.talk();
  await turn(talk);
  expect((await mcp.servers()).map(({ name, last_error }) => [name, last_error])).toEqual([
    ['plugin-hostile:program', 'the command of the server is outside its plugin'],
    ['plugin-hostile:directory', 'the directory of the server is outside its plugin'],
    ['plugin-hostile:good', undefined],
  ]);
  expect(await readdir(folder.path)).not.toContain('ran');
});

it('a plugin whose manifest has an error has no servers; the others of the home are there after a restart', async () => {
  await install('broken', { one: own() }, { manifest: { skills: '/elsewhere' } });
  await install('tools', { one: own() });
  expect((await catalog()).map(({ name }) => name)).toEqual(['plugin-tools:one']);
  await mcp.endAll();
  await world.restart();
  const talk = await mcp.talk();
  await turn(talk);
  expect(await mcp.toolNames(talk)).toEqual(['mcp__plugin-tools_one__echo']);
});
