import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { managedFolder, managedRoot } from '#server/plugins/plugins-writer.ts';
import { registryFile } from '#server/plugins/registry.ts';
import { eventually } from '#support/patience.ts';
import { usePlugins, writeFiles } from '#support/plugins.ts';
import { buildProgram, startProgram } from '#support/programs.ts';
import { seeded } from '#support/random.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();
let home: string;
beforeEach(async () => {
  home = join(folder.path, 'home');
  await mkdir(home);
});

const FILES = 40;

/** A plugin whose files all contain its version. */
function source(id: string, version: string): Promise<string> {
  const files = Array.from({ length: FILES }, (_, at) => [`d${at % 5}/f${at}`, version] as const);
  return writeFiles(join(folder.path, `${id}-${version}`), {
    'service.plugin.json': { name: id, version },
    ...Object.fromEntries(files),
  });
}

/** The version of a whole copy; throws for a mixture. */
async function versionOf(id: string): Promise<string> {
  const root = managedRoot(home, id);
  const { version } = JSON.parse(await readFile(join(root, 'service.plugin.json'), 'utf8')) as { version: string };
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name !== 'service.plugin.json');
  expect(files).toHaveLength(FILES);
  for (const file of files) expect(await readFile(join(file.parentPath, file.name), 'utf8')).toBe(version);
  return version;
}

it('install the same and different plugins concurrently, and lose none', async () => {
  const servers = ['one', 'two', 'three'].map((name) => usePlugins(home, name).plugins);
  const shared = [await source('shared', '1'), await source('shared', '2'), await source('shared', '3')];
  const own = await Promise.all(servers.map((_, at) => source(`own-${at}`, '1')));
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
  const version = await versionOf('shared');
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
  await one.plugins.install(await source('a', '1'));
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
  await plugins.install(await source('a', '1'));
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

it('find the old plugin or the new one, whole, after a server was killed at any moment of a reinstall', async () => {
  const program = await buildProgram('plugin-installer', folder.path);
  const sources = [await source('a', '1'), await source('a', '2')];
  const random = seeded(24);
  await usePlugins(home, 'first').plugins.install(sources[0] ?? '');
  const seen = new Set<string>();
  let interrupted = 0;
  for (let kill = 0; kill < 30; kill += 1) {
    const child = startProgram(program, [home, `killed-${kill}`]);
    const exited = once(child, 'exit');
    await once(child, 'message');
    child.send({ sources, rounds: 1000 });
    // Until it has begun, so that kills fall into the installs.
    await eventually(async () => expect((await readdir(managedFolder(home))).length).toBeGreaterThan(1));
    await delay(random() * 60);
    child.kill('SIGKILL');
    await exited;
    const left = (await readdir(managedFolder(home))).filter((name) => name !== 'a');
    if (left.length > 0) interrupted += 1;
    const { plugins } = usePlugins(home, `after-${kill}`);
    expect(await plugins.list()).toMatchObject([{ id: 'a', state: 'ok', hasErrors: false, enabled: true }]);
    seen.add(await versionOf('a'));
    expect(await readdir(managedFolder(home))).toEqual(['a']);
    await plugins.close();
  }
  expect([...seen].toSorted()).toEqual(['1', '2']);
  expect(interrupted).toBeGreaterThan(0);
});
