/** The contributions of installed plugins to sessions: skills, commands, agents, hooks, sections and reminders. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { putFile } from '#support/files.ts';
import { eventually } from '#support/patience.ts';
import { callThenText, startTalk, systemPrompt, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld({ config: { builtin_product_skills: false } });
  // Excludes the skills of the user who runs the tests.
  vi.stubEnv('HOME', join(dirname(world.project), 'person'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await world.close();
});

/** Writes the files of a plugin; returns its folder. */
async function pluginFolder(id: string, manifest: Record<string, unknown>, files: Record<string, string> = {}) {
  const folder = join(dirname(world.project), 'sources', id);
  await putFile(join(folder, 'service.plugin.json'), JSON.stringify({ name: id, ...manifest }));
  for (const [name, text] of Object.entries(files)) await putFile(join(folder, name), text);
  return folder;
}

const skillFile = (name: string, body: string) => `---\nname: ${name}\ndescription: About ${name}\n---\n${body}\n`;

async function install(id: string, manifest: Record<string, unknown>, files: Record<string, string> = {}) {
  return world.ok('POST', '/plugins', { source: await pluginFolder(id, manifest, files) });
}
const root = (id: string) => join(world.server.home, 'plugins/managed', id);
const act = (id: string, action: string) => world.ok('POST', `/plugins/${id}:${action}`);
const userTexts = (at = -1) =>
  wireMessages(world, at)
    .filter(({ role }) => role === 'user')
    .map(wireText);
const names = async (talk: Talk) => {
  const { skills } = (await world.ok('GET', `${talk.path}/skills`)) as { skills: { name: string }[] };
  return skills.map(({ name }) => name);
};
const done = [{ text: 'Done.' }];

describe('skills', () => {
  test('are there immediately, preceded by the instructions of the plugin, and gone with it', async () => {
    const talk = await startTalk(world);
    await talk.turn('go', done);
    await install(
      'tools',
      { skills: './skills', skillInstructions: 'Be careful.' },
      {
        'skills/deploy/SKILL.md': skillFile('deploy', 'Deploy it.'),
      },
    );
    expect(await names(talk)).toEqual(['deploy']);
    await talk.turn('deploy', callThenText('Skill', { skill: 'deploy' }));
    const block = userTexts().find((text) => text.includes('Deploy it.'));
    expect(block).toMatch(
      /<plugin-instructions plugin="tools">\nBe careful\.\n<\/plugin-instructions>[\s\S]*Deploy it\./,
    );
    // Its folder may be read without asking.
    const read = await talk.turn('read', callThenText('Read', { path: join(root('tools'), 'service.plugin.json') }));
    expect(read.results).toMatchObject([{ output: expect.stringContaining('"name":"tools"') }]);
    await act('tools', 'disable');
    expect(await names(talk)).toEqual([]);
    await act('tools', 'enable');
    expect(await names(talk)).toEqual(['deploy']);
    await act('tools', 'remove');
    expect(await names(talk)).toEqual([]);
  });
});

