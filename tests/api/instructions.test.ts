/** AGENTS.md files: the chain, the size warning, refreshes, nested files. */
import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { putFile } from '#support/files.ts';
import { call, startTalk, wireMessages, wireText, type Talk, systemPrompt } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
  // Excludes the files of the user who runs the tests.
  vi.stubEnv('HOME', join(dirname(world.project), 'person'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await world.close();
});

const inProject = (path: string, text: string) => putFile(join(world.project, path), text);
const sources = () =>
  [...systemPrompt(world).matchAll(/^<!-- From: (.+) -->\n(.*)$/gm)].map(([, path, text]) => [path, text]);
const warningsOf = (talk: Talk) => world.ok('GET', `${talk.path}/warnings`);

/** Paths in the reminders, one list per reminder. */
async function named(talk: Talk): Promise<string[][]> {
  return (await talk.messages()).flatMap(({ metadata, content: [part] }) => {
    const origin = metadata?.origin;
    if (origin?.kind !== 'injection' || origin.variant !== 'agents_md' || part?.type !== 'text') return [];
    return [part.text.split('\n').filter((line) => line.startsWith('/'))];
  });
}

describe('the chain', () => {
  test('goes from the home over the work-tree root down to the directory, each file a single time', async () => {
    const paths = [
      await putFile(join(world.server.home, 'AGENTS.md'), 'of the home'),
      await putFile(join(dirname(world.project), 'person/.agents/AGENTS.md'), 'of the person'),
      await inProject('.service-code/AGENTS.md', 'of the root, own folder'),
      await inProject('AGENTS.md', 'of the root'),
      await inProject('sub/agents.md', 'of the sub folder'),
      await inProject('sub/deep/.service-code/AGENTS.md', 'deepest, own folder'),
      await inProject('sub/deep/AGENTS.md', 'deepest'),
    ];
    await putFile(join(dirname(world.project), 'person/.agents/agents.md'), 'second choice');
    await inProject('sub/deep/agents.md', 'second choice');
    await inProject('sub/.service-code/AGENTS.md', ' \n');
    await putFile(join(dirname(world.project), 'AGENTS.md'), 'above the work tree');
    const talk = await startTalk(world, { metadata: { cwd: join(world.project, 'sub/deep') } });
    await talk.turn('hi', [{ text: 'hi' }]);
    expect(sources().map(([path]) => path)).toEqual(paths);
    expect(sources().map(([, text]) => text)).toEqual([
      'of the home',
      'of the person',
      'of the root, own folder',
      'of the root',
      'of the sub folder',
      'deepest, own folder',
      'deepest',
    ]);
    expect(await warningsOf(talk)).toEqual({ warnings: [] });
  });

  test('without git it consists of the directory only', async () => {
    const bare = join(dirname(world.project), 'bare');
    await putFile(join(bare, 'AGENTS.md'), 'above');
    await putFile(join(bare, 'here/AGENTS.md'), 'here');
    const talk = await startTalk(world, { metadata: { cwd: join(bare, 'here') } });
    await talk.turn('hi', [{ text: 'hi' }]);
    expect(sources()).toEqual([[join(bare, 'here/AGENTS.md'), 'here']]);
  });
});

describe('the size', () => {
  test.each([
    [32_768, false],
    [32_769, true],
  ])('%d bytes: warning %s; the text is not cut', async (bytes, warned) => {
    const path = await inProject('AGENTS.md', `${'x'.repeat(bytes - 3)}END`);
    const talk = await startTalk(world);
    expect(await warningsOf(talk)).toEqual({ warnings: [] });
    await talk.turn('hi', [{ text: 'hi' }]);
    expect(systemPrompt(world)).toContain('xEND');
    const warnings = warned
      ? [{ code: 'agents-md-oversized', severity: 'warning', message: expect.stringContaining(path) }]
      : [];
    expect(await warningsOf(talk)).toEqual({ warnings });
    expect(talk.all('warning').map(({ payload }) => payload.code)).toEqual(warned ? ['agents-md-oversized'] : []);
    await talk.turn('again', [{ text: 'hi' }]);
    expect(talk.all('warning')).toHaveLength(warned ? 1 : 0);
    await world.restart();
    expect(await warningsOf(talk)).toEqual({ warnings: [] });
  });

  test('the warning is removed when the file has shrunk', async () => {
    await inProject('AGENTS.md', 'x'.repeat(40_000));
    const talk = await startTalk(world);
    await talk.turn('hi', [{ text: 'hi' }]);
    await inProject('AGENTS.md', 'short');
    expect(await warningsOf(talk)).toMatchObject({ warnings: [{}] });
    await talk.turn('again', [{ text: 'hi' }]);
    expect(await warningsOf(talk)).toEqual({ warnings: [] });
  });
});

