import { expect, it } from 'vitest';
import type { ManagedServer } from '#schema/rest/mcp-management.ts';
import { configOf, emptyForm, formOf } from '../../../web/features/mcp/form.ts';
import { shownServers, summaryOf, type Known } from '../../../web/features/mcp/servers.ts';

const managed = (name: string, config: ManagedServer['config'], mutable = true): ManagedServer => ({
  name,
  config,
  source: 'global',
  origin: '/home/mcp.json',
  mutable,
});
const remote = { transport: 'http', url: 'https://x.example/mcp' } as const;
const nothing: Known = { configured: [], running: [], statuses: [], tools: [] };

it('combines the data about each server', () => {
  const shown = shownServers({
    configured: [
      managed('a b', { transport: 'stdio', command: 'run', args: ['x'] }),
      managed('off', { ...remote, enabled: false }),
      managed('guarded', remote),
      managed('broken', { transport: 'stdio', command: 'run', envKeys: ['K'] }, false),
      managed('new', remote),
      managed('slow', remote),
    ],
    running: [
      { id: 'a b', name: 'a b', transport: 'stdio', status: 'connected', tool_count: 1 },
      {
        id: 'guarded',
        name: 'guarded',
        transport: 'http',
        status: 'error',
        tool_count: 0,
        last_error: 'requires OAuth',
      },
      {
        id: 'broken',
        name: 'broken',
        transport: 'stdio',
        status: 'error',
        tool_count: 0,
        last_error: 'exit 1\nlast words',
      },
      { id: 'slow', name: 'slow', transport: 'http', status: 'connecting', tool_count: 0 },
    ],
    statuses: [
      { name: 'guarded', authStatus: 'oauth-required' },
      { name: 'slow', authStatus: 'oauth-authorized' },
    ],
    tools: [
      { name: 'mcp__a_b__look', description: 'Looks.', input_schema: null, source: 'mcp', mcp_server_id: 'a_b' },
      { name: 'Bash', description: 'Runs.', input_schema: null, source: 'builtin' },
    ],
  });
  expect(shown.map(({ name, tone, state }) => [name, tone, state])).toEqual([
    ['a b', 'good', '1 tool'],
    ['off', 'idle', 'disabled'],
    ['guarded', 'attention', 'sign-in needed'],
    ['broken', 'bad', 'failed'],
    ['new', 'idle', 'not started'],
    ['slow', 'idle', 'connecting…'],
  ]);
  expect(shown[0]?.tools).toEqual([{ name: 'look', description: 'Looks.' }]);
  expect(shown.map(({ error }) => error)).toEqual([
    undefined,
    undefined,
    undefined,
    'exit 1\nlast words',
    undefined,
    undefined,
  ]);
  expect(shown.map(({ canSignIn }) => canSignIn)).toEqual([false, false, true, false, false, false]);
  expect(shown.map(({ canSignOut }) => canSignOut)).toEqual([false, false, false, false, false, true]);
  expect(shown.map(({ editable }) => editable)).toEqual([true, true, true, false, true, true]);
  expect(shown.map(({ connecting }) => connecting)).toEqual([false, false, false, false, false, true]);
  expect(shownServers(nothing)).toEqual([]);
});

it('a server of a plugin can be signed in to; one whose name a file defines is marked', () => {
  const ofPlugin = (name: string, server: string): ManagedServer => ({
    ...managed(name, remote, false),
    source: 'plugin',
    origin: 'p',
    plugin: { id: 'p', name: server },
  });
  const shown = shownServers({
    configured: [managed('plugin-p:b', remote), ofPlugin('plugin-p:a', 'a'), ofPlugin('plugin-p:b', 'b')],
    running: [{ id: 'plugin-p:b', name: 'plugin-p:b', transport: 'http', status: 'connected', tool_count: 2 }],
    statuses: [
      { name: 'plugin-p:b', authStatus: 'oauth-authorized' },
      { name: 'plugin-p:a', authStatus: 'oauth-required' },
      { name: 'plugin-p:b', authStatus: 'oauth-required' },
    ],
    tools: [],
  });
  expect(shown.map(({ origin, state, canSignIn, canSignOut }) => [origin, state, canSignIn, canSignOut])).toEqual([
    ['/home/mcp.json', '2 tools', false, true],
    ['plugin p', 'sign-in needed', true, false],
    ['plugin p', 'overridden by a file', false, false],
  ]);
  expect(shown.map(({ locator }) => locator)).toEqual([
    { source: 'global', name: 'plugin-p:b' },
    { source: 'plugin', pluginId: 'p', serverName: 'a' },
    { source: 'plugin', pluginId: 'p', serverName: 'b' },
  ]);
  expect(new Set(shown.map(({ key }) => key)).size).toBe(3);
});

it('displays the command or the address', () => {
  expect(summaryOf({ transport: 'stdio', command: 'npx', args: ['-y', 'x'] })).toBe('npx -y x');
  expect(summaryOf(remote)).toBe(remote.url);
});

it('a form returns the server that it was filled from', () => {
  const servers = [
    {
      transport: 'stdio',
      command: 'run',
      args: ['a b', '--x=1'],
      env: { A: ' b=c', D: '' },
      cwd: 'sub',
      runtime_id: 'local',
    },
    { transport: 'stdio', command: 'run', enabled: false, startupTimeoutMs: 5, enabledTools: ['a'], disabledTools: [] },
    { ...remote, headers: { 'X-Key': 'a: b' }, auth: 'oauth', toolTimeoutMs: 7 },
    { ...remote, transport: 'sse', bearerTokenEnvVar: 'TOKEN' },
  ] as const;
  for (const server of servers) {
    const copy = structuredClone(server) as Parameters<typeof configOf>[1] & object;
    expect(configOf(formOf('x', copy), copy)).toEqual(server);
  }
});

it('a filled form returns a server, or reports the invalid line', () => {
  const form = { ...emptyForm(), name: 'x', command: ' npx ', args: '-y\n\nserver\n', env: 'A=1\n' };
  expect(configOf(form)).toEqual({ transport: 'stdio', command: 'npx', args: ['-y', 'server'], env: { A: '1' } });
  expect(() => configOf({ ...form, env: 'nothing' })).toThrow('“nothing” is not of the form name=value');
  expect(() => configOf({ ...form, transport: 'http', url: 'x', headers: ': x' })).toThrow(
    'is not of the form name:value',
  );
  expect(configOf({ ...form, transport: 'http', url: ' https://x.example ' })).toEqual({
    transport: 'http',
    url: 'https://x.example',
  });
});
