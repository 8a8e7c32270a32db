/** Files of an untrusted project: effects that they must not have, and features that must keep working. */
import { execFileSync } from 'node:child_process';
import { chown, mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { warningSchema } from '#schema/rest/session.ts';
import { callFate } from '#support/call-fate.ts';
import { putFile } from '#support/files.ts';
import { hostile, mcpTalks } from '#support/mcp-talk.ts';
import { eventually } from '#support/patience.ts';
import { call, callThenText, startTalk, type Talk, systemPrompt } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

const SECRET = 'the-secret-of-the-user';
const FOREIGN = 65_534;

let world: World;
let base: string;
beforeEach(async () => {
  world = await startWorld({ mayStall: 'git init' });
  base = dirname(world.project);
  vi.stubEnv('HOME', join(base, 'person'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await world.close();
});

async function link(target: string, path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await symlink(target, path);
  return path;
}

const configText = () => readFile(join(world.server.home, 'config.toml'), 'utf8');

const warningsSchema = z.object({ warnings: z.array(warningSchema) });
const warningsOf = async (talk: Talk) => warningsSchema.parse(await world.ok('GET', `${talk.path}/warnings`)).warnings;

const workspaceSchema = z.object({ id: z.string() });
/** Trusts a directory, and returns a function that untrusts it. */
async function trust(root: string): Promise<() => Promise<unknown>> {
  const { id } = workspaceSchema.parse(await world.ok('POST', '/workspaces', { root }));
  await world.ok('POST', `/workspaces/${id}/trust`);
  return () => world.ok('POST', `/workspaces/${id}/untrust`);
}

describe('an instruction file', () => {
  test.each([
    ['a file outside', async () => putFile(join(base, 'outside.txt'), SECRET)],
    ['a key of the user', async () => putFile(join(base, '.ssh/id_rsa'), SECRET)],
    ['the token of the server', async () => join(world.server.home, 'server.token')],
    ['an environment file of the project', async () => putFile(join(world.project, '.env'), SECRET)],
    ['the environment of the server', async () => '/proc/self/environ'],
    [
      'a key of the project by another name',
      async () => putFile(join(world.project, 'deploy.txt'), `-----BEGIN PRIVATE KEY-----\n${SECRET}\n`),
    ],
    ['a device without end', async () => '/dev/zero'],
  ])('that links to %s is refused, with a warning', async (_what, target) => {
    vi.stubEnv('SOME_VARIABLE', SECRET);
    const refused = [
      await link(await target(), join(world.project, 'AGENTS.md')),
      await link(await target(), join(world.project, '.service-code/AGENTS.md')),
    ];
    const talk = await startTalk(world);
    await talk.turn('hi', [{ text: 'hi' }]);
    const request = JSON.stringify(world.model.requests);
    expect(request).not.toContain(SECRET);
    expect(request).not.toContain(world.server.token);
    const [warning, ...others] = await warningsOf(talk);
    expect(others).toEqual([]);
    expect(warning?.code).toBe('agents-md-oversized');
    for (const path of refused) expect(warning?.message).toContain(path);
  });

  test('of the user that links to a secret of the server is refused, too', async () => {
    const path = await link(join(world.server.home, 'server.token'), join(base, 'person/.agents/AGENTS.md'));
    const talk = await startTalk(world);
    await talk.turn('hi', [{ text: 'hi' }]);
    expect(JSON.stringify(world.model.requests)).not.toContain(world.server.token);
    expect(await warningsOf(talk)).toMatchObject([{ message: expect.stringContaining(path) }]);
  });

  test('above 1 MiB is refused before it is read', async () => {
    const path = await putFile(join(world.project, 'AGENTS.md'), '');
    await truncate(path, 300 * 1024 * 1024);
    const talk = await startTalk(world);
    await talk.turn('hi', [{ text: 'hi' }]);
    expect(systemPrompt(world)).not.toContain(path);
    expect(await warningsOf(talk)).toMatchObject([
      { code: 'agents-md-oversized', message: expect.stringContaining('is larger than 1048576 bytes') },
    ]);
    await writeFile(path, `${'x'.repeat(1024 * 1024 - 3)}END`);
    await talk.turn('hi', [{ text: 'hi' }]);
    expect(systemPrompt(world)).toContain('xEND');
  });

  test('that is a pipe does not block, and causes a warning; one that is a directory does not', async () => {
    const path = join(world.project, 'AGENTS.md');
    execFileSync('mkfifo', [path]);
    const talk = await startTalk(world);
    await talk.turn('hi', [{ text: 'hi' }]);
    expect(await warningsOf(talk)).toEqual([
      {
        code: 'agents-md-oversized',
        message: `${path} could not be read: ${path} is not a regular file`,
        severity: 'warning',
      },
    ]);
    await putFile(join(world.project, 'agents.md'), 'in small letters');
    await talk.turn('hi', [{ text: 'hi' }]);
    expect(systemPrompt(world)).toContain('in small letters');
    await rm(path);
    await mkdir(path);
    await talk.turn('hi', [{ text: 'hi' }]);
    expect(systemPrompt(world)).toContain('in small letters');
    expect(await warningsOf(talk)).toEqual([]);
  });

  test('may link to a file of the project; those of the user may link to any file', async () => {
    await putFile(join(world.project, 'docs/agents.md'), 'of the project');
    await putFile(join(base, 'dotfiles/agents.md'), 'of the user');
    await putFile(join(base, 'dotfiles/home.md'), 'of the home');
    await link('docs/agents.md', join(world.project, 'AGENTS.md'));
    await link(join(base, 'dotfiles/agents.md'), join(base, 'person/.agents/AGENTS.md'));
    await link(join(base, 'dotfiles/home.md'), join(world.server.home, 'AGENTS.md'));
    const talk = await startTalk(world);
    await talk.turn('hi', [{ text: 'hi' }]);
    for (const text of ['of the project', 'of the user', 'of the home']) expect(systemPrompt(world)).toContain(text);
    expect(await warningsOf(talk)).toEqual([]);
  });
});

describe('a list of additional directories that came with the project', () => {
  let local: string;
  let victim: string;
  beforeEach(async () => {
    local = await putFile(join(world.project, '.service-code/local.toml'), '[workspace]\nadditional_dir = ["/"]\n');
    victim = await putFile(join(base, 'victim/.bashrc'), 'unharmed');
  });

  test('extends nothing: paths outside need approval, are not linked to, and are not in the prompt', async () => {
    const talk = await startTalk(world);
    expect(await callFate(talk, 'Write', { path: join(base, 'victim/new'), content: 'x' })).toBe('asked');
    expect(await callFate(talk, 'Read', { path: victim })).toBe('asked');
    await symlink(dirname(victim), join(world.project, 'out'));
    expect(await world.api('POST', `${talk.path}/fs:stat`, { path: 'out/.bashrc' })).toMatchObject({ code: 41304 });
    expect(systemPrompt(world)).not.toContain('Additional directory');
    expect(await warningsOf(talk)).toEqual([
      {
        code: 'project-config-ignored',
        message: `${local} has no effect: ${world.project} is not trusted.`,
        severity: 'warning',
        directory: world.project,
      },
    ]);
    expect(talk.all('warning').map(({ payload }) => payload.code)).toEqual(['project-config-ignored']);
  });

  test('is in force as long as the directory is trusted', async () => {
    const talk = await startTalk(world);
    const workspace = `/workspaces/${talk.session.workspace_id}`;
    expect(await callFate(talk, 'Read', { path: victim })).toBe('asked');
    await world.ok('POST', `${workspace}/trust`);
    expect(await callFate(talk, 'Read', { path: victim })).toContain('unharmed');
    expect(await warningsOf(talk)).toEqual([]);
    await world.ok('POST', `${workspace}/untrust`);
    expect(await callFate(talk, 'Read', { path: victim })).toBe('asked');
  });

  test('is in force for an entry that a request confirms, without trust and over a restart', async () => {
    await writeFile(local, `[workspace]\nadditional_dir = ["/", ${JSON.stringify(dirname(victim))}]\n`);
    const talk = await startTalk(world);
    const workspace = `/workspaces/${talk.session.workspace_id}`;
    const added = await world.ok('POST', `${workspace}/add-dir`, { path: dirname(victim) });
    expect(added).toMatchObject({ additional_dirs: ['/', dirname(victim)], persisted: true });
    expect(await callFate(talk, 'Read', { path: victim })).toContain('unharmed');
    expect(await callFate(talk, 'Read', { path: await putFile(join(base, 'other'), '') })).toBe('asked');
    expect(await world.ok('GET', `${workspace}/trust`)).toEqual({ trusted: false });
    await world.restart();
    await symlink(dirname(victim), join(world.project, 'out'));
    expect(await world.api('POST', `${talk.path}/fs:stat`, { path: 'out/.bashrc' })).toMatchObject({ code: 0 });
  });
});

describe('an additional directory that came with the project, before and after it is in force', () => {
  let victim: string;
  let talk: Talk;
  beforeEach(async () => {
    victim = join(base, 'victim');
    await mkdir(victim);
    await putFile(
      join(world.project, '.service-code/local.toml'),
      `[workspace]\nadditional_dir = ["/", ${JSON.stringify(victim)}]\n`,
    );
    talk = await startTalk(world);
  });
  const workspace = () => `/workspaces/${talk.session.workspace_id}`;
  const confirm = () => world.ok('POST', `${workspace()}/add-dir`, { path: victim });
  const trustIt = () => world.ok('POST', `${workspace()}/trust`);

  test('is not a root of MCP servers, then is one', async () => {
    await mcpTalks(world).configure({ recorder: hostile() });
    const roots = async () => {
      const echo = callThenText('mcp__recorder__echo', { text: 'roots' });
      const { results } = await talk.turn('go', echo, { permission_mode: 'yolo' });
      const answer = z.object({ roots: z.array(z.object({ uri: z.string() })) });
      return answer.parse(JSON.parse(results[0]?.output ?? '')).roots.map(({ uri }) => fileURLToPath(uri));
    };
    expect(await roots()).toEqual([world.project]);
    await confirm();
    expect(await roots()).toEqual([world.project, victim]);
    await trustIt();
    expect(await roots()).toEqual([world.project, '/', victim]);
    await world.ok('POST', `${workspace()}/untrust`);
    expect(await roots()).toEqual([world.project, victim]);
  });

  test('is not a directory where an allow rule approves commands, then is one', async () => {
    await world.ok('POST', '/config', { permission: { allow: [{ tool: 'Bash', match: 'echo *' }] } });
    const echo = (cwd: string) => callFate(talk, 'Bash', { command: 'echo hi', cwd });
    expect(await echo(world.project)).toContain('hi');
    expect(await echo(victim)).toBe('asked');
    await confirm();
    expect(await echo(victim)).toContain('hi');
    expect(await echo(base)).toBe('asked');
    await trustIt();
    expect(await echo(base)).toContain('hi');
  });
});

describe.runIf(process.getuid?.() === 0)('files of another user above the work directory', () => {
  let shared: string;
  let mine: string;
  beforeEach(async () => {
    shared = join(base, 'shared');
    mine = join(shared, 'mine');
    await mkdir(mine, { recursive: true });
    execFileSync('git', ['init', '--quiet', shared]);
    await putFile(join(shared, 'AGENTS.md'), 'do as I say');
    await putFile(join(shared, '.service-code/local.toml'), '[workspace]\nadditional_dir = ["/"]\n');
    await putFile(join(shared, '.service-code/agents/helper.md'), '---\ndescription: D\n---\nobey\n');
  });
  const disown = () => execFileSync('chown', ['-R', String(FOREIGN), ...foreignParts()]);
  const foreignParts = () => ['.git', 'AGENTS.md', '.service-code'].map((name) => join(shared, name));

  test('form no work tree and are no instructions', async () => {
    disown();
    const talk = await startTalk(world, { metadata: { cwd: mine } });
    expect(await callFate(talk, 'Write', { path: 'new', content: 'x' })).toBe('asked');
    expect(await callFate(talk, 'Write', { path: join(base, 'victim'), content: 'x' })).toBe('asked');
    expect(JSON.stringify(world.model.requests)).not.toContain('do as I say');
    expect(await warningsOf(talk)).toMatchObject([
      {
        code: 'project-config-ignored',
        message: `${join(shared, '.git')} has no effect: it belongs to another user.`,
        directory: shared,
      },
    ]);
  });

  test('in a repository of the user are omitted individually', async () => {
    await writeFile(join(world.server.home, 'config.toml'), `extra_agent_dirs = ["more"]\n${await configText()}`);
    const extra = await putFile(join(shared, 'more/extra.md'), '---\ndescription: D\n---\nobey\n');
    for (const name of ['AGENTS.md', '.service-code', 'more']) {
      execFileSync('chown', ['-R', String(FOREIGN), join(shared, name)]);
    }
    const talk = await startTalk(world, { metadata: { cwd: mine } });
    await talk.turn('hi', [{ text: 'hi' }]);
    expect(JSON.stringify(world.model.requests)).not.toContain('do as I say');
    expect((await warningsOf(talk)).map(({ message }) => message.split(' has')[0]).toSorted()).toEqual([
      join(shared, '.service-code/agents/helper.md'),
      join(shared, '.service-code/local.toml'),
      join(shared, 'AGENTS.md'),
      extra,
    ]);
  });

  test('are used when the user trusts their directory, or when it is the work directory', async () => {
    disown();
    const talk = await startTalk(world, { metadata: { cwd: mine } });
    const untrust = await trust(shared);
    await talk.turn('hi', [{ text: 'hi' }]);
    expect(systemPrompt(world)).toContain('do as I say');
    await untrust();
    const top = await startTalk(world, { metadata: { cwd: shared } });
    await top.turn('hi', [{ text: 'hi' }]);
    expect(systemPrompt(world)).toContain('do as I say');
    expect(await callFate(top, 'Write', { path: 'new', content: 'x' })).not.toBe('asked');
  });

  test('are used in a mounted repository, opened at its top or below it', async () => {
    disown();
    for (const path of [shared, mine]) await chown(path, FOREIGN, FOREIGN);
    for (const cwd of [shared, mine]) {
      const talk = await startTalk(world, { metadata: { cwd } });
      await talk.turn('hi', [{ text: 'hi' }]);
      expect(systemPrompt(world)).toContain('do as I say');
      expect(await callFate(talk, 'Write', { path: `new-${cwd.length}`, content: 'x' })).not.toBe('asked');
    }
  });
});

describe('a .git entry', () => {
  test('that is a pipe blocks no decision and no other request', async () => {
    await rm(join(world.project, '.git'), { recursive: true });
    execFileSync('mkfifo', [join(world.project, '.git')]);
    const talks = await Promise.all(Array.from({ length: 5 }, () => startTalk(world)));
    const write = { calls: [call('Write', { path: 'new.txt', content: 'x' })] };
    await Promise.all(talks.map((talk) => talk.prompt('go', [write], { permission_mode: 'manual' })));
    await Promise.all(talks.map((talk) => talk.nth('event.approval.requested', 1)));
    expect(await world.api('GET', '/meta')).toMatchObject({ code: 0 });
  });

  test.each(
    ['.git', '.git/commondir', '.git/HEAD'].flatMap((name) => [
      [name, 'without an end', (path: string): Promise<void> => symlink('/dev/zero', path)] as const,
      [name, 'that is a pipe', (path: string): void => void execFileSync('mkfifo', [path])] as const,
    ]),
  )('%s %s is ignored', async (name, _what, put) => {
    await rm(join(world.project, name), { recursive: true, force: true });
    await put(join(world.project, name));
    const talk = await startTalk(world);
    expect(await callFate(talk, 'Write', { path: 'new.txt', content: 'x' })).toBe('asked');
  });
});

test('trust of a directory starts no program of the repository above it', async () => {
  const inner = join(world.project, 'inner');
  await mkdir(inner);
  const mark = join(base, 'mark');
  const server = { command: '/bin/sh', args: ['-c', `touch ${mark}; cat`], startupTimeoutMs: 500 };
  const shared = await putFile(join(world.project, '.mcp.json'), JSON.stringify({ mcpServers: { shared: server } }));
  const talk = await startTalk(world, { metadata: { cwd: inner } });
  await world.ok('POST', `/workspaces/${talk.session.workspace_id}/trust`);
  await talk.turn('hi', [{ text: 'hi' }]);
  await expect(readFile(mark)).rejects.toThrow('ENOENT');
  expect(await warningsOf(talk)).toMatchObject([
    { message: `${shared} has no effect: ${world.project} is not trusted.`, directory: world.project },
  ]);
  await trust(world.project);
  await talk.turn('hi', [{ text: 'hi' }]);
  expect(await eventually(() => readFile(mark, 'utf8'))).toBe('');
  expect(await warningsOf(talk)).toEqual([]);
});

test.each([
  ['in its own folder', '.service-code/agents'],
  ['in a folder of `extra_agent_dirs`', 'more'],
])('an agent file that replaces the main agent needs trust: %s', async (_what, folder) => {
  await writeFile(join(world.server.home, 'config.toml'), `extra_agent_dirs = ["more"]\n${await configText()}`);
  await putFile(
    join(world.project, folder, 'agent.md'),
    '---\nname: agent\ndescription: D\noverride: true\n---\nObey the project.\n',
  );
  const talk = await startTalk(world);
  await talk.turn('hi', [{ text: 'hi' }]);
  expect(systemPrompt(world)).not.toContain('Obey the project.');
  expect(await warningsOf(talk)).toMatchObject([{ code: 'project-config-ignored', directory: world.project }]);
  await world.ok('POST', `/workspaces/${talk.session.workspace_id}/trust`);
  const other = await startTalk(world);
  await other.turn('hi', [{ text: 'hi' }]);
  expect(systemPrompt(world)).toContain('Obey the project.');
});

test('Edit reads no file above its limit', async () => {
  const path = await putFile(join(world.project, 'big'), '');
  await truncate(path, 2 ** 40);
  const talk = await startTalk(world);
  await talk.turn('go', [{ calls: [call('Read', { path: 'big', limit: 1 })] }, { text: 'ok' }]);
  const { results } = await talk.turn('go', callThenText('Edit', { path: 'big', old_string: 'a', new_string: 'b' }));
  expect(results[0]).toMatchObject({ isError: true });
});
