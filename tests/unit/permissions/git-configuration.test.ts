/**
 * Files that git reads settings from or starts because its configuration names them. Each attack is first shown to
 * work: without this check a test could pass for an attack that never works.
 */
import { execFile } from 'node:child_process';
import { access, chmod, chown, mkdir, mkdtemp, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PermissionPolicy } from '#server/permissions/policy.ts';
import { createServerHome } from '#server/home/server-home.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import { openProjects } from '#support/projects.ts';
import { openPolicy } from '#support/policy.ts';

const execute = promisify(execFile);

let root: string;
/** The user's home, which contains the project. */
let home: string;
let project: string;
let mark: string;
let env: NodeJS.ProcessEnv;
/** Number of git processes that decisions started. */
let spawned: number;
let runtime: Runtime;
let policy: PermissionPolicy;
const newPolicy = () => openPolicy({ repositoryOf: openProjects({ runtime }).repositoryOf });
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'service-code-git-configuration-')));
  home = join(root, 'home');
  project = join(home, 'project');
  mark = join(root, 'mark');
  env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  spawned = 0;
  const local = createLocalRuntime({ env: () => env });
  runtime = {
    ...local,
    homeDirectory: () => home,
    spawn(request) {
      spawned++;
      return local.spawn(request);
    },
  };
  policy = newPolicy();
  await mkdir(project, { recursive: true });
  await git('init', '-q', '-b', 'main');
  await put('src/a.txt', 'a\n');
  await git('add', '.');
  await git('commit', '-qm', 'first');
});
afterEach(() => rm(root, { recursive: true, force: true }));

const gitIn = async (cwd: string, ...args: string[]) => {
  const settings = ['user.name=t', 'user.email=t@t', 'protocol.file.allow=always'].flatMap((setting) => [
    '-c',
    setting,
  ]);
  return (await execute('git', [...settings, ...args], { cwd, env })).stdout;
};
const git = (...args: string[]) => gitIn(project, ...args);

