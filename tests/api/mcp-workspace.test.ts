/** The MCP servers of a workspace: start on demand, manual changes, restart, sign-in. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { groupRuns } from '#server/processes/process-group.ts';
import { hasNoted, hostile, mcpTalks, noted, type McpTalks, serverStatuses } from '#support/mcp-talk.ts';
import { signIn, startOAuthMcpServer } from '#support/oauth-mcp-server.ts';
import { callThenText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let libraryLoaded = false;
vi.mock('@modelcontextprotocol/client', async (original) => {
  libraryLoaded = true;
  return original();
});

let world: World;
let mcp: McpTalks;
beforeAll(async () => {
  world = await startWorld({ config: { default_permission_mode: 'yolo' } });
  mcp = mcpTalks(world);
});
afterEach(() => mcp.endAll());
afterAll(() => world.close());

const turn = (talk: Talk) => talk.turn('go', [{ text: 'Done.' }]);
const outcome = async (talk: Talk, name: string, args: unknown = { text: 'hi' }) =>
  (await talk.turn('go', callThenText(name, args))).results[0];

test('without servers no MCP library is loaded, and no event is published', async () => {
  expect(await mcp.servers()).toEqual([]);
  const talk = await mcp.talk();
  await turn(talk);
  expect(await mcp.servers()).toEqual([]);
  expect(libraryLoaded).toBe(false);
  expect(talk.all('mcp.server.status')).toEqual([]);
});

test('servers start with the first turn or a list request, not with a session', async () => {
  const file = mcp.notes();
  await mcp.configure({ one: hostile('', file), off: { ...hostile(), enabled: false } });
  const first = await mcp.talk();
  await world.snapshot(first.session.id);
  await world.ok('GET', `/tools?session_id=${first.session.id}`);
  expect(await noted(file)).toBe('');
  expect((await mcp.servers()).map(({ name, status }) => `${name} ${status}`)).toEqual([
    'one connecting',
    'off disconnected',
  ]);
  expect(await mcp.status('one', 'connected')).toEqual({
    id: 'one',
    name: 'one',
    transport: 'stdio',
    status: 'connected',
    tool_count: 1,
  });
  // An unused session gets no event; its turn finds the server connected.
  expect(first.all('mcp.server.status')).toEqual([]);
  expect(await outcome(first, 'mcp__one__echo')).toMatchObject({ output: 'echo: hi' });
  expect(first.all('mcp.server.status')).toEqual([]);
  expect((await noted(file)).match(/started/g)).toHaveLength(1);
});

test('an added server is for new sessions; a removed or disabled one is reported', async () => {
  await mcp.configure({ one: hostile(), gone: hostile() });
  const old = await mcp.talk();
  await turn(old);
  await mcp.configure({ one: hostile(), added: hostile() });
  expect(await outcome(old, 'mcp__gone__echo')).toMatchObject({
    output: expect.stringContaining('was removed from the configuration'),
    isError: true,
  });
  expect(serverStatuses(old, 'gone')).toEqual(['pending', 'connected', 'removed']);
  expect(await mcp.toolNames(old)).toEqual(expect.arrayContaining(['mcp__one__echo', 'mcp__gone__echo']));
  const fresh = await mcp.talk(old);
  expect(await outcome(fresh, 'mcp__added__echo')).toMatchObject({ output: 'echo: hi' });
  expect((await mcp.toolNames(fresh)).toSorted()).toEqual(['mcp__added__echo', 'mcp__one__echo']);
  expect(await mcp.toolNames(old)).not.toContain('mcp__added__echo');
  expect(serverStatuses(old, 'added')).toEqual([]);
  expect((await mcp.servers()).map(({ name, status }) => `${name} ${status}`)).toEqual([
    'one connected',
    'gone disconnected',
    'added connected',
  ]);

  await mcp.configure({ one: { ...hostile(), enabled: false }, added: hostile() });
  expect(await mcp.toolNames(old)).toEqual(['mcp__gone__echo']);
  expect((await old.nth('tool.list.updated', 3)).payload).toMatchObject({
    reason: 'mcp.disconnected',
    serverName: 'one',
  });
  expect(await world.api('POST', '/mcp/servers/one:restart')).toMatchObject({
    code: 40001,
    msg: 'MCP server is disabled: one',
  });
  expect(await world.api('POST', '/mcp/servers/gone:restart')).toMatchObject({ code: 40408 });
});

test('a restart publishes its steps in order, whether it succeeds or not', async () => {
  const file = mcp.notes();
  await mcp.configure({ one: hostile('', file), later: hostile('crash-once', mcp.notes()) });
  expect(await world.api('POST', '/mcp/servers/one:restart')).toMatchObject({ code: 40408 });
  const talk = await mcp.talk();
  await turn(talk);
  expect(serverStatuses(talk, 'later')).toEqual(['pending', 'failed']);
  const seen = talk.events.durable(talk.session.id).length;
  expect((await world.api('POST', '/mcp/servers/one:restart')).data).toEqual({ restarting: true });
  await talk.nth('tool.list.updated', 2);
  const told = talk.events.durable(talk.session.id).slice(seen);
  expect(told.map(({ type, payload }) => `${type} ${JSON.stringify(payload.server ?? payload.reason)}`)).toEqual([
    'mcp.server.status {"name":"one","transport":"stdio","status":"pending","toolCount":0}',
    'mcp.server.status {"name":"one","transport":"stdio","status":"connected","toolCount":1}',
    'tool.list.updated "mcp.connected"',
  ]);
  await Promise.all([world.ok('POST', '/mcp/servers/one:restart'), world.ok('POST', '/mcp/servers/one:restart')]);
  expect(await mcp.status('one', 'connected')).toBeDefined();
  expect(await outcome(talk, 'mcp__one__echo')).toMatchObject({ output: 'echo: hi' });
  // A restart also recovers a failed server.
  await world.ok('POST', '/mcp/servers/later:restart');
  expect(await mcp.status('later', 'connected')).toMatchObject({ tool_count: 1 });
  expect(await world.api('POST', '/mcp/servers/none:restart')).toMatchObject({
    code: 40408,
    msg: 'MCP server none does not exist',
  });
  expect(await world.api('POST', '/mcp/servers/one:stop')).toMatchObject({ code: 40001 });
});

test('servers of a project are used as soon as it is trusted; a broken file results in a warning', async () => {
  await mcp.configure({});
  const talk = await mcp.talk();
  const root = talk.session.metadata.cwd;
  await mkdir(join(root, '.service-code'), { recursive: true });
  await writeFile(join(root, '.service-code', 'mcp.json'), JSON.stringify({ mcpServers: { own: hostile() } }));
  expect(await mcp.servers()).toEqual([]);
  await world.ok('POST', `/workspaces/${talk.session.workspace_id}/trust`);
  expect(await mcp.status('own', 'connected')).toMatchObject({ tool_count: 1 });
  expect(await outcome(talk, 'mcp__own__echo')).toMatchObject({ output: 'echo: hi' });
  await writeFile(join(root, '.service-code', 'mcp.json'), '{ broken');
  await world.server.app.mcpConfig.reload();
  expect(await outcome(talk, 'mcp__own__echo')).toMatchObject({ output: 'echo: hi' });
  const warning = talk.all('warning').at(-1)?.payload;
  expect(warning).toMatchObject({
    code: 'mcp-config-invalid',
    message: expect.stringContaining(join(root, '.service-code')),
  });
  expect(await world.ok('GET', `${talk.path}/warnings`)).toMatchObject({
    warnings: [{ code: 'mcp-config-invalid', severity: 'warning' }],
  });
  await world.ok('POST', `/workspaces/${talk.session.workspace_id}/untrust`);
  expect(await mcp.status('own', 'disconnected')).toBeDefined();
});

test('a server that requires a sign-in has one tool, and its real tools afterwards', async () => {
  const guarded = await startOAuthMcpServer();
  await mcp.configure({ guarded: { url: guarded.url } });
  const talk = await mcp.talk();
  await turn(talk);
  expect(serverStatuses(talk, 'guarded')).toEqual(['pending', 'needs-auth']);
  expect(await mcp.toolNames(talk)).toEqual(['mcp__guarded__authenticate']);
  expect(await mcp.status('guarded', 'error')).toMatchObject({ last_error: expect.stringContaining('requires OAuth') });
  const running = outcome(talk, 'mcp__guarded__authenticate', {});
  const told = await talk.events.waitFor(
    ({ type, payload }) => type === 'tool.progress' && JSON.stringify(payload).includes('mcp.oauth.authorization_url'),
  );
  const { customData } = (told.payload as { update: { customData: { authorizationUrl: string; serverName: string } } })
    .update;
  expect(customData.serverName).toBe('guarded');
  await signIn(customData.authorizationUrl);
  expect(await running).toMatchObject({ output: expect.stringContaining('Signed in to guarded'), isError: false });
  expect(await mcp.toolNames(talk)).toEqual(expect.arrayContaining(['mcp__guarded__look']));
  expect(await mcp.toolNames(talk)).not.toContain('mcp__guarded__authenticate');
  expect(serverStatuses(talk, 'guarded').slice(-2)).toEqual(['pending', 'connected']);
});

test('programs exit with the last used session of their workspace', async () => {
  const file = mcp.notes();
  await mcp.configure({ one: hostile('grandchild', file) });
  const first = await mcp.talk();
  const second = await mcp.talk(first);
  await mcp.talk(first);
  await turn(first);
  await turn(second);
  await hasNoted(file, 'grandchild');
  const group = Number(/started (\d+)/.exec(await noted(file))?.[1]);
  await world.ok('POST', `${first.path}:archive`);
  expect(await groupRuns(group)).toBe(true);
  await world.ok('POST', `${second.path}:archive`);
  expect(await groupRuns(group)).toBe(false);
});
