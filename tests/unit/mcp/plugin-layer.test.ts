/** Servers of plugins as the first layer of a workspace's servers, and in the catalog. */
import { expect, it } from 'vitest';
import type { PluginServer } from '#server/mcp/config/plugin-layer.ts';
import type { McpServerSet } from '#server/mcp/config/workspace-servers.ts';
import { openMcpConfig, putFile } from '#support/mcp-config.ts';

const serverOf = (id: string, name: string, more: Partial<PluginServer> = {}): PluginServer => ({
  plugin: { id, root: `/plugins/${id}`, revision: '1' },
  name,
  config: { transport: 'stdio', command: 'run' },
  enabled: true,
  ...more,
});

async function open() {
  const opened = await openMcpConfig();
  const workspace = opened.config.workspace(opened.root);
  const sets: McpServerSet[] = [];
  workspace.onChange((set) => void sets.push(set));
  return { ...opened, workspace, sets, entries: async () => (await workspace.load()).entries };
}

it('an entry has the directory of the plugin, and its variables', async () => {
  const { home, plugins, entries } = await open();
  plugins.servers = [
    serverOf('p', 'a', { config: { transport: 'stdio', command: 'run', cwd: '/plugins/p/sub', enabled: false } }),
    serverOf('p', 'b'),
    serverOf('p', 'c', { config: { transport: 'http', url: 'https://x.example', headers: {} } }),
  ];
  const variables = {
    SERVICE_OAUTH_HOST: 'https://host.example',
    SERVICE_CODE_HOME: home,
    SERVICE_PLUGIN_ROOT: '/plugins/p',
  };
  const common = { source: 'plugin', origin: 'p', mutable: false };
  const plugin = (name: string) => ({ id: 'p', name, root: '/plugins/p', revision: '1', variables });
  expect(await entries()).toEqual([
    {
      name: 'plugin-p:a',
      // The switch of the registry overrides that of the manifest.
      config: { transport: 'stdio', command: 'run', cwd: '/plugins/p/sub', enabled: true },
      ...common,
      plugin: plugin('a'),
    },
    {
      name: 'plugin-p:b',
      config: { transport: 'stdio', command: 'run', cwd: '/plugins/p', enabled: true },
      ...common,
      plugin: plugin('b'),
    },
    {
      name: 'plugin-p:c',
      config: { transport: 'http', url: 'https://x.example', headers: {}, enabled: true },
      ...common,
      plugin: plugin('c'),
    },
  ]);
});

it('files override servers of plugins at their position, also with disabled entries', async () => {
  const { user, shared, plugins, entries } = await open();
  plugins.servers = [serverOf('p', 'a'), serverOf('p', 'off', { enabled: false }), serverOf('q', 'a')];
  await putFile(user, {
    mcpServers: { first: { command: 'x' }, 'plugin-q:a': { command: 'mine', enabled: false } },
  });
  await putFile(shared, { mcpServers: { 'plugin-p:off': { command: 'shared' } } });
  expect((await entries()).map(({ name, source, config }) => [name, source, config.enabled])).toEqual([
    ['plugin-p:a', 'plugin', true],
    ['plugin-q:a', 'global', false],
    ['first', 'global', undefined],
    ['plugin-p:off', 'global', undefined],
  ]);
});

it('the catalog lists all servers of plugins after those of files, whatever their names', async () => {
  const { config, user, plugins } = await open();
  plugins.servers = [serverOf('p', 'a'), serverOf('p', 'off', { enabled: false }), serverOf('q', 'a')];
  await putFile(user, { mcpServers: { 'plugin-q:a': { command: 'mine', enabled: false }, last: { command: 'x' } } });
  expect((await config.catalog()).map(({ name, source, config: { enabled } }) => [name, source, enabled])).toEqual([
    ['plugin-q:a', 'global', false],
    ['last', 'global', undefined],
    ['plugin-p:a', 'plugin', true],
    ['plugin-p:off', 'plugin', false],
    ['plugin-q:a', 'plugin', true],
  ]);
});

it('the catalog cannot be read without the registry of plugins; an invalid file is reported first', async () => {
  const { config, user, plugins } = await open();
  plugins.unreadable = true;
  await expect(config.catalog()).rejects.toMatchObject({ name: 'internal.error' });
  await putFile(user, '{');
  await expect(config.catalog()).rejects.toMatchObject({ name: 'validation.failed' });
});

it('a reload applies a change of the plugins, and an install of the same version', async () => {
  const { config, plugins, entries, sets } = await open();
  plugins.servers = [serverOf('p', 'a')];
  expect(await entries()).toHaveLength(1);
  const before = sets.length;
  await config.reload();
  expect(sets).toHaveLength(before);
  plugins.servers = [serverOf('p', 'a', { plugin: { id: 'p', root: '/plugins/p', revision: '2' } })];
  await config.reload();
  plugins.servers = [];
  await config.reload();
  expect(sets.slice(before).map((set) => set.entries.map(({ plugin }) => plugin?.revision))).toEqual([['2'], []]);
});
