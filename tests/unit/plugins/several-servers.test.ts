import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { managedFolder } from '#server/plugins/plugins-writer.ts';
import { registryFile } from '#server/plugins/registry.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { eventually } from '#support/patience.ts';
import { usePlugins, versioned, versionOf } from '#support/plugins.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();
let home: string;
beforeEach(async () => {
  home = join(folder.path, 'home');
  await mkdir(home);
});

it('install the same and different plugins concurrently, and lose none', async () => {
  const servers = ['one', 'two', 'three'].map((name) => usePlugins(home, name).plugins);
  const shared = [
    await versioned(folder.path, 'shared', '1'),
    await versioned(folder.path, 'shared', '2'),
    await versioned(folder.path, 'shared', '3'),
  ];
  const own = await Promise.all(servers.map((_, at) => versioned(folder.path, `own-${at}`, '1')));
  await Promise.all(
    servers.flatMap((server, at) => [
      server.install(shared[at] ?? ''),
      server.install(own[at] ?? ''),
      server.act(`own-${at}`, 'disable'),
      server.install(shared[(at + 1) % 3] ?? ''),
    ]),
  );
  for (const server of servers) {
    await eventually(async () =>
      expect((await server.list()).map(({ id, enabled, state }) => [id, enabled, state])).toEqual([
        ['own-0', false, 'ok'],
        ['own-1', false, 'ok'],
        ['own-2', false, 'ok'],
        ['shared', true, 'ok'],
      ]),
    );
  }
  const version = await versionOf(home, 'shared');
  for (const server of servers) {
    await eventually(async () => expect((await server.list()).at(-1)).toMatchObject({ id: 'shared', version }));
  }
  expect((await readdir(managedFolder(home))).toSorted()).toEqual(['own-0', 'own-1', 'own-2', 'shared']);
});

it('follow the changes of another server, which they publish once', async () => {
  const one = usePlugins(home, 'one');
  const two = usePlugins(home, 'two');
  await two.plugins.ready();
  expect(two.plugins.enabled()).toEqual([]);
  await one.plugins.install(await versioned(folder.path, 'a', '1'));
  await eventually(() => expect(two.changes).toEqual(['reload', 'event']));
  expect(two.plugins.enabled()).toMatchObject([{ id: 'a' }]);
  await one.plugins.act('a', 'disable');
  await eventually(() => expect(two.changes).toHaveLength(4));
  expect(two.plugins.enabled()).toEqual([]);
  // Enabling what is enabled writes nothing, so others have nothing to follow.
  await one.plugins.act('a', 'disable');
  await one.plugins.act('a', 'remove');
  await eventually(() => expect(two.changes).toHaveLength(6));
  expect(await two.plugins.list()).toEqual([]);
  expect(one.changes.filter((change) => change === 'reload')).toEqual([]);
  expect(one.changes.filter((change) => change === 'event')).toHaveLength(4);
});

it('follow an edit of the registry, and its removal', async () => {
  const { plugins, changes } = usePlugins(home);
  await plugins.install(await versioned(folder.path, 'a', '1'));
  const text = await readFile(registryFile(home), 'utf8');
  await writeFile(registryFile(home), text.replace('"enabled": true', '"enabled": false'));
  await eventually(() => expect(plugins.enabled()).toEqual([]));
  await writeFile(registryFile(home), 'broken');
  await eventually(() => expect(plugins.problems()).toMatchObject([{ path: registryFile(home) }]));
  await writeFile(registryFile(home), text);
  await eventually(() => expect(plugins.enabled()).toMatchObject([{ id: 'a' }]));
  await rm(registryFile(home));
  await eventually(() => expect(plugins.enabled()).toEqual([]));
  expect(changes.slice(2)).toEqual(['reload', 'event', 'reload', 'event', 'reload', 'event', 'reload', 'event']);
});

it('announce a change once, also when its load takes longer than the file is watched quietly', async () => {
  const runtime = createLocalRuntime({ env: () => ({}) });
  let lists = 0;
  const slow = {
    ...runtime,
    async list(path: string) {
      lists += 1;
      // Longer than the debounce of the watcher.
      await new Promise((resolve) => setTimeout(resolve, 500));
      return runtime.list(path);
    },
  };
  const { plugins, changes } = usePlugins(home, 'server_1', { files: slow });
  const root = await versioned(folder.path, 'a', '1');
  await writeFile(join(root, 'service.plugin.json'), JSON.stringify({ name: 'a', commands: './d1' }));
  await plugins.ready();
  await plugins.install(root);
  expect(lists).toBeGreaterThan(0);
  await plugins.act('a', 'disable');
  await plugins.act('a', 'enable');
  expect(changes).toEqual(['install', 'event', 'disable', 'event', 'enable', 'event']);
});
