/** Discovery by reading files only, compared with the repositories that git itself finds. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { discoverRepository, findsBareRepository } from '#server/git/discovery.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { putFile } from '#support/files.ts';
import { createRepository } from '#support/git-repository.ts';
import { integer, pick, seeded } from '#support/random.ts';

const execute = promisify(execFile);
const runtime = createLocalRuntime();
const COMMIT = '0123456789abcdef0123456789abcdef01234567';

let root: string;
beforeAll(async () => (root = await realpath(await mkdtemp(join(tmpdir(), 'service-code-discovery-')))));
afterAll(() => rm(root, { recursive: true, force: true }));

/** Returns the git directory that git finds; `refused` where git fails with another error than a missing repository. */
async function asked(directory: string): Promise<string | undefined> {
  const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  try {
    const { stdout } = await execute('git', ['rev-parse', '--absolute-git-dir'], { cwd: directory, env });
    return stdout.trim();
  } catch (error) {
    const said = error instanceof Error ? error.message : '';
    return said.includes('(or any of the parent directories)') ? undefined : 'refused';
  }
}

const found = async (directory: string) => {
  const repository = await discoverRepository(directory, runtime);
  return repository && { ...repository, directory: repository.directory.slice(root.length + 1) };
};

describe('discovery finds', () => {
  test('a work tree, a linked one, a submodule and a separate git directory', async () => {
    const library = await createRepository(join(root, 'library'));
    await library.commit();
    const main = await createRepository(join(root, 'main'));
    await main.commit();
    await main.git('submodule', 'add', '-q', library.root, 'sub');
    await main.git('worktree', 'add', '-q', join(root, 'linked'));
    await main.git('init', '-q', '--separate-git-dir', join(root, 'main/store'), 'separate');
    await mkdir(join(root, 'main/deep/er'), { recursive: true });
    for (const [directory, holder] of [
      ['main/deep/er', 'main'],
      ['main/sub', 'main/sub'],
      ['linked', 'linked'],
      ['main/separate', 'main/separate'],
    ] as const) {
      const gitDirectory = await asked(join(root, directory));
      expect(await found(join(root, directory))).toEqual({ directory: holder, gitDirectory, bare: false });
    }
  });

  test('a bare repository, the git directory of a work tree, a work tree below its bare repository', async () => {
    const origin = await createRepository(join(root, 'origin'));
    await origin.commit();
    await origin.git('clone', '-q', '--bare', '.', join(root, 'origin/bare'));
    await origin.git('-C', join(root, 'origin/bare'), 'worktree', 'add', '-q', 'tree');
    expect(await found(join(root, 'origin/bare/refs'))).toMatchObject({ directory: 'origin/bare', bare: true });
    expect(await found(join(root, 'origin/.git/refs'))).toMatchObject({ directory: 'origin/.git', bare: true });
    expect(await found(join(root, 'origin/bare/tree'))).toMatchObject({ directory: 'origin/bare/tree', bare: false });
  });

  test('no repository', async () => {
    expect(await found(root)).toBeUndefined();
    expect(await asked(root)).toBeUndefined();
  });
});

test('files about to be written are treated as existing', async () => {
  const directory = join(root, 'planned');
  const written = ['HEAD', 'Objects/info/x', 'refs/heads/x'].map((name) => join(directory, name));
  const finds = (names: string[], where = directory) => findsBareRepository(where, runtime, { written: names });
  expect(await finds(written)).toBe(true);
  expect(await finds(written, join(directory, 'refs/heads'))).toBe(true);
  for (const left of written) expect(await finds(written.filter((name) => name !== left))).toBe(false);
  expect(await finds([join(directory, 'HEAD'), join(directory, 'commondir')])).toBe(true);
  const { root: inside } = await createRepository(join(root, 'around'));
  const nested = written.map((name) => join(inside, name.slice(directory.length + 1)));
  expect(await findsBareRepository(inside, runtime, { written: nested, top: inside })).toBe(false);
});

test('a `.git` directory that git skips hides no bare repository', async () => {
  const directory = join(root, 'hidden');
  await putFile(join(directory, 'HEAD'), 'ref: refs/heads/main\n');
  await putFile(join(directory, 'objects/x'), '');
  await putFile(join(directory, 'refs/x'), '');
  await putFile(join(directory, '.git/HEAD'), 'nothing that git knows\n');
  await putFile(join(directory, '.git/objects/x'), '');
  await putFile(join(directory, '.git/refs/x'), '');
  expect(await asked(directory)).toBe(directory);
  expect(await found(directory)).toMatchObject({ bare: true });
});

test('random directories: every repository that git finds is found, and none from another `.git` entry', async () => {
  const random = seeded(3);
  const heads = ['ref: refs/heads/main\n', 'ref:refs/x', `${COMMIT}\n`, 'nothing\n', ''];
  const seen = { bare: 0, entry: 0, none: 0 };
  for (let round = 0; round < 150; round++) {
    const top = join(root, 'random', String(round));
    const store = join(root, 'random', `${round}-store`);
    await mkdir(join(top, 'a/b'), { recursive: true });
    await mkdir(join(store, 'objects'), { recursive: true });
    await mkdir(join(store, 'refs'), { recursive: true });
    for (let part = integer(random, 9); part >= 0; part--) {
      const directory = join(top, pick(random, ['', 'a', 'a/b', '.git', 'a/.git']));
      const name = pick(random, ['HEAD', 'HEAD', 'objects', 'refs', 'commondir', 'config', 'repository']);
      await mkdir(directory, { recursive: true }).catch(() => undefined);
      const path = join(directory, name);
      const add = () => {
        // `.git` directories get no such link: here they are skipped, because git skips others that look the same.
        if (name === 'HEAD' && !directory.endsWith('.git') && random() < 0.3) return symlink('refs/heads/none', path);
        if (name === 'HEAD') return writeFile(path, pick(random, heads));
        if (name === 'commondir') return writeFile(path, store);
        if (name === 'config') return writeFile(path, '[core]\n\tbare = true\n');
        if (name !== 'repository') return mkdir(path);
        return Promise.all([
          putFile(join(directory, 'HEAD'), 'ref: refs/heads/main\n'),
          mkdir(join(directory, 'objects')),
          mkdir(join(directory, 'refs')),
        ]);
      };
      // A part that exists already remains.
      await Promise.resolve(add()).catch(() => undefined);
    }
    for (const directory of [top, join(top, 'a'), join(top, 'a/b')]) {
      const expected = await asked(directory);
      const repository = await discoverRepository(directory, runtime);
      const shown = [round, directory, expected, repository];
      expect([shown, await findsBareRepository(directory, runtime)]).toEqual([shown, repository?.bare === true]);
      if (expected === undefined || expected === 'refused') seen.none++;
      else if (expected.endsWith('.git')) {
        seen.entry++;
        // In doubt it may be reported as a bare repository, which is refused.
        if (!repository?.bare) expect([shown, repository?.gitDirectory]).toEqual([shown, expected]);
      } else {
        seen.bare++;
        expect([shown, repository?.bare]).toEqual([shown, true]);
      }
    }
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(10);
});
