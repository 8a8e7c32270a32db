/** `POST /sessions/{id}/profile`: title, metadata, and the applied members of `agent_config`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessionSchema } from '#schema/rest/session.ts';
import { startTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  const second = { provider: 'fake', model: 'fake-2', max_context_size: 1000 };
  await world.ok('POST', '/config', { models: { second } });
});
afterAll(() => world.close());

const update = (talk: Talk, body: unknown) => world.api('POST', `${talk.path}/profile`, body);
const read = async (talk: Talk) => sessionSchema.parse(await world.ok('GET', talk.path));
const seqOf = async (talk: Talk) => (await world.snapshot(talk.session.id)).as_of_seq;

describe('body', () => {
  it.each([
    [undefined, '', 'Invalid input: expected object, received undefined'],
    [null, '', 'Invalid input: expected object, received null'],
    [{ title: '' }, 'title', 'Too small: expected string to have >=1 characters'],
    [{ metadata: [] }, 'metadata', 'Invalid input: expected object, received array'],
    [{ metadata: { cwd: '' } }, 'metadata.cwd', 'Too small: expected string to have >=1 characters'],
    [{ agent_config: { thinking: '' } }, 'agent_config.thinking', 'Too small: expected string to have >=1 characters'],
    [
      { agent_config: { permission_mode: 'ask' } },
      'agent_config.permission_mode',
      'Invalid option: expected one of "manual"|"yolo"|"auto"',
    ],
    [{ agent_config: { plan_mode: 1 } }, 'agent_config.plan_mode', 'Invalid input: expected boolean, received number'],
    [
      { agent_config: { goal_control: 'stop' } },
      'agent_config.goal_control',
      'Invalid option: expected one of "pause"|"resume"|"cancel"',
    ],
    [{ agent_config: { tools: 'all' } }, 'agent_config.tools', 'Invalid input: expected array, received string'],
    [{ permission_rules: [{}] }, 'permission_rules.0.id', 'Invalid input: expected string, received undefined'],
  ])('%j is refused and changes nothing', async (body, path, message) => {
    const talk = await startTalk(world);
    const answer = await update(talk, body);
    expect(answer).toMatchObject({ code: 40001, msg: path ? `${path}: ${message}` : message, data: null });
    expect(answer.details).toContainEqual({ path, message });
    expect(await read(talk)).toEqual(talk.session);
  });

  it('{} and members that are not applied change nothing', async () => {
    const talk = await startTalk(world);
    const rule = { id: 'r', tool_name: 'Bash', decision: 'approved', created_at: 'now', created_by: 'user' };
    const ignored = { system_prompt: 'x', tools: ['Bash'], mcp_servers: [], model: '' };
    for (const body of [
      {},
      { metadata: {} },
      { agent_config: {} },
      { agent_config: ignored, permission_rules: [rule] },
    ]) {
      expect((await update(talk, body)).data).toEqual(talk.session);
    }
    expect(await seqOf(talk)).toBe(1);
  });
});

describe('title', () => {
  it('is stored as sent, published in its event, and does not change updated_at', async () => {
    const talk = await startTalk(world);
    for (const [n, title] of ['  ', 'x'.repeat(300)].entries()) {
      expect((await update(talk, { title })).data).toEqual({ ...talk.session, title });
      const { payload } = await talk.nth('session.meta.updated', n + 1);
      expect(payload).toEqual({
        type: 'session.meta.updated',
        title,
        patch: { title, isCustomTitle: true },
        agentId: 'main',
        sessionId: talk.session.id,
      });
    }
    await talk.turn('Hi', [{ text: 'Yes.' }]);
    expect((await read(talk)).title).toBe('x'.repeat(300));
    await world.restart();
    expect((await read(talk)).title).toBe('x'.repeat(300));
  });
});

describe('metadata', () => {
  it('merges top-level keys, stores null, drops cwd and goal, changes updated_at and publishes no event', async () => {
    const talk = await startTalk(world, { metadata: { cwd: world.project, keep: 1, replace: { a: 1 } } });
    const before = await read(talk);
    const { data } = await update(talk, {
      metadata: { replace: { b: 2 }, none: null, cwd: '/elsewhere', goal: 'x', added: [1] },
    });
    const after = sessionSchema.parse(data);
    const { cwd } = before.metadata;
    expect(after.metadata).toEqual({ keep: 1, replace: { b: 2 }, none: null, added: [1], cwd });
    expect(after.updated_at >= before.updated_at).toBe(true);
    expect(await read(talk)).toEqual(after);
    expect(await seqOf(talk)).toBe(1);
    await update(talk, { metadata: { cwd: '/elsewhere', goal: 'x' } });
    expect(await read(talk)).toEqual(after);
    await world.restart();
    expect(await read(talk)).toEqual(after);
  });

  it('concurrent patches are all stored', async () => {
    const talk = await startTalk(world);
    const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
    await Promise.all(keys.map((key) => update(talk, { metadata: { [key]: key } })));
    expect(Object.keys((await read(talk)).metadata).toSorted()).toEqual([...keys, 'cwd'].toSorted());
  });
});

describe('agent_config', () => {
  it('binds the model immediately; a running turn continues with its model', async () => {
    const talk = await startTalk(world);
    const held = world.model.enqueue({ calls: [{ name: 'Glob', args: { pattern: '*' } }], hold: true });
    await talk.prompt('Go', [{ text: 'Done.' }]);
    await held.sent;
    expect((await update(talk, { agent_config: { model: 'second' } })).code).toBe(0);
    expect(await talk.status()).toMatchObject({ model: 'second', max_context_tokens: 1000 });
    held.release();
    await talk.nth('prompt.completed', 1);
    await talk.turn('Next', [{ text: 'Done.' }]);
    expect(world.model.requests.slice(-3).map(({ body }) => body.model)).toEqual(['fake-1', 'fake-1', 'fake-2']);
    await world.restart();
    expect(await talk.status()).toMatchObject({ model: 'second' });
  });

  it('sets thinking and the permission mode', async () => {
    const talk = await startTalk(world);
    const agent_config = { model: 'fake/fake-1', thinking: ' OFF ', permission_mode: 'yolo' };
    expect((await update(talk, { agent_config })).data).toEqual(talk.session);
    expect(await talk.status()).toMatchObject({ model: 'fake/fake-1', thinking_level: 'off', permission: 'yolo' });
    await talk.nth('agent.created', 1);
    await update(talk, { agent_config: { thinking: 'on' } });
    expect(await talk.status()).toMatchObject({ thinking_level: 'on', permission: 'yolo' });
  });

  it('stores a thinking preference until a model is bound', async () => {
    const talk = await startTalk(world);
    await world.ok('POST', `${talk.path}/profile`, { agent_config: { thinking: 'off' } });
    const unbound = await talk.status();
    expect(unbound).toMatchObject({ thinking_level: '' });
    expect(unbound).not.toHaveProperty('model');
    await world.ok('POST', `${talk.path}/profile`, { agent_config: { model: 'fake/fake-1' } });
    expect(await talk.status()).toMatchObject({ model: 'fake/fake-1', thinking_level: 'off' });
  });

  it('is not transactional: changes before a failure stay and are published', async () => {
    const talk = await startTalk(world);
    const unknown = { model: 'nobody/knows', thinking: 'off', permission_mode: 'yolo' };
    const refused = await update(talk, { title: 'Kept', metadata: { kept: 1 }, agent_config: unknown });
    expect(refused).toMatchObject({ code: 40001, msg: 'Model "nobody/knows" is not configured in config.toml.' });
    expect(refused.details).toBeUndefined();
    expect(await read(talk)).toMatchObject({ title: 'Kept', metadata: { kept: 1 } });
    await talk.nth('session.meta.updated', 1);
    expect(await talk.status()).not.toHaveProperty('model');
    expect(await talk.status()).toMatchObject({ permission: 'manual' });

    const unlisted = { model: 'fake/fake-1', thinking: 'extreme', permission_mode: 'yolo' };
    const answer = await update(talk, { agent_config: unlisted });
    expect(answer).toMatchObject({ code: 40001, msg: expect.stringContaining('"extreme" is not supported by model') });
    expect(answer.details).toMatchObject([{ path: 'agent_config.thinking' }]);
    expect(await talk.status()).toMatchObject({ model: 'fake/fake-1', thinking_level: 'on', permission: 'manual' });
  });

  it('switches swarm mode, which a prompt does not', async () => {
    const talk = await startTalk(world);
    await talk.turn('hi', [{ text: 'hi' }], { swarm_mode: true });
    for (const swarm_mode of [false, true, true, false]) {
      expect((await update(talk, { agent_config: { swarm_mode } })).code).toBe(0);
      expect(await talk.status()).toMatchObject({ swarm_mode });
    }
  });
});

it('loads a cold session, also an archived one, which stays archived', async () => {
  const talk = await startTalk(world);
  await world.ok('POST', `${talk.path}:archive`);
  expect((await update(talk, { title: 'Still there' })).data).toMatchObject({ title: 'Still there', archived: true });
});
