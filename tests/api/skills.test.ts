/** Skills: listed, activated by people and by the model, and sent with prompts. */
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { putFile } from '#support/files.ts';
import { call, callThenText, startTalk, systemPrompt, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { pageOf, transcriptFrames, type TranscriptFrame } from '#support/transcript-follower.ts';
import { startWorld, type World } from '#support/world.ts';
import { upload } from '#support/uploads.ts';
import { connect } from '#support/ws-client.ts';

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

const inProject = (name: string) => join(world.project, '.service-code', 'skills', name);
const skill = (name: string, head: string, body: string) =>
  putFile(inProject(`${name}/SKILL.md`), `---\nname: ${name}\ndescription: About ${name}\n${head}\n---\n${body}\n`);
const greet = () => skill('Greet', 'arguments: who', 'Say hello to $who.');
const activate = (talk: Talk, name: string, body: unknown = {}) =>
  world.api('POST', `${talk.path}/skills/${encodeURIComponent(name)}:activate`, body);
const text = (value: string) => [{ type: 'text', text: value }];
const userTexts = () =>
  wireMessages(world, -1)
    .filter(({ role }) => role === 'user')
    .map(wireText)
    .filter((one) => !one.startsWith('<system-reminder>'));
/** The markers of the transcript. */
async function markers({ path }: Talk) {
  const { items } = transcriptPage.parse(await world.ok('GET', `${path}/transcript?agent_id=main`));
  return items.flatMap(({ marker }) => marker ?? []);
}
/** Follows the transcript; returns the states of a prompt so far, oldest first. */
async function followPrompts({ session: { id: session_id } }: Talk) {
  const client = await connect(world.server);
  onTestFinished(() => client.close());
  await client.send({ type: 'subscribe_v2', payload: { session_id, transcript: { main: 'delta' } } });
  return (id: unknown) => statesIn(transcriptFrames(client, session_id), id);
}
function statesIn(frames: readonly TranscriptFrame[], id: unknown) {
  return frames
    .flatMap((frame) => ('ops' in frame ? frame.ops : []))
    .flatMap((op) => (op.op === 'prompt.upsert' && op.prompt.promptId === id ? [op.prompt] : []))
    .map(({ status, content, steeredAt }) => ({ status, content, ...(steeredAt !== undefined && { steeredAt }) }));
}
const transcriptPage = z.object({ items: z.array(z.object({ marker: z.string().optional() })) });
const lastUser = () => userTexts().at(-1);
const typesFrom = (talk: Talk, first: string) => {
  const types = talk.events.durable(talk.session.id).map(({ type }) => type);
  return types.slice(types.indexOf(first));
};

describe('the list', () => {
  test('has the skills of session and workspace, sorted by name', async () => {
    await greet();
    await skill('alpha', 'type: reference', 'Facts.');
    await putFile(join(world.server.home, 'skills', 'mine.md'), 'A first line.\n\nMore.');
    const { id, workspace_id } = await world.session();
    const expected = {
      skills: [
        {
          name: 'alpha',
          description: 'About alpha',
          path: inProject('alpha/SKILL.md'),
          source: 'project',
          type: 'reference',
        },
        { name: 'Greet', description: 'About Greet', path: inProject('Greet/SKILL.md'), source: 'project' },
        { name: 'mine', description: 'A first line.', path: join(world.server.home, 'skills/mine.md'), source: 'user' },
      ],
    };
    expect(await world.ok('GET', `/sessions/${id}/skills`)).toEqual(expected);
    expect(await world.ok('GET', `/workspaces/${workspace_id}/skills`)).toEqual(expected);
    // A change on the disk is visible at the next request.
    await putFile(join(world.server.home, 'skills', 'mine.md'), 'Another line.');
    expect(await world.ok('GET', `/sessions/${id}/skills`)).toMatchObject({
      skills: [{}, {}, { description: 'Another line.' }],
    });
  });

  test('needs an existing session or workspace', async () => {
    expect(await world.api('GET', '/sessions/session_missing/skills')).toMatchObject({ code: 40401 });
    expect(await world.api('GET', '/workspaces/wd_project_0123456789ab/skills')).toMatchObject({ code: 40410 });
    expect(await world.api('GET', '/workspaces/bad/skills')).toMatchObject({ code: 40001 });
  });
});

describe('activated by a person', () => {
  test('opens a turn with the expanded text, displayed as what was typed', async () => {
    await greet();
    const talk = await startTalk(world);
    world.model.enqueue({ text: 'Hello Bob.' });
    const reply = await activate(talk, 'GREET', { args: 'bob' });
    expect(reply).toMatchObject({ code: 0, data: { activated: true, skill_name: 'GREET' } });
    await talk.nth('prompt.completed', 1);
    const facts = {
      skillName: 'Greet',
      skillArgs: 'bob',
      skillPath: inProject('Greet/SKILL.md'),
      skillSource: 'project',
    };
    const { payload: activated } = await talk.nth('skill.activated', 1);
    expect(activated).toMatchObject({ ...facts, trigger: 'user-slash' });
    const { payload: started } = await talk.nth('turn.started', 1);
    expect(started.origin).toMatchObject({ kind: 'skill_activation', ...facts, activationId: activated.activationId });
    expect(started.prompt).toContain('Say hello to bob.');
    expect(lastUser()).toContain('Say hello to bob.');
    expect(lastUser()).toMatch(/^The user has activated the skill "Greet"\..*\n\n<skill-loaded [^>]*name="Greet"/);
    expect(typesFrom(talk, 'skill.activated')).not.toContain('prompt.submitted');
    expect(typesFrom(talk, 'skill.activated')).not.toContain('prompt.started');
    expect(await world.ok('GET', talk.path)).toMatchObject({ title: '/GREET bob', last_prompt: '/GREET bob' });
  });

  test('is steered into the running turn', async () => {
    await greet();
    const talk = await startTalk(world);
    const states = await followPrompts(talk);
    const held = world.model.enqueue({ text: 'first', hold: true });
    await talk.prompt('first');
    await held.sent;
    world.model.enqueue({ text: 'second' });
    expect(await activate(talk, 'greet', { args: 'bob' })).toMatchObject({ code: 0 });
    held.release();
    await talk.nth('prompt.completed', 1);
    const types = typesFrom(talk, 'skill.activated').filter((type) => type !== 'session.meta.updated');
    expect(types.slice(0, 4)).toEqual(['skill.activated', 'prompt.queued', 'prompt.steered', 'turn.step.completed']);
    const { payload: queued } = await talk.nth('prompt.queued', 1);
    const { payload: steered } = await talk.nth('prompt.steered', 1);
    expect(queued.content).toEqual(text('/greet bob'));
    expect(steered).toMatchObject({ promptIds: [queued.promptId], content: text('/greet bob') });
    expect(userTexts().at(-1)).toContain('Say hello to bob.');
    expect(talk.all('turn.started')).toHaveLength(1);
    await expect
      .poll(() => states(queued.promptId))
      .toEqual([
        { status: 'queued', content: text('/greet bob') },
        { status: 'completed', content: text('/greet bob'), steeredAt: expect.any(String) },
      ]);
  });

  test('is a prompt of the transcript, as its events are not sent to those who follow it', async () => {
    await greet();
    const talk = await startTalk(world);
    const states = await followPrompts(talk);
    const held = world.model.enqueue({ text: 'Hello Bob.', hold: true });
    await activate(talk, 'greet', { args: 'bob' });
    await held.sent;
    const { prompts } = await pageOf(world, talk.session.id);
    expect(prompts).toMatchObject([{ status: 'running', content: text('/greet bob') }]);
    held.release();
    await talk.nth('prompt.completed', 1);
    const running = { status: 'running', content: text('/greet bob') };
    await expect.poll(() => states(prompts[0]?.promptId)).toEqual([running, { ...running, status: 'completed' }]);
  });

  test('has attachments after its text', async () => {
    await greet();
    const talk = await startTalk(world);
    world.model.enqueue({ text: 'Seen.' });
    const { id, name, media_type, size } = await upload(world.server, { filename: 'notes.txt' });
    const attachments = [{ type: 'file', file_id: id, name, media_type, size }];
    expect(await activate(talk, 'greet', { attachments })).toMatchObject({ code: 0 });
    await talk.nth('prompt.completed', 1);
    expect(lastUser()).toMatch(/<\/skill-loaded>[\s\S]*Attached file "notes\.txt"/);
  });

  test('is refused in the order of the checks', async () => {
    await greet();
    await skill('facts', 'type: reference', 'Facts.');
    const talk = await startTalk(world);
    const lost = [{ type: 'file', file_id: 'f_lost', name: 'x', media_type: 'text/plain', size: 1 }];
    expect(await world.api('POST', `${talk.path}/skills/greet:activate`)).toMatchObject({
      code: 40001,
      details: [{ path: '' }],
    });
    expect(await activate(talk, 'greet', { attachments: text('x') })).toMatchObject({
      code: 40001,
      details: [{ path: 'attachments.0.type' }],
    });
    expect(await world.api('POST', `${talk.path}/skills/greet:other`, {})).toMatchObject({ code: 40001 });
    expect(await world.api('POST', '/sessions/session_missing/skills/greet:activate', {})).toMatchObject({
      code: 40401,
    });
    expect(await activate(talk, 'missing', { attachments: lost })).toMatchObject({
      code: 40415,
      msg: 'Skill "missing" was not found',
    });
    expect(await activate(talk, 'FACTS', { attachments: lost })).toMatchObject({
      code: 40912,
      msg: 'Skill "facts" cannot be activated by the user',
    });
    expect(await activate(talk, 'greet', { attachments: lost })).toMatchObject({ code: 40407 });
    expect(talk.all('skill.activated')).toEqual([]);
  });

  test('is what a session shows after an undo of a later turn, and is undone like a prompt', async () => {
    await greet();
    const talk = await startTalk(world);
    world.model.enqueue({ text: 'Hello.' });
    await activate(talk, 'greet', { args: 'bob' });
    await talk.nth('prompt.completed', 1);
    await talk.turn('More.', [{ text: 'Yes.' }]);
    await world.ok('POST', `${talk.path}:undo`, { count: 1 });
    expect(await world.ok('GET', talk.path)).toMatchObject({ last_prompt: '/Greet bob' });
    await world.ok('POST', `${talk.path}:undo`, { count: 1 });
    expect(await world.ok('GET', talk.path)).not.toHaveProperty('last_prompt');
    expect(await talk.messages()).toEqual([]);
    expect(await markers(talk)).toEqual(['undo']);
  });

  test('leaves no marker after an undo, steered or sent with a prompt', async () => {
    await greet();
    const talk = await startTalk(world);
    await talk.turn('Be kind.', [{ text: 'Hello.' }], { skills: [{ name: 'greet' }] });
    expect(await markers(talk)).toEqual(['skill']);
    await world.ok('POST', `${talk.path}:undo`, { count: 1 });
    expect(await markers(talk)).toEqual(['undo']);
    const held = world.model.enqueue({ text: 'first', hold: true });
    await talk.prompt('first');
    await held.sent;
    world.model.enqueue({ text: 'second' });
    await activate(talk, 'greet');
    held.release();
    await talk.nth('prompt.completed', 2);
    expect(await markers(talk)).toEqual(['undo', 'skill']);
    await world.ok('POST', `${talk.path}:undo`, { count: 1 });
    expect(await markers(talk)).toEqual(['undo', 'undo']);
    await world.restart();
    expect(await markers(talk)).toEqual(['undo', 'undo']);
  });

  test('is accepted without a usable model: the turn fails', async () => {
    await greet();
    await writeFile(join(world.server.home, 'config.toml'), 'builtin_product_skills = false\n');
    const talk = await startTalk(world);
    expect(await activate(talk, 'greet')).toMatchObject({ code: 0 });
    expect((await talk.nth('turn.ended', 1)).payload).toMatchObject({ reason: 'failed' });
  });
});

describe('sent with a prompt', () => {
  test('precede its text for the model only', async () => {
    await greet();
    const talk = await startTalk(world);
    const { frames, prompt } = await talk.turn('Be kind.', [{ text: 'Hello.' }], {
      skills: [{ name: 'greet', args: 'bob' }, { name: 'Greet' }],
    });
    expect(prompt.content).toEqual(text('Be kind.'));
    expect(talk.all('skill.activated').map(({ payload }) => [payload.trigger, payload.skillArgs])).toEqual([
      ['user-slash', 'bob'],
      ['user-slash', undefined],
    ]);
    expect(frames[0]?.payload.content).toEqual(text('Be kind.'));
    expect((await talk.nth('turn.started', 1)).payload).toMatchObject({
      prompt: 'Be kind.',
      origin: { kind: 'user', skillActivations: [{ skillName: 'Greet', skillArgs: 'bob' }, { skillName: 'Greet' }] },
    });
    expect(lastUser()).toMatch(/Say hello to bob\.[\s\S]*Say hello to \.[\s\S]*Be kind\./);
    const [message] = await talk.messages();
    expect(message?.content).toEqual(text('Be kind.'));
    expect(await world.ok('GET', talk.path)).toMatchObject({ last_prompt: 'Be kind.' });
    await talk.turn('More.', [{ text: 'Yes.' }]);
    await world.ok('POST', `${talk.path}:undo`, { count: 1 });
    expect(await world.ok('GET', talk.path)).toMatchObject({ last_prompt: 'Be kind.' });
  });

  test('are checked before anything is changed', async () => {
    await greet();
    await skill('facts', 'type: reference', 'Facts.');
    const talk = await startTalk(world);
    const submit = (more: Record<string, unknown>) =>
      world.api('POST', `${talk.path}/prompts`, { content: text('go'), ...more });
    expect(await submit({ skills: [{ name: 'greet' }], prompt_id: 'p1' })).toMatchObject({
      code: 40001,
      details: [{ path: 'prompt_id' }],
    });
    expect(await submit({ skills: [{ name: 'greet' }, { name: 'missing' }] })).toMatchObject({ code: 40415 });
    expect(await submit({ skills: [{ name: 'greet' }, { name: 'facts' }] })).toMatchObject({ code: 40912 });
    expect(talk.events.durable(talk.session.id).map(({ type }) => type)).not.toContain('skill.activated');
  });
});

describe('loaded by the model', () => {
  test('follows the result as the next message of the turn', async () => {
    await greet();
    const talk = await startTalk(world);
    const turn = await talk.turn('go', callThenText('Skill', { skill: 'greet', args: 'bob' }));
    expect(systemPrompt(world)).toContain(`- Greet (${inProject('Greet/SKILL.md')}): About Greet`);
    expect(turn.results).toMatchObject([{ isError: false, output: expect.stringContaining('is loaded') }]);
    expect((await talk.nth('skill.activated', 1)).payload).toMatchObject({ trigger: 'model-tool', skillName: 'Greet' });
    const types = typesFrom(talk, 'tool.call.started');
    expect(types.slice(0, 6)).toEqual([
      'tool.call.started',
      'skill.activated',
      'tool.result',
      'turn.step.completed',
      'context.spliced',
      'turn.step.started',
    ]);
    expect(userTexts().at(-1)).toContain('Say hello to bob.');
    expect(talk.all('turn.started')).toHaveLength(1);
  });

  test('is not loaded twice with the same arguments and text', async () => {
    await greet();
    const talk = await startTalk(world);
    const again = callThenText('Skill', { skill: 'GREET', args: 'bob' });
    await talk.turn('go', again);
    const second = await talk.turn('again', again);
    expect(second.results).toMatchObject([{ output: expect.stringContaining('already loaded') }]);
    expect(talk.all('skill.activated')).toHaveLength(1);
    await skill('Greet', 'arguments: who', 'Greet $who loudly.');
    await talk.turn('and again', again);
    expect(talk.all('skill.activated')).toHaveLength(2);
    expect(userTexts().at(-1)).toContain('Greet bob loudly.');
  });

  test('is refused if unknown, or only for people', async () => {
    await greet();
    await skill('mine', 'disable-model-invocation: true', 'Mine.');
    await skill('flow', 'type: flow', 'Flow.');
    const talk = await startTalk(world);
    const refused = async (name: string) => (await talk.turn('go', callThenText('Skill', { skill: name }))).results[0];
    expect(await refused('gret')).toMatchObject({ isError: true, output: expect.stringContaining('Greet') });
    expect(await refused('mine')).toMatchObject({ isError: true });
    expect(await refused('flow')).toMatchObject({ isError: true });
    expect(systemPrompt(world)).not.toContain('About mine');
    expect(talk.all('skill.activated')).toEqual([]);
  });

  test('is nested at most three deep', async () => {
    for (const depth of [1, 2, 3, 4, 5]) await skill(`s${depth}`, '', `Load s${depth + 1}.`);
    const talk = await startTalk(world);
    const scripts = [1, 2, 3, 4, 5].map((depth) => ({ calls: [call('Skill', { skill: `s${depth}` })] }));
    const { results } = await talk.turn('go', [...scripts, { text: 'Done.' }]);
    expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false, true]);
    expect(results.at(-1)?.output).toContain('skill.nested_too_deep');
    expect(talk.all('skill.activated').map(({ payload }) => payload.trigger)).toEqual([
      'model-tool',
      'nested-skill',
      'nested-skill',
      'nested-skill',
    ]);
  });

  test('reads the folder of a skill without asking, but no root of skills', async () => {
    const folder = join(dirname(world.project), 'person/.agents/skills');
    await putFile(join(folder, 'mine/SKILL.md'), '---\nname: mine\ndescription: D\n---\nRead helper.md.');
    await putFile(join(folder, 'mine/helper.md'), 'Help.');
    await putFile(join(folder, 'other.txt'), 'Other.');
    const talk = await startTalk(world);
    const read = await talk.turn('go', callThenText('Read', { path: join(folder, 'mine/helper.md') }));
    expect(read.results).toMatchObject([{ output: expect.stringContaining('Help.') }]);
    await talk.prompt('go', callThenText('Read', { path: join(folder, 'other.txt') }));
    await talk.approval();
  });

  test('is not written without asking: it would change later conversations', async () => {
    const talk = await startTalk(world);
    await talk.turn('go', callThenText('Write', { path: 'notes/mine.md', content: 'Notes.' }));
    await talk.prompt('go', callThenText('Write', { path: '.agents/skills/mine.md', content: 'Mine.' }));
    expect(await talk.approval()).toMatchObject({ tool_name: 'Write' });
  });

  test('may be in any folder, of which no file becomes readable and none needs approval', async () => {
    const person = dirname(world.project);
    await writeFile(
      join(world.server.home, 'config.toml'),
      `extra_skill_dirs = [${JSON.stringify(person)}]\n${await readFile(join(world.server.home, 'config.toml'), 'utf8')}`,
    );
    await putFile(join(person, 'loose.md'), 'A loose file.');
    await putFile(join(person, 'other.txt'), 'Other.');
    const talk = await startTalk(world);
    await talk.turn('go', callThenText('Write', { path: 'b.txt', content: 'B.' }));
    const read = await talk.turn('go', callThenText('Read', { path: join(person, 'loose.md') }));
    expect(read.results).toMatchObject([{ output: expect.stringContaining('A loose file.') }]);
    await talk.prompt('go', callThenText('Read', { path: join(person, 'other.txt') }));
    await talk.approval();
  });

  test('is loaded by a subagent into its own conversation', async () => {
    await greet();
    const talk = await startTalk(world);
    const task = { prompt: 'Greet Bob', description: 'greeting', subagent_type: 'coder' };
    const report = 'I have greeted Bob, as the instructions of the skill say. '.repeat(6);
    const load = { calls: [call('Skill', { skill: 'greet', args: 'bob' })] };
    const { results } = await talk.turn('go', [
      { calls: [call('Agent', task)] },
      load,
      { text: report },
      { text: 'Done.' },
    ]);
    expect(results.find(({ output }) => output.includes('greeted Bob'))).toMatchObject({ isError: false });
    const [activated] = talk.all('skill.activated');
    expect(activated?.payload).toMatchObject({ agentId: 'agent-1', trigger: 'model-tool' });
    expect(wireMessages(world, 3).map(wireText).join('\n')).toContain('Say hello to bob.');
  });

  test('is named in the summary of a compaction', async () => {
    await greet();
    const talk = await startTalk(world);
    await talk.turn('go', callThenText('Skill', { skill: 'greet', args: 'bob' }));
    world.model.enqueue({ text: 'Summary.' });
    await world.ok('POST', `${talk.path}:compact`, {});
    await talk.nth('compaction.completed', 1);
    await talk.turn('on', [{ text: 'Yes.' }]);
    expect(userTexts().join('\n')).toContain('## Skills in use\n- Greet bob');
  });
});

test('an invalid file is a warning, repeated after a change of its text', async () => {
  await putFile(inProject('broken/SKILL.md'), '---\nname: broken\n---\nNo description.');
  const talk = await startTalk(world);
  const warnings = () => talk.all('warning').filter(({ payload }) => payload.code === 'skill-invalid');
  await talk.turn('go', [{ text: 'Yes.' }]);
  await talk.events.waitFor(() => warnings().length === 1);
  expect(warnings()[0]?.payload.message).toContain(inProject('broken/SKILL.md'));
  expect(await world.ok('GET', `${talk.path}/warnings`)).toMatchObject({
    warnings: [{ code: 'skill-invalid', severity: 'warning' }],
  });
});