describe('an edit', () => {
  test('applies to the next turn, not to the running one', async () => {
    await inProject('AGENTS.md', 'first version');
    const talk = await startTalk(world);
    const held = world.model.enqueue({ calls: [call('Read', { path: 'a.txt' })], hold: true });
    await talk.prompt('one', [{ text: 'ok' }], { prompt_id: 'p0' });
    await held.sent;
    await inProject('AGENTS.md', 'second version');
    held.release();
    await talk.settled('p0');
    expect(sources().map(([, text]) => text)).toEqual(['first version']);
    await talk.turn('two', [{ text: 'ok' }]);
    expect(sources().map(([, text]) => text)).toEqual(['second version']);
  });

  test.each(['changed', 'removed'])('%s while the server was down', async (what) => {
    const path = await inProject('AGENTS.md', 'first version');
    const talk = await startTalk(world);
    await talk.turn('one', [{ text: 'ok' }]);
    await world.restart();
    if (what === 'changed') await inProject('AGENTS.md', 'first');
    else await rm(path);
    world.model.enqueue({ text: 'ok' });
    const before = world.model.requests.length;
    await world.prompt(talk.session.id, 'two');
    await world.model.waitForRequest(before + 1);
    expect(sources().map(([, text]) => text)).toEqual(what === 'changed' ? ['first'] : []);
  });

  test('without an edit the prompt keeps its bytes, also after a restart and with new files in the project', async () => {
    await inProject('AGENTS.md', 'rules');
    const talk = await startTalk(world);
    await talk.turn('one', [{ text: 'ok' }]);
    const prompt = systemPrompt(world);
    await inProject('new-file.txt', '');
    await world.restart();
    const before = world.model.requests.length;
    world.model.enqueue({ text: 'ok' });
    await world.prompt(talk.session.id, 'two');
    await world.model.waitForRequest(before + 1);
    expect(systemPrompt(world)).toBe(prompt);
  });

  test('a change of the tool list renders the prompt again', async () => {
    const talk = await startTalk(world);
    await talk.turn('one', [{ text: 'ok' }]);
    expect(systemPrompt(world)).not.toContain('new-file.txt');
    await inProject('new-file.txt', '');
    await talk.turn('two', [{ text: 'ok' }], { disabled_tools: ['Bash'] });
    expect(systemPrompt(world)).toContain('new-file.txt');
  });
});

describe('nested files', () => {
  const yolo = { permission_mode: 'yolo' };
  const reading = (path: string) => [{ calls: [call('Read', { path })] }, { text: 'ok' }];

  test('are listed a single time, before the next step, when a call first uses their directory', async () => {
    await inProject('AGENTS.md', 'root');
    const sub = await inProject('sub/AGENTS.md', 'sub');
    const deep = await inProject('sub/deep/agents.md', 'deep');
    await inProject('sub/deep/x.txt', 'x');
    const talk = await startTalk(world);
    await talk.turn('read', reading('sub/deep/x.txt'));
    expect(await named(talk)).toEqual([[sub, deep]]);
    expect(wireMessages(world, -1).map(wireText).at(-1)).toContain(deep);
    await talk.turn('again', reading('sub/deep/x.txt'));
    await world.restart();
    expect(await named(talk)).toHaveLength(1);
  });

  test.each<[string, string, Record<string, unknown>, boolean]>([
    ['Write', 'Write', { path: 'sub/new.txt', content: '' }, true],
    ['Glob', 'Glob', { pattern: '*', path: 'sub' }, true],
    ['Grep', 'Grep', { pattern: 'x', path: 'sub' }, true],
    ['a path in a command', 'Bash', { command: 'cat sub/x.txt | wc -l' }, true],
    ['a bare word in a command', 'Bash', { command: 'ls sub' }, true],
    ['the directory of a command', 'Bash', { command: 'true', cwd: 'sub' }, true],
    ['shell syntax', 'Bash', { command: 'echo ${HOME:-x} "${y}"', cwd: 'sub' }, true],
    ['a command elsewhere', 'Bash', { command: 'true' }, false],
    ['a failing call', 'Read', { path: 'sub/missing.txt' }, false],
  ])('%s', async (_what, tool, args, found) => {
    const sub = await inProject('sub/AGENTS.md', 'sub');
    await inProject('sub/x.txt', 'x');
    const talk = await startTalk(world);
    const { ended } = await talk.turn('go', [{ calls: [call(tool, args)] }, { text: 'ok' }], yolo);
    expect(ended.reason).toBe('completed');
    expect(await named(talk)).toEqual(found ? [[sub]] : []);
  });

  test('concurrent calls list them a single time', async () => {
    const sub = await inProject('sub/AGENTS.md', 'sub');
    const names = ['1', '2', '3', '4'];
    for (const name of names) await inProject(`sub/${name}.txt`, name);
    const talk = await startTalk(world);
    await talk.turn('go', [{ calls: names.map((name) => call('Read', { path: `sub/${name}.txt` })) }, { text: 'ok' }]);
    expect(await named(talk)).toEqual([[sub]]);
  });

  test('files outside the project are ignored', async () => {
    const other = join(dirname(world.project), 'other');
    await putFile(join(other, 'AGENTS.md'), 'other');
    await putFile(join(other, 'x.txt'), 'x');
    execFileSync('git', ['init', '--quiet', other]);
    const talk = await startTalk(world);
    await talk.turn('go', reading(join(other, 'x.txt')), yolo);
    expect(await named(talk)).toEqual([]);
  });
});

test('the system prompt describes the environment: system, shell, directory and its listing', async () => {
  await inProject('src/one.ts', '');
  const talk = await startTalk(world);
  await talk.turn('hi', [{ text: 'hi' }]);
  expect(systemPrompt(world)).toContain(`Working directory: ${world.project}`);
  expect(systemPrompt(world)).toMatch(/Operating system: \w+\nShell: \/\S+/);
  expect(systemPrompt(world)).toContain('.git/ ...\nsrc/\n  one.ts\na.txt');
});
