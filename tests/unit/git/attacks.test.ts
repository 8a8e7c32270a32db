/**
 * Repositories that make git start a program. Each attack is first shown to work with plain git: without this check a
 * test could pass for an attack that never works.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, appendFile, chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '#server/clock.ts';
import { createGit } from '#server/git/git.ts';
import { groupRuns, signalGroup } from '#server/processes/process-group.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { diffPath } from '#server/workspace-files/diff.ts';
import { statusOf } from '#server/workspace-files/git-status.ts';
import { createRepository, type GitRepository } from '#support/git-repository.ts';
import { until } from '#support/patience.ts';
import { temporaryHome } from '#support/temporary-home.ts';

interface Attack {
  /** Builds the attack; `evil` is a program that leaves a trace and copies its input. */
  build(repository: GitRepository, evil: string): Promise<unknown>;
  /** Commands of plain git that trigger it; default: a status and a diff. */
  control?: string[][];
}

const config = (repository: GitRepository, text: string | Buffer) =>
  appendFile(join(repository.root, '.git/config'), text);

const filter = (name: string, key = 'clean'): Attack => ({
  async build(repository, evil) {
    await config(repository, `[filter "${name}"]\n\t${key} = ${evil}\n\trequired = true\n`);
    await repository.write({ '.git/info/attributes': `* filter=${name}\n`, a: 'changed\n' });
  },
});

const attacks: Record<string, Attack> = {
  'core.fsmonitor': { build: (repository, evil) => config(repository, `[core]\n\tfsmonitor = ${evil}\n`) },
  'core.hooksPath with a hook of the index': {
    async build(repository, evil) {
      await repository.write({ 'hooks/post-index-change': `#!/bin/sh\n${evil}\n` });
      await chmod(join(repository.root, 'hooks/post-index-change'), 0o755);
      await config(repository, '[core]\n\thooksPath = hooks\n');
      await repository.write({ a: 'a\n' });
    },
  },
  'a clean filter': filter('evil'),
  'a process filter': filter('evil', 'process'),
  'a filter with dots in its name': filter('a.clean.b'),
  'a filter with = in its name': filter('a=b'),
  'a filter of an included file': {
    async build(repository, evil) {
      await config(repository, '[include]\n\tpath = ../extra\n[includeIf "gitdir:**"]\n\tpath = ../extra\n');
      await repository.write({
        extra: `[filter "evil"]\n\tclean = ${evil}\n`,
        '.gitattributes': '* filter=evil\n',
        a: 'changed\n',
      });
    },
  },
  'a filter of the configuration of a work tree': {
    async build(repository, evil) {
      await config(repository, '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n');
      await repository.write({
        '.git/config.worktree': `[filter "evil"]\n\tclean = ${evil}\n`,
        '.git/info/attributes': '* filter=evil\n',
        a: 'changed\n',
      });
    },
  },
  'diff.external': {
    async build(repository, evil) {
      await config(repository, `[diff]\n\texternal = ${evil}\n`);
      await repository.write({ a: 'changed\n' });
    },
  },
  'a diff driver': {
    async build(repository, evil) {
      await config(repository, `[diff "evil"]\n\tcommand = ${evil}\n`);
      await repository.write({ '.gitattributes': '* diff=evil\n', a: 'changed\n' });
    },
  },
  'a text conversion': {
    async build(repository, evil) {
      await config(repository, `[diff "evil"]\n\ttextconv = ${evil}\n`);
      await repository.write({ '.gitattributes': '* diff=evil\n', a: 'changed\n' });
    },
  },
  'a remote of a partial clone': {
    async build(repository, evil) {
      await repository.git('config', 'extensions.partialClone', 'origin');
      await repository.git('config', 'core.repositoryFormatVersion', '1');
      await repository.git('config', 'remote.origin.promisor', 'true');
      await repository.git('config', 'remote.origin.url', `ext::${evil}`);
      await repository.git('config', 'protocol.ext.allow', 'always');
      const blob = (await repository.git('rev-parse', 'HEAD:a')).trim();
      await rm(join(repository.root, '.git/objects', blob.slice(0, 2), blob.slice(2)));
      await repository.write({ a: 'changed\n' });
    },
  },
  'a .git file that leads to a directory of the project': {
    async build(repository, evil) {
      await repository.git('init', '-q', '--separate-git-dir', 'elsewhere');
      await appendFile(join(repository.root, 'elsewhere/config'), `[core]\n\tfsmonitor = ${evil}\n`);
    },
  },
  'a directory that looks like a bare repository': {
    async build(repository, evil) {
      await config(repository, `[core]\n\tfsmonitor = ${evil}\n\tworktree = .\n`);
      await cp(join(repository.root, '.git'), repository.root, { recursive: true });
      await rm(join(repository.root, '.git'), { recursive: true });
    },
    control: [['status']],
  },
  'a repository in the repository, with a monitor': {
    async build(repository, evil) {
      const inner = await createRepository(join(repository.root, 'inner'));
      await inner.write({ b: 'b\n' });
      await inner.commit();
      await repository.commit();
      await config(inner, `[core]\n\tfsmonitor = ${evil}\n`);
      await inner.write({ b: 'changed\n' });
    },
  },
  'a submodule with a filter': {
    async build(repository, evil) {
      const inner = await createRepository(join(repository.root, 'inner'));
      await inner.write({ b: 'b\n' });
      await inner.commit();
      await repository.write({ '.gitmodules': '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n' });
      await repository.commit();
      await config(inner, `[filter "other"]\n\tclean = ${evil}\n`);
      await inner.write({ '.git/info/attributes': '* filter=other\n', b: 'c\n' });
    },
  },
};

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

