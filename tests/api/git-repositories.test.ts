/** Repositories built from ordinary files: git in an allowed line must not start the programs that they name. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fileExists } from '#support/files.ts';
import { call, callThenText, startTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
/** A program that git started creates this path, with the name of its directory appended. */
let mark: string;
let evil: string;
beforeAll(async () => {
  const allow = ['git status*', 'git log*', 'git diff*', 'git show*', 'env'].map((match) => ({ tool: 'Bash', match }));
  world = await startWorld({ config: { permission: { allow } } });
  mark = join(dirname(world.project), 'mark');
  evil = join(dirname(world.project), 'evil.sh');
  await writeFile(evil, `#!/bin/sh\ntouch "${mark}-$(basename "$PWD")"\n`);
  await chmod(evil, 0o755);
});
afterAll(() => world.close());

const bareConfig = () =>
  `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = ${evil}\n`;
const bash = (command: string, cwd?: string) => call('Bash', { command, ...(cwd ? { cwd } : {}) });

/** Runs the calls as the turns of a model and rejects every approval. Returns the number of approval requests. */
async function rejecting(talk: Talk, turns: ReturnType<typeof call>[][]): Promise<number> {
  const before = talk.all('event.approval.requested').length;
  let asked = before;
  for (const calls of turns) {
    const turn = talk.turn('go', [{ calls }, { text: 'Done.' }]).then(() => undefined);
    for (;;) {
      const request = talk.nth('event.approval.requested', asked + 1);
      request.catch(() => undefined);
      const next = await Promise.race([turn, request]);
      if (!next) break;
      asked++;
      await talk.answer(String(next.payload.approval_id), { decision: 'rejected' });
    }
  }
  return asked - before;
}

const parts = (folder: string) => [
  call('Write', { path: `${folder}/HEAD`, content: 'ref: refs/heads/main\n' }),
  call('Write', { path: `${folder}/objects/info/x`, content: '' }),
  call('Write', { path: `${folder}/refs/heads/x`, content: '' }),
  call('Write', { path: `${folder}/config`, content: bareConfig() }),
];

describe('a bare repository', () => {
  test('the attack works without the protection', async () => {
    const folder = join(dirname(world.project), 'control');
    await mkdir(join(folder, 'objects'), { recursive: true });
    await mkdir(join(folder, 'refs'));
    await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
    await writeFile(join(folder, 'config'), bareConfig());
    execFileSync('git', ['status'], { cwd: folder, stdio: 'pipe' });
    expect(await fileExists(`${mark}-control`)).toBe(true);
  });

  test.each([
    ['one response', 'v1', (folder: string) => [[...parts(folder), bash(`cd ${folder} && git status`)]]],
    [
      'responses of their own',
      'v2',
      (folder: string) => [...parts(folder), bash('git status', folder)].map((one) => [one]),
    ],
    ['the reverse order', 'v3', (folder: string) => [[...parts(folder).toReversed(), bash('git status', folder)]]],
  ])('written in %s: needs approval, and no program starts', async (_name, folder, turns) => {
    const talk = await startTalk(world);
    expect(await rejecting(talk, turns(folder))).toBeGreaterThan(0);
    expect(await fileExists(`${mark}-${folder}`)).toBe(false);
  });

  test('that came with the project: the line needs approval', async () => {
    const folder = join(world.project, 'shipped');
    await mkdir(join(folder, 'objects'), { recursive: true });
    await mkdir(join(folder, 'refs'));
    await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
    await writeFile(join(folder, 'config'), bareConfig());
    const talk = await startTalk(world);
    for (const command of ['git status', 'git diff', 'git log', 'git show']) {
      expect([command, await rejecting(talk, [[bash(command, 'shipped')]])]).toEqual([command, 1]);
    }
    expect(await fileExists(`${mark}-shipped`)).toBe(false);
  });
});

test('a file that the configuration includes before it exists: the write needs approval', async () => {
  execFileSync('git', ['config', 'include.path', '../.gitconfig'], { cwd: world.project, stdio: 'pipe' });
  const talk = await startTalk(world);
  const write = call('Write', { path: '.gitconfig', content: `[core]\n\tfsmonitor = ${evil}\n` });
  expect(await rejecting(talk, [[write, bash('git status')]])).toBe(1);
  expect(await rejecting(talk, [[call('Write', { path: 'ordinary', content: '' })]])).toBe(0);
  expect(await fileExists(`${mark}-project`)).toBe(false);
});

