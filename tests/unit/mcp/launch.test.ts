/** Preparation of a server's start: variables, and the bounds of a plugin's programs. */
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { prepareLaunch } from '#server/mcp/config/launch.ts';
import type { EntryPlugin } from '#server/mcp/config/layers.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';
import { putFile } from '#support/mcp-config.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();

/** Creates a plugin and returns how its server would be started. */
async function open(name = 'plugin') {
  const root = join(folder.path, name);
  await putFile(join(root, 'bin', 'run'), '#!/bin/sh\n');
  const variables = { SERVICE_CODE_HOME: folder.path, SERVICE_PLUGIN_ROOT: root };
  const plugin: EntryPlugin = { id: 'p', name: 's', root, revision: '1', variables };
  const launch = (config: McpServerConfig, env: NodeJS.ProcessEnv = { PATH: process.env.PATH }) =>
    prepareLaunch({ name: 'plugin-p:s', config, plugin }, env);
  const stdio = (config: Partial<Extract<McpServerConfig, { command: string }>> = {}, env?: NodeJS.ProcessEnv) =>
    launch({ transport: 'stdio', command: 'run', ...config }, env);
  return { root, launch, stdio };
}

it("placeholders have the plugin's variables, which override those of the environment", async () => {
  const { root, stdio, launch } = await open();
  const env = { SERVICE_PLUGIN_ROOT: '/wrong', SERVICE_CODE_HOME: '/wrong', OTHER: 'o' };
  const args = ['${SERVICE_PLUGIN_ROOT}', '${SERVICE_CODE_HOME:-x}', '${OTHER}', '${NONE:-d}'];
  expect(await stdio({ args, env: { A: '${SERVICE_PLUGIN_ROOT}/a', SERVICE_PLUGIN_ROOT: 'mine' } }, env)).toEqual({
    config: {
      transport: 'stdio',
      command: 'run',
      args: [root, folder.path, 'o', 'd'],
      cwd: root,
      // A value of the config would override that of the environment.
      env: { A: `${root}/a` },
    },
    env: { SERVICE_PLUGIN_ROOT: root, SERVICE_CODE_HOME: folder.path, OTHER: 'o' },
  });
  expect(await launch({ transport: 'http', url: 'https://x.example/${OTHER}' }, env)).toMatchObject({
    config: { url: 'https://x.example/o' },
  });
  await expect(stdio({ args: ['${NONE}'] })).rejects.toThrow('environment variable NONE is not set');
});

it('a program of the plugin is used verbatim, also in a directory whose name looks like a placeholder', async () => {
  const { root, stdio } = await open('${x}');
  const command = join(root, 'bin', 'run');
  expect(await stdio({ command, cwd: join(root, 'bin') })).toMatchObject({
    config: { command, cwd: join(root, 'bin') },
  });
});

it('refuses a program outside the plugin, also by a link or a variable', async () => {
  const { root, stdio } = await open();
  const outside = /^the command of the server is outside its plugin$/;
  await expect(stdio({ command: '/bin/sh' })).rejects.toThrow(outside);
  await expect(stdio({ command: join(root, '..', 'x') })).rejects.toThrow(outside);
  await expect(stdio({ command: '${SHELL}' }, { SHELL: '/bin/sh' })).rejects.toThrow(outside);
  await expect(stdio({ command: '${SHELL}' }, { SHELL: '../x' })).rejects.toThrow(outside);
  const command = join(root, 'bin', 'run');
  expect(await stdio({ command })).toMatchObject({ config: { command } });
  await rm(command);
  await symlink('/bin/sh', command);
  await expect(stdio({ command })).rejects.toThrow(outside);
  await rm(join(root, 'bin'), { recursive: true });
  await symlink('/bin', join(root, 'bin'));
  await expect(stdio({ command: join(root, 'bin', 'sh') })).rejects.toThrow(outside);
});

it('refuses a directory outside the plugin, and a missing one', async () => {
  const { root, stdio } = await open();
  await mkdir(join(folder.path, 'elsewhere'));
  await symlink(join(folder.path, 'elsewhere'), join(root, 'link'));
  const outside = /^the directory of the server is outside its plugin$/;
  await expect(stdio({ cwd: join(root, 'link') })).rejects.toThrow(outside);
  await expect(stdio({ cwd: '/' })).rejects.toThrow(outside);
  await expect(stdio({ cwd: join(root, 'none') })).rejects.toThrow(/^the directory of the server is missing$/);
});

it('a plugin that is a link has its bounds at the target', async () => {
  const { root } = await open();
  const link = join(folder.path, 'link');
  await symlink(root, link);
  const plugin: EntryPlugin = { id: 'p', name: 's', root: link, revision: '1', variables: {} };
  const command = join(link, 'bin', 'run');
  const definition = { name: 'x', plugin, config: { transport: 'stdio' as const, command } };
  expect(await prepareLaunch(definition, {})).toMatchObject({ config: { command, cwd: link } });
});

it('a bare node that PATH does not have is the Node that runs this server; of a file it is not', async () => {
  const { root, stdio } = await open();
  const empty = { PATH: join(root, 'bin') };
  expect(await stdio({ command: 'node' }, empty)).toMatchObject({ config: { command: process.execPath } });
  expect(await stdio({ command: 'node' }, {})).toMatchObject({ config: { command: process.execPath } });
  expect(await stdio({ command: 'npx' }, empty)).toMatchObject({ config: { command: 'npx' } });
  await symlink(process.execPath, join(root, 'bin', 'node'));
  expect(await stdio({ command: 'node' }, empty)).toMatchObject({ config: { command: 'node' } });
  // The PATH of the entry is the one in which the program is looked up.
  expect(
    await stdio({ command: 'node', env: { PATH: '${SERVICE_PLUGIN_ROOT}/bin' } }, { PATH: '/none' }),
  ).toMatchObject({ config: { command: 'node' } });
  const config: McpServerConfig = { transport: 'stdio', command: 'node' };
  expect(await prepareLaunch({ name: 'x', config }, { PATH: '/none' })).toEqual({ config, env: { PATH: '/none' } });
});

it('an entry of a file may run any program', async () => {
  const config: McpServerConfig = { transport: 'stdio', command: '../${NAME}', cwd: '..' };
  expect(await prepareLaunch({ name: 'x', config }, { NAME: 'run' })).toEqual({
    config: { transport: 'stdio', command: '../run', cwd: '..' },
    env: { NAME: 'run' },
  });
});