async function build({ build: prepare }: Attack) {
  const base = await temporaryHome();
  const trace = join(base, 'trace');
  const evil = join(base, 'evil');
  await writeFile(evil, `#!/bin/sh\necho started >> ${trace}\ncat\n`, { mode: 0o755 });
  const repository = await createRepository(join(base, 'work'));
  await repository.write({ a: 'a\n' });
  await repository.commit();
  await prepare(repository, evil);
  return { root: repository.root, started: () => exists(trace) };
}

/** Runs git until it exits or the program has started, then kills its process group: the program may read forever. */
async function runPlainGit(args: readonly string[], cwd: string, started: () => Promise<boolean>): Promise<void> {
  const child = spawn('git', args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.resume();
  await once(child, 'spawn');
  const { pid } = child;
  if (pid === undefined) throw new Error('git has no process id');
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  await until(async () => isOver() || (await started()));
  signalGroup(pid, 'SIGKILL');
  await until(async () => !(await groupRuns(pid)));
}

/** A `gh` that starts the commands of git that `gh pr view` starts, with the environment that it received. */
const bin = await mkdtemp(join(tmpdir(), 'service-code-gh-'));
afterAll(() => rm(bin, { recursive: true }));
await writeFile(
  join(bin, 'gh'),
  `#!/bin/sh
touch ${join(bin, 'started')}
git remote -v; git symbolic-ref --quiet HEAD; git config --get-regexp '^(branch|remote)'
git rev-parse --abbrev-ref main@{push}; git log -1
echo '{"number":7,"url":"https://example.com/7","state":"OPEN","isDraft":true}'
`,
  { mode: 0o755 },
);
const env = () => ({ ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` });
const git = createGit({ runtime: createLocalRuntime({ env }), clock: systemClock });
const { signal } = new AbortController();
const refused = (error: unknown) => {
  expect(error).toMatchObject({ name: 'fs.git_unavailable' });
};

describe.each(Object.entries(attacks))('%s', (_name, attack) => {
  it('works with plain git', async () => {
    const { root, started } = await build(attack);
    for (const args of attack.control ?? [
      ['status', '--porcelain'],
      ['diff', 'HEAD'],
    ]) {
      await runPlainGit(args, root, started);
    }
    expect(await started()).toBe(true);
  });

  it('starts no program here', async () => {
    const { root, started } = await build(attack);
    const directory = { root, additionalDirs: () => [] };
    await statusOf(git, directory, [], signal).catch(refused);
    await git.marks({ root }, signal);
    await git.facts.read([root, join(root, 'inner')]);
    for (const path of ['.', 'a', 'inner', 'inner/b', '.gitattributes']) {
      await diffPath(git, directory, path, signal).catch((error: unknown) => {
        expect(error).toMatchObject({ name: expect.stringMatching(/^fs\.(git_unavailable|path_not_found)$/) });
      });
    }
    expect(await started()).toBe(false);
  });
});

it('has run gh in these repositories', async () => {
  expect(await exists(join(bin, 'started'))).toBe(true);
});

describe('refused repositories', () => {
  it.each<[string, (repository: GitRepository) => Promise<unknown>, RegExp]>([
    ['a work tree elsewhere', (repository) => config(repository, '[core]\n\tworktree = /etc\n'), /not in a work tree/],
    [
      'a filter whose name is no UTF-8',
      (repository) => config(repository, Buffer.from('[filter "\xff"]\n\tclean = cat\n', 'latin1')),
      /unreadable name/,
    ],
    [
      'hundreds of filters',
      (repository) =>
        config(repository, Array.from({ length: 300 }, (_, index) => `[filter "f${index}"]\n\tclean = cat\n`).join('')),
      /too many filters/,
    ],
    [
      'a configuration without end',
      (repository) => config(repository, `[filter "x"]\n${'\tclean = a\n'.repeat(300_000)}`),
      /too large/,
    ],
  ])('%s', async (_name, prepare, message) => {
    const repository = await createRepository(await temporaryHome());
    await prepare(repository);
    await expect(git.open(repository.root, signal)).rejects.toMatchObject({
      name: 'fs.git_unavailable',
      message: expect.stringMatching(message),
    });
  });
});
