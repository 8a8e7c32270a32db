/** The servers of installed plugins, as MCP receives them. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createPluginServers } from '#server/app/plugin-servers.ts';
import { usePlugins, writeFiles } from '#support/plugins.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();

it('the first request for servers waits until the plugins are loaded', async () => {
  const home = join(folder.path, 'home');
  await mkdir(home);
  const source = await writeFiles(join(folder.path, 'source'), {
    'service.plugin.json': {
      name: 'tools',
      mcpServers: { one: { command: 'node' }, off: { command: 'node', enabled: false } },
    },
  });
  const { plugins: first } = usePlugins(home);
  await first.install(source);
  await first.close();

  const { plugins } = usePlugins(home, 'server_2');
  const servers = createPluginServers(plugins);
  const root = join(home, 'plugins', 'managed', 'tools');
  const plugin = { id: 'tools', root, revision: expect.stringMatching(/^\d{4}-/) };
  const config = { transport: 'stdio', command: 'node', cwd: root };
  expect(await servers.enabled()).toEqual([{ plugin, name: 'one', config, enabled: true }]);
  expect((await servers.installed()).map(({ name, enabled }) => [name, enabled])).toEqual([
    ['one', true],
    ['off', false],
  ]);
});