async function put(path: string, text: string, mode = 0o644): Promise<void> {
  const file = join(project, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  await chmod(file, mode);
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

async function verdict(path: string, { cwd = project, mode = 'manual' as 'manual' | 'yolo', tool = 'Write' } = {}) {
  const file = join(cwd, path);
  const real = await runtime.realpath(file);
  const { kind } = await policy.decide(
    {
      toolName: tool,
      agentId: 'main',
      permission: 'write',
      effects: 'workspace',
      subject: { text: file, match: 'path' },
      accesses: [{ kind: 'file', path: file, real, mode: tool === 'Edit' ? 'read-write' : 'write' }],
    },
    {
      mode,
      rules: [],
      remembered: [],
      places: {
        runtime,
        cwd,
        additionalDirs: async () => [],
        readableDirs: () => Promise.resolve([]),
        sessionDir: join(root, 'sessions/x'),
        home: createServerHome(join(root, 'server')),
      },
    },
  );
  return kind;
}

/** A program that leaves a mark; it exits with 0, so that git continues. */
const evil = () => `#!/bin/sh\ntouch '${mark}'\ncat "$1" 2>/dev/null\nexit 0\n`;
const evilSettings = () => `[core]\n\tfsmonitor = "touch '${mark}'; false"\n`;

interface Attack {
  /** Sets up the user's configuration, before any call. */
  build(): Promise<unknown>;
  /** The file that the model writes. */
  path: string;
  /** Whether it exists as an executable file. */
  program?: boolean;
  /** The lines that a rule allows; undefined where git needs a terminal, or a signature, to start the program. */
  git?: string[][];
  /** The working directory of the session; default: the project. */
  cwd?: () => string;
}

const settings = (path: string, build: Attack['build'], more: Partial<Attack> = {}): Attack => ({
  path,
  build,
  git: [['status']],
  ...more,
});
const program = (path: string, build: Attack['build'], more: Partial<Attack> = {}): Attack => ({
  ...settings(path, build, more),
  program: true,
});
const set = (key: string, value: string) => () => git('config', key, value);
/** Creates changes for filters, textconv and diffs to process. */
const changed = async () => {
  await put('.gitattributes', '*.txt diff=evil filter=evil\n');
  await put('src/a.txt', 'b\n');
};

const attacks: Record<string, Attack> = {
  'an included file that is missing': settings('.gitconfig', set('include.path', '../.gitconfig')),
  'an included file by an absolute path': settings('x/y.cfg', () =>
    git('config', 'include.path', join(project, 'x/y.cfg')),
  ),
  "an included file by the user's home": settings('x.cfg', set('include.path', '~/project/x.cfg')),
  'a condition that holds later': settings('x.cfg', set('includeIf.onbranch:other.path', '../x.cfg'), {
    git: [['checkout', '-q', '-b', 'other'], ['status']],
  }),
  'a file that is included below such a condition': settings(
    'deep/y.cfg',
    async () => {
      await put('x.cfg', '[include]\n\tpath = deep/y.cfg\n');
      await git('config', 'includeIf.onbranch:other.path', '../x.cfg');
    },
    { git: [['checkout', '-q', '-b', 'other'], ['status']] },
  ),
  'an included file that a link leads to': settings('real/x.cfg', async () => {
    await mkdir(join(project, 'real'));
    await symlink('real/x.cfg', join(project, 'x.cfg'));
    await git('config', 'include.path', '../x.cfg');
  }),
  "a file that the user's own settings include": settings('x.cfg', () =>
    writeFile(join(home, '.gitconfig'), '[include]\n\tpath = project/x.cfg\n'),
  ),
  "the user's own settings, where the home is the workspace": settings('.gitconfig', () => gitIn(home, 'init', '-q'), {
    cwd: () => home,
  }),
  'those below .config': settings('.config/git/config', () => gitIn(home, 'init', '-q'), { cwd: () => home }),
  "the user's own settings that are a link into the project": settings('dotfiles/gitconfig', async () => {
    await symlink(join(project, 'dotfiles/gitconfig'), join(home, '.gitconfig'));
  }),
  'settings named by the environment': settings('x.cfg', async () => {
    Object.assign(env, {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'Include.Path',
      GIT_CONFIG_VALUE_0: join(project, 'x.cfg'),
    });
  }),
  'a file that a work tree includes': settings('x.cfg', async () => {
    await git('config', 'extensions.worktreeConfig', 'true');
    await git('config', '--worktree', 'include.path', '../x.cfg');
  }),
  'a separate git directory': settings('x.cfg', async () => {
    await git('init', '-q', '--separate-git-dir', join(root, 'store'));
    await git('config', 'include.path', join(project, 'x.cfg'));
  }),
  'core.fsmonitor': program('tools/x', set('core.fsmonitor', 'tools/x')),
  'core.fsmonitor with an interpreter': settings('tools/x.sh', set('core.fsmonitor', "sh 'tools/x.sh' now"), {}),
  'core.fsmonitor in another directory': settings('tools/x.sh', set('core.fsmonitor', 'cd tools && sh x.sh')),
  'core.fsmonitor below what a command prints': program(
    'tools/x',
    set('core.fsmonitor', '"$(git rev-parse --show-toplevel)"/tools/x'),
  ),
  'core.fsmonitor below a variable': program('tools/x', set('core.fsmonitor', '$PWD/./tools/x')),
  'core.fsmonitor that is a link': program('src/real', async () => {
    await mkdir(join(project, 'tools'));
    await symlink('../src/real', join(project, 'tools/x'));
    await git('config', 'core.fsmonitor', 'tools/x');
  }),
  'core.fsmonitor with a glob': program('tools/x.sh', set('core.fsmonitor', 'tools/*.sh')),
  'core.fsmonitor with a set of characters': program('tools/x.sh', set('core.fsmonitor', 'tools/[vwx].s?')),
  'core.fsmonitor with a quoted part': program('tools/x', set('core.fsmonitor', 'to"ol"s/x')),
  'core.fsmonitor with an escape': program('tools/x', set('core.fsmonitor', 'tools\\/x')),
  'core.fsmonitor with quotes in a line in the line': program('tools/x', set('core.fsmonitor', `sh -c 'to"ol"s/x'`)),
  'core.fsmonitor with an empty variable': program('tools/x', set('core.fsmonitor', 'to${NONE}ols/x')),
  'core.fsmonitor with a variable and more': program('tools/x', set('core.fsmonitor', '${NONE}tools/x')),
  'core.fsmonitor with a substitution': program('tools/x', set('core.fsmonitor', 'to$(echo "$(echo ol)")s/x')),
  "core.fsmonitor with Bash's quotes and braces": program(
    'tools/x.sh',
    set('core.fsmonitor', `bash -c '$'"'"'t\\x6fols'"'"'/{x,z}.sh'`),
  ),
  'core.hooksPath': program('.githooks/post-index-change', set('core.hooksPath', '.githooks'), {
    git: [['add', '.']],
  }),
  'a hook that is a link': program(
    'tools/hook',
    async () => {
      await mkdir(join(project, '.githooks'));
      await symlink('../tools/hook', join(project, '.githooks/post-index-change'));
      await git('config', 'core.hooksPath', '.githooks');
    },
    { git: [['add', '.']] },
  ),
  'diff.external': program(
    'tools/x',
    async () => {
      await changed();
      await git('config', 'diff.external', './tools/x');
    },
    { git: [['diff']] },
  ),
  GIT_EXTERNAL_DIFF: program(
    'tools/x',
    async () => {
      await changed();
      env.GIT_EXTERNAL_DIFF = 'tools/x';
    },
    { git: [['diff']] },
  ),
  'a diff driver': program(
    'tools/x',
    async () => {
      await changed();
      await git('config', 'diff.evil.command', 'tools/x');
    },
    { git: [['diff']] },
  ),
  'a conversion to text': program(
    'tools/x',
    async () => {
      await changed();
      await git('config', 'diff.evil.textconv', 'tools/x');
    },
    { git: [['log', '-p'], ['show']] },
  ),
  'a filter': settings(
    'x.sh',
    async () => {
      await changed();
      await git('config', 'filter.evil.clean', 'sh x.sh %f');
    },
    { git: [['diff']] },
  ),
  'settings of a submodule': settings('sub/x.cfg', async () => {
    await addSubmodule();
    await gitIn(join(project, 'sub'), 'config', 'include.path', join(project, 'sub/x.cfg'));
  }),
  'a program outside of the submodule that names it': program('tools/x', async () => {
    await addSubmodule();
    await gitIn(join(project, 'sub'), 'config', 'core.fsmonitor', '../tools/x');
  }),
  'a program that the repository around a submodule names': program('sub/tools/x', async () => {
    await addSubmodule();
    await git('config', 'core.fsmonitor', 'sub/tools/x');
  }),
  'a program outside of an embedded repository that names it': program('tools/x', async () => {
    await addEmbedded('sub');
    await gitIn(join(project, 'sub'), 'config', 'core.fsmonitor', '../tools/x');
  }),
  'a program that an embedded repository in another one names': program('tools/x', async () => {
    await addEmbedded('sub/deep');
    await addEmbedded('sub');
    await gitIn(join(project, 'sub/deep'), 'config', 'core.fsmonitor', '../../tools/x');
  }),
  'a program that an embedded repository with a separate git directory names': program('tools/x', async () => {
    await addEmbedded('sub');
    await gitIn(join(project, 'sub'), 'init', '-q', '--separate-git-dir', join(root, 'store'));
    await gitIn(join(project, 'sub'), 'config', 'core.fsmonitor', '../tools/x');
  }),
  'a file that an embedded repository includes': settings('x.cfg', async () => {
    await addEmbedded('sub');
    await gitIn(join(project, 'sub'), 'config', 'include.path', '../../x.cfg');
  }),
  'a program outside of a linked work tree that names it': program(
    'tools/x',
    async () => {
      await git('worktree', 'add', '-q', 'linked');
      await git('config', 'extensions.worktreeConfig', 'true');
      await gitIn(join(project, 'linked'), 'config', '--worktree', 'core.fsmonitor', '../tools/x');
    },
    { git: [['-C', 'linked', 'status']] },
  ),
  'a program that a submodule of a linked work tree names': program(
    'tools/x',
    async () => {
      await git('worktree', 'add', '-q', 'linked');
      await addSubmodule('linked');
      await gitIn(join(project, 'linked/sub'), 'config', 'core.fsmonitor', '../../tools/x');
    },
    { git: [['-C', 'linked', 'status']] },
  ),
  'a linked work tree': program(
    'linked/tools/x',
    async () => {
      await git('worktree', 'add', '-q', 'linked');
      await git('config', 'core.fsmonitor', 'tools/x');
    },
    { git: [['-C', 'linked', 'status']] },
  ),
  'a repository within the project': settings(
    'vendor/deep/x.cfg',
    async () => {
      await mkdir(join(project, 'vendor'));
      await gitIn(join(project, 'vendor'), 'init', '-q');
      await gitIn(join(project, 'vendor'), 'config', 'include.path', '../deep/x.cfg');
    },
    { git: [['-C', 'vendor', 'status']] },
  ),
  'core.pager': program('tools/x', set('core.pager', 'tools/x --color'), { git: [] }),
  'pager.log': program('tools/x', set('pager.log', 'tools/x'), { git: [] }),
  'gpg.program': program('tools/x', set('gpg.program', 'tools/x'), { git: [] }),
  'core.editor': program('tools/x', set('core.editor', 'tools/x'), { git: [] }),
  'core.sshCommand': program('tools/x', set('core.sshCommand', 'ssh -F tools/x'), { git: [] }),
  'an alias': program('tools/x', set('alias.go', '!f() { ./tools/x "$@"; }; f'), { git: [['go']] }),
  'a merge driver': program('tools/x', set('merge.evil.driver', 'tools/x %O'), { git: [] }),
};

async function addSubmodule(tree = '.'): Promise<void> {
  const library = join(root, 'library');
  await mkdir(library);
  await gitIn(library, 'init', '-q');
  await gitIn(library, 'commit', '-q', '--allow-empty', '-m', 'first');
  await gitIn(join(project, tree), 'submodule', '--quiet', 'add', library, 'sub');
}

/** Adds a gitlink to a repository within the project, without `.gitmodules`. */
async function addEmbedded(path: string): Promise<void> {
  const directory = join(project, path);
  await mkdir(directory, { recursive: true });
  await gitIn(directory, 'init', '-q');
  await gitIn(directory, 'add', '.');
  await gitIn(directory, 'commit', '-q', '--allow-empty', '-m', 'first');
  const around = path.includes('/') ? join(project, dirname(path)) : project;
  if (around !== project) await gitIn(around, 'init', '-q');
  await gitIn(around, 'add', basename(path));
}

const names = Object.keys(attacks);
const attackOf = (name: string) => attacks[name] ?? expect.unreachable(name);

describe.each(names)('%s', (name) => {
  const { build, path, program: isProgram, git: lines = [], cwd = () => project } = attackOf(name);
  const mode = isProgram ? 0o755 : 0o644;

  test.skipIf(lines.length === 0)('plain git starts the written file', async () => {
    await put('new.txt', '');
    await build();
    await rm(mark, { force: true });
    const file = join(cwd(), path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, isProgram || !/cfg$|config$/.test(path) ? evil() : evilSettings());
    await chmod(file, mode);
    for (const line of lines) await git(...line);
    expect(await exists(mark)).toBe(true);
  });

  test('the write needs approval, whether or not the file exists', async () => {
    await build();
    expect(await verdict(path, { cwd: cwd() })).toBe('ask');
    expect(await verdict(path, { cwd: cwd(), mode: 'yolo' })).toBe('ask');
    await mkdir(dirname(join(cwd(), path)), { recursive: true });
    await writeFile(join(cwd(), path), '');
    expect(await verdict(path, { cwd: cwd(), tool: 'Edit' })).toBe('ask');
  });

  test('other writes do not', async () => {
    await build();
    for (const other of ['src/a.txt', 'src/new.ts', '.gitignore', '.gitattributes', '.gitmodules', 'tools/y', 'y.cfg'])
      expect([other, await verdict(other)]).toEqual([other, 'approve']);
  });
});

test('settings that name no program are ignored', async () => {
  for (const [key, value] of [
    ['blame.ignoreRevsFile', '.git-blame-ignore-revs'],
    ['core.attributesFile', 'attributes'],
    ['core.excludesFile', 'excludes'],
    ['commit.template', 'template'],
    ['mailmap.file', 'mailmap'],
    ['alias.st', 'status'],
    ['core.pager', 'less -R'],
    ['core.fsmonitor', 'true'],
    ['filter.lfs.process', 'git-lfs filter-process'],
    ['credential.helper', 'store'],
    ['remote.origin.url', '../src'],
    ['alias.gone', `!git branch -vv | grep -v '\\*' | awk '/: gone]/{print $1}' | xargs git branch -D`],
    ['alias.all', '!git add *'],
    ['filter.clean.clean', `sed -E 's/^(key=).*$/\\1/' | grep -v '.*'`],
    ['filter.notebook.clean', `jq --indent 1 '(.cells[] | select(has("outputs")) | .outputs) = []'`],
    ['difftool.code.cmd', 'code --wait --diff "$LOCAL" $REMOTE'],
    ['diff.zip.textconv', `sh -c 'unzip -c -a "$0"' `],
  ] as const) {
    await git('config', key, value);
  }
  const files = [
    '.git-blame-ignore-revs',
    'attributes',
    'excludes',
    'template',
    'mailmap',
    'status',
    'src/x',
    'src/less',
  ];
  for (const path of files) expect([path, await verdict(path)]).toEqual([path, 'approve']);
});

describe('the cache of a configuration', () => {
  /** Decides until the configuration is cached: settings that were changed recently are read each time. */
  const settled = () =>
    expect
      .poll(async () => {
        const before = spawned;
        await verdict('src/a.txt');
        return spawned - before;
      })
      .toBe(0);

  test('it is read a single time, by one git process', async () => {
    await settled();
    const before = spawned;
    policy = newPolicy();
    await verdict('src/a.txt');
    await verdict('src/b.txt');
    await verdict('c.txt');
    expect(spawned - before).toBe(1);
  });

  test('is invalidated by a change of the settings, and by an included file that is created or changed', async () => {
    await settled();
    expect(await verdict('x.cfg')).toBe('approve');
    await git('config', 'include.path', '../x.cfg');
    expect(await verdict('x.cfg')).toBe('ask');
    await settled();
    expect(await verdict('tools/x')).toBe('approve');
    await put('x.cfg', '[core]\n\tfsmonitor = tools/x\n');
    expect(await verdict('tools/x')).toBe('ask');
    await settled();
    await put('x.cfg', '[core]\n\tfsmonitor = tools/y\n');
    expect(await verdict('tools/x')).toBe('approve');
    expect(await verdict('tools/y')).toBe('ask');
  });

  test('is invalidated by a file of the same size whose time was set back', async () => {
    await put('x.cfg', '[core]\n\tfsmonitor = tools/x\n');
    await git('config', 'include.path', '../x.cfg');
    const file = join(project, 'x.cfg');
    await utimes(file, 1, 1);
    await settled();
    await writeFile(file, '[core]\n\tfsmonitor = tools/y\n');
    await utimes(file, 1, 1);
    expect(await verdict('tools/y')).toBe('ask');
  });

  test('does not store a file that was changed a moment ago, which may change again within the same moment', async () => {
    await put('x.cfg', '[core]\n\tfsmonitor = tools/x\n');
    await git('config', 'include.path', '../x.cfg');
    const { stat } = runtime;
    const moment = Date.now() + 3_600_000;
    runtime = {
      ...runtime,
      async stat(path) {
        const stats = await stat(path);
        return path.endsWith('x.cfg') ? Object.assign(stats, { mtimeMs: moment, ctimeMs: moment }) : stats;
      },
    };
    expect(await verdict('tools/y')).toBe('approve');
    await put('x.cfg', '[core]\n\tfsmonitor = tools/y\n');
    expect(await verdict('tools/y')).toBe('ask');
  });

  test('does not store an index that was changed a moment ago, which may change again within the same moment', async () => {
    const { stat } = runtime;
    const moment = Date.now() + 3_600_000;
    runtime = {
      ...runtime,
      async stat(path) {
        const stats = await stat(path);
        return path.endsWith('/index') ? Object.assign(stats, { ino: 1, size: 1, mtimeMs: 1, ctimeMs: moment }) : stats;
      },
    };
    expect(await verdict('tools/x')).toBe('approve');
    await addEmbedded('sub');
    await gitIn(join(project, 'sub'), 'config', 'core.fsmonitor', '../tools/x');
    expect(await verdict('tools/x')).toBe('ask');
  });

  test("is invalidated by the user's settings, those of a work tree, and those of a new submodule", async () => {
    await settled();
    await writeFile(join(home, '.gitconfig'), '[core]\n\tfsmonitor = tools/x\n');
    expect(await verdict('tools/x')).toBe('ask');
    await addSubmodule();
    await settled();
    expect(await verdict('tools/y')).toBe('approve');
    await gitIn(join(project, 'sub'), 'config', 'core.fsmonitor', '../tools/y');
    expect(await verdict('tools/y')).toBe('ask');
    await settled();
    await put('.git/modules/late/HEAD', 'ref: refs/heads/main\n');
    await put('.git/modules/late/config', '[core]\n\tfsmonitor = ../tools/z\n\tworktree = ../../../sub\n');
    expect(await verdict('tools/z')).toBe('ask');
    await settled();
    env.HOME = root;
    expect(await verdict('tools/x')).toBe('approve');
  });

  test('is invalidated by a new embedded repository, and by changed settings of it or of a linked work tree', async () => {
    await git('worktree', 'add', '-q', 'linked');
    await git('config', 'extensions.worktreeConfig', 'true');
    await settled();
    expect(await verdict('tools/x')).toBe('approve');
    await addEmbedded('sub');
    await gitIn(join(project, 'sub'), 'config', 'core.fsmonitor', '../tools/x');
    expect(await verdict('tools/x')).toBe('ask');
    await settled();
    await gitIn(join(project, 'sub'), 'config', 'core.fsmonitor', '../tools/y');
    expect(await verdict('tools/x')).toBe('approve');
    expect(await verdict('tools/y')).toBe('ask');
    await settled();
    await gitIn(join(project, 'linked'), 'config', '--worktree', 'core.fsmonitor', '../tools/z');
    expect(await verdict('tools/z')).toBe('ask');
    await git('rm', '-q', '--cached', '-f', 'sub');
    expect(await verdict('tools/y')).toBe('approve');
  });

  test('a changed index starts no git process without gitlinks, and one with gitlinks', async () => {
    const spawnedFor = async (file: string) => {
      await put(file, '');
      await git('add', file);
      const before = spawned;
      expect(await verdict('src/a.txt')).toBe('approve');
      return spawned - before;
    };
    await settled();
    expect(await spawnedFor('one')).toBe(0);
    await addSubmodule();
    await settled();
    expect(await spawnedFor('two')).toBe(1);
  });

  test('a split index, and one that git cannot read', async () => {
    await addEmbedded('sub');
    await gitIn(join(project, 'sub'), 'config', 'core.fsmonitor', '../tools/x');
    await git('update-index', '--split-index');
    expect(await verdict('tools/x')).toBe('ask');
    expect(await verdict('src/a.txt')).toBe('approve');
    await put('.git/index', 'link\0');
    expect(await verdict('src/a.txt')).toBe('ask');
  });

  test('is invalidated by a new link in a hook directory', async () => {
    await git('config', 'core.hooksPath', '.githooks');
    await mkdir(join(project, '.githooks'));
    await settled();
    expect(await verdict('tools/hook')).toBe('approve');
    await symlink('../tools/hook', join(project, '.githooks/post-checkout'));
    expect(await verdict('tools/hook')).toBe('ask');
  });
});

test.skipIf(process.getuid?.() !== 0)('a repository of another owner that the environment exempts', async () => {
  await git('config', 'core.fsmonitor', 'tools/x');
  for (const path of [project, join(project, '.git')]) await chown(path, 12_345, 12_345);
  await expect(git('status')).rejects.toThrow('dubious ownership');
  Object.assign(env, { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' });
  await git('status');
  expect(await verdict('src/a.txt')).toBe('approve');
  expect(await verdict('tools/x')).toBe('ask');
});

describe('unreadable settings', () => {
  test.each([
    ['broken', () => put('x.cfg', '<<<<<<< HEAD\n')],
    ['in a circle', () => put('x.cfg', '[include]\n\tpath = x.cfg\n')],
  ])('%s: every write needs approval, git itself does not start', async (_name, build) => {
    await git('config', 'include.path', '../x.cfg');
    await build();
    await expect(execute('git', ['status'], { cwd: project, env })).rejects.toThrow(/bad config line|include depth/);
    expect(await verdict('src/a.txt')).toBe('ask');
    await put('x.cfg', '');
    expect(await verdict('src/a.txt')).toBe('approve');
  });

  test('more included files than the limit', async () => {
    const include = (count: number) =>
      put('x.cfg', Array.from({ length: count }, (_, index) => `[include]\n\tpath = y${index}.cfg\n`).join(''));
    await git('config', 'include.path', '../x.cfg');
    await include(100);
    expect(await verdict('src/a.txt')).toBe('approve');
    expect(await verdict('y99.cfg')).toBe('ask');
    await include(600);
    expect(await verdict('src/a.txt')).toBe('ask');
  });

  test('more embedded repositories than the limit', async () => {
    const head = (await git('rev-parse', 'HEAD')).trim();
    const embed = async (count: number) => {
      const names = Array.from({ length: count }, (_, index) => `s${index}`);
      for (const name of names) {
        await put(`.git/modules/${name}/HEAD`, 'ref: refs/heads/main\n');
        await put(`${name}/.git`, `gitdir: ../.git/modules/${name}\n`);
      }
      await git('update-index', '--add', ...names.flatMap((name) => ['--cacheinfo', `160000,${head},${name}`]));
    };
    await embed(200);
    expect(await verdict('src/a.txt')).toBe('approve');
    await embed(501);
    expect(await verdict('src/a.txt')).toBe('ask');
  });

  test('without git no program can be started', async () => {
    await git('config', 'core.fsmonitor', 'tools/x');
    runtime = { ...runtime, which: async () => undefined };
    expect(await verdict('tools/x')).toBe('approve');
  });
});
