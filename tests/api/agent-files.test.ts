/** Profile files and the runtime: which profile and runtime prompts and settings bind to an agent. */
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { putFile } from '#support/files.ts';
import { startTalk, wireMessages, wireText, type Talk, systemPrompt } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
  // Excludes the profiles of the user who runs the tests.
  vi.stubEnv('HOME', join(dirname(world.project), 'person'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await world.close();
});

const inProject = (name: string) => join(world.project, '.service-code', 'agents', name);
const agent = (head: string, body: string) => `---\ndescription: D\n${head}\n---\n${body}\n`;
const toolNames = () =>
  (world.model.requests.at(-1)?.body.tools as { function: { name: string } }[] | undefined)?.map(
    (tool) => tool.function.name,
  );
const submit = (talk: Talk, more: Record<string, unknown>) =>
  world.api('POST', `${talk.path}/prompts`, { content: [{ type: 'text', text: 'go' }], ...more });
const done = [{ text: 'Done.' }];

describe('a profile from a file', () => {
  test('binds its prompt and its tools permanently', async () => {
    await putFile(
      inProject('reader.md'),
      agent('tools: Read, Grep, Bash\ndisallowedTools: Bash', 'You read ${cwd}. ${unknown}'),
    );
    const talk = await startTalk(world);
    await talk.turn('go', done, { profile: 'reader' });
    expect(systemPrompt(world)).toBe(`You read ${world.project}. \${unknown}`);
    expect(toolNames()).toEqual(['Read', 'Grep']);
    await talk.turn('go', done, { profile: 'reader' });
    expect(await submit(talk, { profile: 'agent' })).toMatchObject({
      code: 40001,
      details: [{ path: 'profile', message: expect.stringContaining('already bound to profile "reader"') }],
    });
    // The bound tools do not depend on the file.
    await rm(inProject('reader.md'));
    await world.restart();
    await talk.events.close();
    world.model.enqueue({ text: 'Done.' });
    const { length } = world.model.requests;
    await world.prompt(talk.session.id, 'again');
    await world.model.waitForRequest(length + 1);
    expect(toolNames()).toEqual(['Read', 'Grep']);
  });

  test('is refused if unknown, with the names of the available profiles', async () => {
    await putFile(inProject('reader.md'), agent('', 'You read.'));
    const talk = await startTalk(world);
    const refused = await submit(talk, { profile: 'writer' });
    expect(refused).toMatchObject({ code: 40001, details: [{ path: 'profile' }] });
    expect(refused.msg).toMatch(/Unknown agent profile: "writer"\. Available profiles: agent, .*reader/);
    expect(talk.all('agent.created')).toEqual([]);
  });

  test('that overrides the main profile is bound to agents', async () => {
    await putFile(inProject('main.md'), agent('name: agent\noverride: true\ntools: Read', 'Mine.\n${base_prompt}'));
    const talk = await startTalk(world);
    await world.ok('POST', `/workspaces/${talk.session.workspace_id}/trust`);
    await talk.turn('go', done);
    expect(systemPrompt(world)).toMatch(/^Mine\.\nYou are /);
    expect(toolNames()).toEqual(['Read']);
    const other = await startTalk(world);
    await world.ok('POST', `${other.path}/profile`, { agent_config: { model: 'fake/fake-1' } });
    await other.turn('go', done);
    expect(toolNames()).toEqual(['Read']);
  });

  test('can be started as a subagent by the main agent, unless it delegates itself', async () => {
    await putFile(inProject('reader.md'), agent('tools: Read', 'You read.'));
    await putFile(inProject('boss.md'), agent('tools: Read, Agent', 'You lead.'));
    const talk = await startTalk(world);
    const start = (subagent_type: string) => ({
      calls: [{ name: 'Agent', args: { prompt: 'Look.', description: 'Looking', subagent_type } }],
    });
    const { results } = await talk.turn('go', [start('reader'), { text: 'I saw it.' }, start('boss'), ...done]);
    expect(results.map(({ isError }) => isError)).toEqual([false, true]);
    expect(results[0]?.output).toContain('I saw it.');
    expect(wireText(wireMessages(world, 2)[0] ?? { role: '' })).toBe('You read.');
    expect(results[1]?.output).toContain('reader');
  });

  test('replaces the main prompt as SYSTEM.md, with placeholders', async () => {
    const template =
      '${product_name} ${os} ${shell} ${now} [${skills}${plugin_sections}${additional_dirs_info}]\n${agents_md_section}\n${cwd_listing}';
    await putFile(join(world.server.home, 'SYSTEM.md'), template);
    await putFile(join(world.project, 'AGENTS.md'), 'Use ${cwd} wisely.');
    const talk = await startTalk(world);
    await talk.turn('go', done);
    expect(systemPrompt(world)).toMatch(
      /^Service Code \w+ \S+ \d{4}-\d\d-\d\dT\S+ \[### Built-in\n- update-config [^\]]*\]\n# Project instructions/,
    );
    expect(systemPrompt(world)).toContain('Use ${cwd} wisely.');
    expect(systemPrompt(world)).toContain('a.txt');
    expect(toolNames()).toContain('Edit');
  });
});

test('a broken file causes one warning event, and is listed among the warnings', async () => {
  await putFile(inProject('broken.md'), 'no front matter');
  const talk = await startTalk(world);
  expect(await world.ok('GET', `${talk.path}/warnings`)).toEqual({ warnings: [] });
  await talk.turn('go', done);
  await talk.turn('more', done);
  const told = talk.all('warning').map(({ payload }) => payload);
  expect(told).toMatchObject([
    { code: 'agent-file-invalid', message: expect.stringContaining(inProject('broken.md')) },
  ]);
  const warning = { code: 'agent-file-invalid', message: told[0]?.message, severity: 'warning' };
  expect(await world.ok('GET', `${talk.path}/warnings`)).toEqual({ warnings: [warning] });
  await writeFile(inProject('broken.md'), 'still no front matter');
  await talk.turn('more', done);
  expect(talk.all('warning')).toHaveLength(2);
  await writeFile(inProject('broken.md'), agent('', 'You help.'));
  await talk.turn('more', done);
  expect(await world.ok('GET', `${talk.path}/warnings`)).toEqual({ warnings: [] });
});

describe('the runtime', () => {
  test('is local and cannot be switched', async () => {
    const talk = await startTalk(world);
    const binding = { workspace_id: talk.session.workspace_id, runtime_id: 'local' };
    const switched = (body: unknown) => world.api('POST', `${talk.path}/runtime`, body);
    expect(await switched({ runtime_id: 'local' })).toMatchObject({ code: 0, data: binding });
    expect(await switched({ runtime_id: 'moon' })).toMatchObject({
      code: 40420,
      msg: `runtime moon does not exist in workspace ${binding.workspace_id}`,
    });
    expect(await switched({ runtime_id: '' })).toMatchObject({ code: 40001 });
    expect(await switched({})).toMatchObject({ code: 40001 });
    expect(await world.api('POST', '/sessions/unknown/runtime', { runtime_id: 'moon' })).toMatchObject({ code: 40401 });
    expect(await world.ok('GET', `${talk.path}/runtime`)).toEqual(binding);
    expect(talk.events.durable(talk.session.id)).toHaveLength(1);
  });
});
