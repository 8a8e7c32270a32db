import { access, chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { findRipgrep, type SearchOptions } from '#server/ripgrep/ripgrep.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { ownPrograms } from '#server/project-files/own-programs.ts';
import { createGlobTool } from '#server/builtin-tools/glob.ts';
import { createGrepTool } from '#server/builtin-tools/grep.ts';
import { createWorkspace, runTool } from '../builtin-tools/workspace.ts';
import { temporaryHome } from '#support/temporary-home.ts';

/** A project with a subdirectory, and a folder outside. */
let base: string;
let project: string;
let inner: string;
let outside: string;
beforeEach(async () => {
  base = await temporaryHome();
  project = join(base, 'project');
  inner = join(project, 'packages/inner');
  outside = join(base, 'bin');
  await mkdir(join(project, '.git'), { recursive: true });
  for (const folder of [inner, join(project, 'node_modules/.bin'), join(inner, 'node_modules/.bin'), outside]) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'tool'), '#!/bin/sh\n', { mode: 0o755 });
  }
});

const programs = (folders: readonly string[], directory = inner) =>
  ownPrograms(directory, createLocalRuntime({ env: () => ({ PATH: folders.join(delimiter), OTHER: 'x' }) }));

describe('a program of the server', () => {
  test('is never found in the workspace, in the project around it, or in a relative folder', async () => {
    const link = join(base, 'link');
    await symlink(join(project, 'node_modules/.bin'), link);
    const refused = [
      join(inner, 'node_modules/.bin'),
      join(project, 'node_modules/.bin'),
      join(outside, '../project/node_modules/.bin'),
      link,
      '.',
      '',
      'node_modules/.bin',
      '~/bin',
    ];
    const found = await programs([...refused, outside]);
    expect(await found.find('tool')).toBe(join(outside, 'tool'));
    expect(found.environment).toEqual({ PATH: outside, OTHER: 'x' });
    const none = await programs(refused);
    expect(await none.find('tool')).toBeUndefined();
    // Not an empty PATH, which would mean the working directory.
    expect(none.environment).toEqual({ PATH: undefined, OTHER: 'x' });
  });

  test('is found in any other folder: above the project, next to it; missing folders are ignored', async () => {
    const above = join(base, 'node_modules/.bin');
    await mkdir(above, { recursive: true });
    await writeFile(join(above, 'other'), '#!/bin/sh\n', { mode: 0o755 });
    const folders = [join(base, 'missing'), above, `${project}-bin`, outside];
    const found = await programs(folders);
    expect(await found.find('other')).toBe(join(above, 'other'));
    expect(await found.find('tool')).toBe(join(outside, 'tool'));
    expect(found.environment.PATH).toBe(folders.join(delimiter));
  });

  test('is found for a workspace that is the root of the file system, and for a missing one', async () => {
    expect(await (await programs([outside], '/')).find('tool')).toBe(join(outside, 'tool'));
    expect(await (await programs([outside], join(base, 'gone'))).find('tool')).toBe(join(outside, 'tool'));
  });
});

test('ripgrep is found on PATH outside the workspace and never in it, for any searched directory', async () => {
  const space = await createWorkspace();
  onTestFinished(() => space.remove());
  const mark = join(base, 'mark');
  await space.write('node_modules/.bin/rg', `#!/bin/sh\ntouch ${mark}\n`);
  await chmod(space.path('node_modules/.bin/rg'), 0o755);
  await space.write('a.txt', 'needle');
  await writeFile(join(base, 'b.txt'), 'needle');

  const folders = [space.path('node_modules/.bin'), outside].join(delimiter);
  const runtime = createLocalRuntime({ env: () => ({ PATH: folders }) });
  const environment = { ...space.environment, runtime };
  const options: SearchOptions = { ripgrep: (found) => found.find('rg') };
  const results = async () => [
    await runTool(createGrepTool(options), environment, { pattern: 'needle' }),
    await runTool(createGrepTool(options), environment, { pattern: 'needle', path: join(base, 'b.txt') }),
    await runTool(createGlobTool(options), environment, { pattern: '*.txt' }),
  ];
  for (const result of await results()) {
    expect(result).toMatchObject({ isError: true, output: 'ripgrep (rg) is not installed.' });
  }
  const shipped = await findRipgrep(await programs([]), runtime);
  await symlink(shipped ?? '', join(outside, 'rg'));
  expect((await results()).map(({ output }) => output)).toEqual(['a.txt', join(base, 'b.txt'), 'a.txt']);
  await expect(access(mark)).rejects.toThrow('ENOENT');
});
