import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withExplicitRepositories } from '#server/git/environment.ts';
import { createRepository } from '#support/git-repository.ts';

const execute = promisify(execFile);

describe('git processes that use no discovered bare repository', () => {
  let root: string;
  let bare: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'service-code-explicit-'));
    const { git } = await createRepository(join(root, 'work'));
    bare = join(root, 'bare');
    await git('init', '-q', '--bare', bare);
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  const run = (cwd: string, environment: NodeJS.ProcessEnv, ...args: string[]) =>
    execute('git', args, { cwd, env: withExplicitRepositories({ PATH: process.env.PATH, ...environment }) });

  test('a discovered bare repository is refused, a named one and a work tree are not', async () => {
    await expect(run(bare, {}, 'rev-parse')).rejects.toThrow(/cannot use bare repository/);
    await expect(run(join(root, 'work'), {}, 'rev-parse')).resolves.toBeDefined();
    await expect(run(root, {}, '--git-dir', bare, 'rev-parse')).resolves.toBeDefined();
  });

  test.each([
    [{}, 1],
    [{ GIT_CONFIG_COUNT: '' }, 1],
    [{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'a.b', GIT_CONFIG_VALUE_0: 'c' }, 2],
    [{ GIT_CONFIG_COUNT: ' +1', GIT_CONFIG_KEY_0: 'a.b', GIT_CONFIG_VALUE_0: 'c' }, 2],
    [{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.bareRepository', GIT_CONFIG_VALUE_0: 'all' }, 2],
  ])('existing settings are kept: %j', async (environment, count) => {
    const { stdout } = await run(root, environment, 'config', '--list', '--show-scope');
    expect(stdout.split('\n').filter((line) => line.startsWith('command'))).toHaveLength(count);
    await expect(run(bare, environment, 'rev-parse')).rejects.toThrow(/cannot use bare repository/);
  });

  test.each(['x', '-1', '1x'])('a count that git refuses (%s) is passed on unchanged', async (count) => {
    await expect(run(root, { GIT_CONFIG_COUNT: count }, 'version')).resolves.toBeDefined();
    await expect(run(bare, { GIT_CONFIG_COUNT: count }, 'rev-parse')).rejects.toThrow(/GIT_CONFIG_COUNT/);
  });
});
