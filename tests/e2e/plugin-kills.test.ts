import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { managedFolder } from '#server/plugins/plugins-writer.ts';
import { usePlugins, versioned, versionOf } from '#support/plugins.ts';
import { buildProgram, startProgram } from '#support/programs.ts';
import { seeded } from '#support/random.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();

it('leaves the old plugin or the new one, whole, when a server is killed at any moment of a reinstall', async () => {
  const home = join(folder.path, 'home');
  await mkdir(home);
  const program = await buildProgram('plugin-installer', folder.path);
  const sources = [await versioned(folder.path, 'a', '1'), await versioned(folder.path, 'a', '2')];
  const random = seeded(24);
  await usePlugins(home, 'first').plugins.install(sources[0] ?? '');
  const seen = new Set<string>();
  let interrupted = 0;
  for (let kill = 0; kill < 30; kill += 1) {
    const child = startProgram(program, [home, `killed-${kill}`]);
    const exited = once(child, 'exit');
    await once(child, 'message');
    child.send({ sources });
    expect((await once(child, 'message'))[0]).toBe('installed');
    const started = performance.now();
    expect((await once(child, 'message'))[0]).toBe('installed');
    // Any moment of the next two installs.
    await delay(random() * 2 * (performance.now() - started));
    child.kill('SIGKILL');
    await exited;
    const left = (await readdir(managedFolder(home))).filter((name) => name !== 'a');
    if (left.length > 0) interrupted += 1;
    const { plugins } = usePlugins(home, `after-${kill}`);
    expect(await plugins.list()).toMatchObject([{ id: 'a', state: 'ok', hasErrors: false, enabled: true }]);
    seen.add(await versionOf(home, 'a'));
    expect(await readdir(managedFolder(home))).toEqual(['a']);
    await plugins.close();
  }
  expect([...seen].toSorted()).toEqual(['1', '2']);
  expect(interrupted).toBeGreaterThan(0);
});