describe('a repository within the project that names a program outside of it', () => {
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd, stdio: 'pipe' });
  const write = (place: string) =>
    call('Write', { path: 'tools/monitor', content: `#!/bin/sh\ntouch "${mark}-${place}"\n` });
  beforeAll(async () => {
    await mkdir(join(world.project, 'tools'));
    await writeFile(join(world.project, 'tools/monitor'), '');
    await chmod(join(world.project, 'tools/monitor'), 0o755);
    git(world.project, 'commit', '--quiet', '--allow-empty', '-m', 'first');
  });
  const read = call('Read', { path: 'tools/monitor' });

  test('an embedded one, which git enters from the top: the write needs approval', async () => {
    const folder = join(world.project, 'embedded');
    await mkdir(folder);
    git(folder, 'init', '--quiet');
    git(folder, 'commit', '--quiet', '--allow-empty', '-m', 'first');
    git(world.project, 'add', 'embedded');
    git(folder, 'config', 'core.fsmonitor', '../tools/monitor');
    const talk = await startTalk(world);
    expect(await rejecting(talk, [[read], [write('embedded')], [bash('git status')]])).toBe(1);
    expect(await rejecting(talk, [[bash('git status', 'embedded')]])).toBe(0);
    expect(await fileExists(`${mark}-embedded`)).toBe(false);
    git(world.project, 'rm', '--quiet', '--cached', '-f', 'embedded');
  });

  test('one that git does not enter: the line needs approval', async () => {
    const folder = join(world.project, 'vendor');
    await mkdir(folder);
    git(folder, 'init', '--quiet');
    git(folder, 'config', 'core.fsmonitor', '../tools/monitor');
    const talk = await startTalk(world);
    expect(await rejecting(talk, [[read], [write('vendor'), bash('git status', 'vendor')]])).toBe(1);
    expect(await rejecting(talk, [[bash('cd vendor && git status')]])).toBe(1);
    expect(await fileExists(`${mark}-vendor`)).toBe(false);
    git(folder, 'config', '--unset', 'core.fsmonitor');
    expect(await rejecting(talk, [[bash('git status', 'vendor')]])).toBe(0);
  });
});

test('git that would write its own configuration: the line needs approval, and no program starts', async () => {
  const talk = await startTalk(world);
  const settings = `git log -1 --format='[core]%n fsmonitor = touch ${mark}-output; false' --output=.git/config`;
  expect(await rejecting(talk, [[bash(settings)], [bash('git status')]])).toBe(1);
  expect(await fileExists(`${mark}-output`)).toBe(false);
});

test('git in a line that a rule approved uses no bare repository; in a line that a person approved it does', async () => {
  const folder = join(world.project, 'origin.git');
  execFileSync('git', ['init', '--quiet', '--bare', folder]);
  const talk = await startTalk(world);
  const run = async (command: string, answer?: Record<string, unknown>) => {
    const before = talk.all('event.approval.requested').length;
    const turn = talk.turn('go', callThenText('Bash', { command }));
    if (answer) {
      const request = await talk.nth('event.approval.requested', before + 1);
      await talk.answer(String(request.payload.approval_id), answer);
    }
    return (await turn).results[0]?.output ?? '';
  };
  expect(await run('env')).not.toContain('GIT_CONFIG_COUNT');
  expect(await run('git status && env')).toMatch(/GIT_CONFIG_KEY_0=safe\.bareRepository\n/);
  expect(await run('git -C origin.git rev-parse --is-bare-repository', { decision: 'approved' })).toBe('true\n');
});

test('git status, log, diff and show of a work tree, a linked one and a submodule run without approval', async () => {
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'protocol.file.allow=always', ...args], {
      cwd,
      stdio: 'pipe',
    });
  const library = join(dirname(world.project), 'library');
  execFileSync('git', ['init', '--quiet', library]);
  git(library, 'commit', '--quiet', '--allow-empty', '-m', 'first');
  git(world.project, 'commit', '--quiet', '--allow-empty', '-m', 'first');
  git(world.project, 'worktree', 'add', '--quiet', 'linked');
  git(world.project, 'submodule', '--quiet', 'add', library, 'sub');
  const talk = await startTalk(world);
  for (const cwd of ['.', 'linked', 'sub']) {
    const commands = ['git status', 'git log', 'git diff', 'git show'];
    const { results } = await talk.turn('go', [
      { calls: commands.map((command) => bash(command, cwd)) },
      { text: 'Done.' },
    ]);
    expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false]);
  }
  expect(talk.all('event.approval.requested')).toEqual([]);
});