describe('commands', () => {
  const files = {
    'commands/db/migrate.md': 'Migrate to $ARGUMENTS now.',
    'commands/plain.md': '---\ndescription: Plain\n---\nGo.',
  };

  test('are listed after the skills, and open a turn of their own', async () => {
    await install('tools', { commands: './commands' }, files);
    await putFile(join(world.project, '.service-code/skills/zeta/SKILL.md'), skillFile('zeta', 'Z.'));
    const talk = await startTalk(world);
    expect(await world.ok('GET', `${talk.path}/skills`)).toMatchObject({
      skills: [
        { name: 'zeta' },
        {
          name: 'tools:db/migrate',
          description: 'Migrate to $ARGUMENTS now.',
          path: join(root('tools'), 'commands/db/migrate.md'),
          source: 'extra',
          type: 'command',
        },
        { name: 'tools:plain', description: 'Plain' },
      ],
    });
    const held = world.model.enqueue({ text: 'first', hold: true });
    await talk.prompt('first');
    await held.sent;
    world.model.enqueue({ text: 'second' });
    const path = `${talk.path}/skills/${encodeURIComponent('tools:db/migrate')}:activate`;
    expect(await world.ok('POST', path, { args: 'v2 $ARGUMENTS' })).toEqual({
      activated: true,
      skill_name: 'tools:db/migrate',
    });
    held.release();
    await talk.nth('prompt.completed', 2);
    expect(talk.all('prompt.steered')).toEqual([]);
    expect(talk.all('prompt.queued')[0]?.payload.content).toEqual([
      { type: 'text', text: '/tools:db/migrate v2 $ARGUMENTS' },
    ]);
    expect((await talk.nth('plugin_command.activated', 1)).payload).toMatchObject({
      pluginId: 'tools',
      commandName: 'db/migrate',
      commandArgs: 'v2 $ARGUMENTS',
      trigger: 'user-slash',
    });
    expect((await talk.nth('turn.started', 2)).payload).toMatchObject({
      prompt: 'Migrate to v2 $ARGUMENTS now.',
      origin: { kind: 'plugin_command' },
    });
    expect(await world.ok('GET', talk.path)).toMatchObject({ last_prompt: '/tools:db/migrate v2 $ARGUMENTS' });
  });

  test('have their arguments appended if they name none, and are unknown with a disabled plugin', async () => {
    await install('tools', { commands: './commands' }, files);
    const talk = await startTalk(world);
    const activate = () => world.api('POST', `${talk.path}/skills/tools:plain:activate`, { args: 'x' });
    world.model.enqueue({ text: 'ok' });
    expect(await activate()).toMatchObject({ code: 0 });
    expect((await talk.nth('turn.started', 1)).payload.prompt).toBe('Go.\n\nARGUMENTS: x');
    await talk.nth('prompt.completed', 1);
    await act('tools', 'disable');
    expect(await activate()).toMatchObject({ code: 40415 });
  });
});

test('agents are found by a prompt directly after the install', async () => {
  const talk = await startTalk(world);
  await install('tools', {}, { 'agents/reader.md': '---\ndescription: Reads\n---\nYou read.' });
  await talk.turn('go', done, { profile: 'reader' });
  expect(systemPrompt(world)).toBe('You read.');
});

test('hooks run in the folder of the plugin with its variables, and stop with it', async () => {
  const talk = await startTalk(world);
  const command = 'echo "$PWD $SERVICE_PLUGIN_ROOT $SERVICE_CODE_HOME" >&2; exit 2';
  await install('tools', { hooks: [{ event: 'UserPromptSubmit', command }] });
  expect(await talk.prompt('go')).toMatchObject({ status: 'blocked' });
  const { payload } = await talk.nth('hook.result', 1);
  expect(payload.content).toBe(`${root('tools')} ${root('tools')} ${world.server.home}`);
  await act('tools', 'disable');
  expect((await talk.turn('again', done)).ended).toMatchObject({ reason: 'completed' });
});

test('a hook that runs is not stopped by the removal of its plugin', async () => {
  const talk = await startTalk(world);
  const gate = join(world.project, 'gate');
  const command = `touch begun; until [ -e ${JSON.stringify(gate)} ]; do sleep 0.05; done; echo From the hook.`;
  await install('tools', {
    hooks: [{ event: 'UserPromptSubmit', command: `cd ${JSON.stringify(world.project)}; ${command}` }],
  });
  const submitted = talk.prompt('go', done);
  await eventually(() => expect(existsSync(join(world.project, 'begun'))).toBe(true));
  await act('tools', 'remove');
  await writeFile(gate, '');
  await submitted;
  await talk.nth('prompt.completed', 1);
  expect((await talk.nth('hook.result', 1)).payload.content).toBe('From the hook.');
  await talk.turn('again', done);
  expect(talk.all('hook.result')).toHaveLength(1);
});

test('ids are found in any case, and an action on nothing says so', async () => {
  await install('tools', {});
  await act('TOOLS', 'disable');
  expect(await world.ok('GET', '/plugins')).toMatchObject({ plugins: [{ id: 'tools', enabled: false }] });
  expect(await world.api('POST', '/plugins/None:enable')).toMatchObject({
    code: 40419,
    msg: 'Plugin "None" is not installed',
  });
  expect(await world.api('POST', '/plugins/tools:update')).toMatchObject({ code: 40001 });
});

test('sections of the system prompt are those of the first rendering', async () => {
  await install('tools', { systemPrompt: 'Always test.' });
  const talk = await startTalk(world);
  await talk.turn('go', done);
  expect(systemPrompt(world)).toContain('# Instructions of plugins');
  expect(systemPrompt(world)).toContain('## tools\nAlways test.');
  await install('more', { systemPrompt: 'Never guess.' });
  await putFile(join(world.project, 'AGENTS.md'), 'New instructions.');
  await talk.turn('again', done);
  expect(systemPrompt(world)).toContain('New instructions.');
  expect(systemPrompt(world)).toContain('## tools\nAlways test.');
  expect(systemPrompt(world)).not.toContain('Never guess.');
});

describe('the skill of the start', () => {
  const manifest = { skills: './skills', sessionStart: { skill: 'welcome' } };
  const files = { 'skills/welcome/SKILL.md': skillFile('welcome', 'Greet first.') };
  const starts = () => userTexts().filter((text) => text.includes('Greet first.'));

  test('is a reminder of the first step, and again after a compaction or an undo that removed it', async () => {
    await install('tools', manifest, files);
    const talk = await startTalk(world);
    await talk.turn('one', done);
    await talk.turn('two', done);
    expect(starts()).toHaveLength(1);
    await world.ok('POST', `${talk.path}:undo`, { count: 2 });
    await talk.turn('three', done);
    expect(starts()).toHaveLength(1);
    world.model.enqueue({ text: 'Summary.' });
    await world.ok('POST', `${talk.path}:compact`, {});
    await talk.nth('compaction.completed', 1);
    await talk.turn('four', done);
    expect(starts()).toEqual([expect.stringContaining('They replace those')]);
    expect(talk.all('skill.activated')).toEqual([]);
  });

  test('is not added to a conversation that has begun', async () => {
    const talk = await startTalk(world);
    await talk.turn('one', done);
    await install('tools', manifest, files);
    await talk.turn('two', done);
    expect(starts()).toEqual([]);
  });
});

describe('a change of the plugins', () => {
  const changes = () => userTexts().filter((text) => text.includes('The installed plugins have changed'));

  test('is a reminder of the next step, one for several changes, and of no session without an agent', async () => {
    const talk = await startTalk(world);
    const other = await startTalk(world);
    await talk.turn('one', done);
    const before = talk.events.durable(talk.session.id).length;
    await install('tools', {});
    await act('tools', 'disable');
    await act('tools', 'remove');
    // The journal of an idle session is not written.
    expect(talk.events.durable(talk.session.id)).toHaveLength(before);
    await talk.turn('two', done);
    expect(changes()).toHaveLength(1);
    await talk.turn('three', done);
    expect(changes()).toHaveLength(1);
    await other.turn('one', done);
    expect(changes()).toEqual([]);
  });
});

test('an error of a manifest is a warning', async () => {
  await install('tools', { skills: '../out' });
  const talk = await startTalk(world);
  await talk.turn('one', done);
  await talk.turn('two', done);
  const warnings = talk.all('warning').filter(({ payload }) => payload.code === 'plugin-invalid');
  expect(warnings).toHaveLength(1);
  expect(warnings[0]?.payload.message).toContain(root('tools'));
  expect(await world.ok('GET', `${talk.path}/warnings`)).toMatchObject({ warnings: [{ code: 'plugin-invalid' }] });
});
