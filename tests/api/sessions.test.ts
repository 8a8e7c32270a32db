/** Creating and reading sessions. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { sessionSchema } from '#schema/rest/session.ts';
import { workspaceIdOf } from '#server/workspaces/workspace-root.ts';
import { startTalk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect } from '#support/ws-client.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UNKNOWN = 'session_00000000-0000-4000-8000-000000000000';
const SOME_WORKSPACE = 'wd_some_0123456789ab';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

describe('POST /sessions', () => {
  it('returns the whole object, live and idle', async () => {
    const session = await world.session();
    expect(session).toEqual({
      id: expect.stringMatching(/^session_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      workspace_id: workspaceIdOf(world.project),
      title: '',
      created_at: expect.stringMatching(TIME),
      updated_at: session.created_at,
      archived: false,
      busy: false,
      main_turn_active: false,
      pending_interaction: 'none',
      metadata: { cwd: world.project },
      agent_config: { model: '' },
      usage: {
        input_tokens: 0,
        output_tokens: 0,
        cache_read_tokens: 0,
        cache_creation_tokens: 0,
        total_cost_usd: 0,
        context_tokens: 0,
        context_limit: 0,
        turn_count: 0,
      },
      permission_rules: [],
      message_count: 0,
      last_seq: 0,
    });
    expect(await world.ok('GET', `/sessions/${session.id}`)).toEqual(session);
    expect(await world.ok('GET', `/sessions/${session.id}/profile`)).toEqual(session);
    // Creating is not idempotent.
    expect((await world.session()).id).not.toBe(session.id);
  });

  it('publishes the workspace first, then the session', async () => {
    const cwd = join(world.project, 'told');
    await mkdir(cwd);
    const client = await connect(world.server);
    const session = await world.session({ metadata: { cwd } });
    const created = await client.waitFor(({ type }) => type === 'event.session.created');
    expect(created).toMatchObject({ seq: 1, session_id: session.id, payload: { session } });
    expect(client.frames.map(({ type }) => type)).toEqual([
      'server_hello',
      'event.workspace.created',
      'event.session.created',
    ]);
    await world.session({ workspace_id: session.workspace_id });
    await client.waitFor(({ type }) => type === 'event.workspace.updated');
    await client.close();
  });

  it('stores the title as sent and custom metadata, overridden by the session’s directory', async () => {
    const body = {
      workspace_id: workspaceIdOf(world.project),
      title: '  A title ',
      metadata: { z: null, nested: { a: [1] }, goal: 'hidden', cwd: `${world.project}/` },
      agent_config: { model: 'nobody/knows', permission_mode: 'yolo' },
    };
    const created = await world.ok('POST', '/sessions', body);
    expect(created).toMatchObject({ title: '  A title ', agent_config: { model: '' } });
    const { id, metadata } = z.object({ id: z.string(), metadata: z.json() }).parse(created);
    expect(JSON.stringify(metadata)).toBe(JSON.stringify({ z: null, nested: { a: [1] }, cwd: world.project }));
    expect(JSON.stringify(await world.ok('GET', `/sessions/${id}`))).toBe(JSON.stringify(created));
    // The agent configuration is accepted and ignored.
    expect(await world.ok('GET', `/sessions/${id}/status`)).toMatchObject({ permission: 'manual' });
  });

  it('creates a session with the configured permission mode', async () => {
    const other = await startWorld({ config: { default_permission_mode: 'auto' } });
    const { id } = await other.session();
    expect(await other.ok('GET', `/sessions/${id}/status`)).toMatchObject({ permission: 'auto' });
    await other.close();
  });

  it('checks schema, location, workspace, their agreement, directory, in this order', async () => {
    const file = join(world.project, 'a.txt');
    const gone = join(world.project, 'gone');
    const { workspace_id } = await world.session();
    const removed = await world.session({ metadata: { cwd: await made('removed') } });
    await rm(removed.metadata.cwd, { recursive: true });
    const expectedString = 'Invalid input: expected string, received undefined';
    const refused: [body: unknown, code: number, msg: string][] = [
      [[], 40001, 'Invalid input: expected object, received array'],
      [{ title: '', metadata: { cwd: gone } }, 40001, 'title: Too small: expected string to have >=1 characters'],
      [{ metadata: { cwd: '' } }, 40001, 'metadata.cwd: Too small: expected string to have >=1 characters'],
      [{ metadata: {} }, 40001, `metadata.cwd: ${expectedString}`],
      [{ metadata: 1 }, 40001, 'metadata: Invalid input: expected object, received number'],
      [{ workspace_id: 'x' }, 40001, 'workspace_id: workspace_id must be a wd_<slug>_<hash12> string'],
      [
        { metadata: { cwd: gone }, agent_config: { permission_mode: 'ask' } },
        40001,
        'agent_config.permission_mode: Invalid option: expected one of "manual"|"yolo"|"auto"',
      ],
      [{}, 40001, 'metadata.cwd: either workspace_id or metadata.cwd is required'],
      [{ workspace_id: SOME_WORKSPACE }, 40410, `workspace ${SOME_WORKSPACE} does not exist`],
      [{ workspace_id: SOME_WORKSPACE, metadata: { cwd: gone } }, 40410, `workspace ${SOME_WORKSPACE} does not exist`],
      [
        { workspace_id, metadata: { cwd: gone } },
        40001,
        `metadata.cwd: metadata.cwd (${gone}) must equal workspace root (${world.project})`,
      ],
      [{ metadata: { cwd: gone } }, 40409, `workspace root ${gone} does not exist`],
      [{ metadata: { cwd: file } }, 40409, `workspace root ${file} is not a directory`],
      [{ metadata: { cwd: 'relative' } }, 40409, 'workspace root relative does not exist'],
      [{ metadata: { cwd: '~' } }, 40409, 'workspace root ~ does not exist'],
      [{ workspace_id: removed.workspace_id }, 40409, `workspace root ${removed.metadata.cwd} does not exist`],
    ];
    const before = [await world.ok('GET', '/sessions'), await world.ok('GET', '/workspaces')];
    for (const [body, code, msg] of refused) {
      const answer = await world.api('POST', '/sessions', body);
      expect(answer).toMatchObject({ status: 200, code, msg, data: null });
      if (code !== 40001) expect(answer.details).toBeUndefined();
    }
    const [details] = [(await world.api('POST', '/sessions', {})).details];
    expect(details).toEqual([{ path: 'metadata.cwd', message: 'either workspace_id or metadata.cwd is required' }]);
    expect([await world.ok('GET', '/sessions'), await world.ok('GET', '/workspaces')]).toEqual(before);
  });
});

async function made(name: string): Promise<string> {
  const path = join(world.project, name);
  await mkdir(path);
  return path;
}

describe('an unknown session', () => {
  const content = [{ type: 'text', text: 'Hi' }];
  const calls: [method: string, path: string, body?: unknown][] = [
    ['GET', ''],
    ['GET', '/profile'],
    ['GET', '/status'],
    ['GET', '/snapshot'],
    ['GET', '/goal'],
    ['GET', '/warnings'],
    ['GET', '/runtime'],
    ['GET', '/messages'],
    ['GET', '/messages/msg_1'],
    ['GET', '/prompts'],
    ['GET', '/approvals?status=pending'],
    ['POST', '/profile', {}],
    ['POST', '/prompts', { content }],
    ['POST', '/prompts/msg_1:abort'],
    ['POST', '/approvals/approval_1', { decision: 'approved' }],
    ['POST', ':abort'],
    ['POST', ':archive'],
    ['POST', ':restore', { any: 1 }],
  ];

  it.each(calls)('%s …%s is session.not_found', async (method, path, body) => {
    for (const id of [UNKNOWN, 'not-even-an-id', 'a%2Fb']) {
      expect(await world.api(method, `/sessions/${id}${path}`, body)).toMatchObject({
        status: 200,
        code: 40401,
        msg: `session ${decodeURIComponent(id)} does not exist`,
        data: null,
      });
    }
  });

  it('is reported after a bad body, but before the fields of an action’s body', async () => {
    const path = `/sessions/${UNKNOWN}`;
    const bad: [path: string, body: unknown, code: number][] = [
      ['/profile', { title: '' }, 40001],
      ['/prompts', {}, 40001],
      ['/approvals/x', {}, 40001],
      [':archive', [], 40001],
      [':archive', { title: 1 }, 40401],
      [':restore', 'text', 40001],
      [':abort', null, 40001],
      [':foo', {}, 40001],
    ];
    for (const [tail, body, code] of bad) {
      expect([tail, (await world.api('POST', path + tail, body)).code]).toEqual([tail, code]);
    }
    expect((await world.api('GET', `${path}/messages?page_size=0`)).code).toBe(40001);
  });

  it('is not looked up by actions with an unknown or missing suffix, which fail validation', async () => {
    for (const tail of [UNKNOWN, `${UNKNOWN}:`, `${UNKNOWN}:foo`, ':archive']) {
      expect(await world.api('POST', `/sessions/${tail}`, {})).toMatchObject({
        code: 40001,
        details: [{ path: 'session_id', message: `unsupported action: ${tail}` }],
      });
    }
  });
});

describe('status, goal, warnings, runtime', () => {
  it('start unbound, and follow the first turn', async () => {
    const talk = await startTalk(world);
    const unbound = {
      busy: false,
      thinking_level: '',
      permission: 'manual',
      plan_mode: false,
      swarm_mode: false,
      context_tokens: 0,
      // Limit of the default model.
      max_context_tokens: 262_144,
      context_usage: 0,
    };
    expect(await talk.status()).toEqual(unbound);
    await talk.turn('Hi', [{ text: 'Hello.', usage: { input: 90, output: 10, cached: 30 } }]);
    expect(await talk.status()).toEqual({
      ...unbound,
      model: 'fake/fake-1',
      thinking_level: 'on',
      context_tokens: 100,
      context_usage: 100 / 262_144,
    });
    expect(await world.ok('GET', `${talk.path}/goal`)).toBeNull();
    expect(await world.ok('GET', `${talk.path}/warnings`)).toEqual({ warnings: [] });
    const { workspace_id } = talk.session;
    expect(await world.ok('GET', `${talk.path}/runtime`)).toEqual({ workspace_id, runtime_id: 'local' });
  });

  it('omit unknown limits', async () => {
    const other = await startWorld();
    await writeFile(join(other.server.home, 'config.toml'), '');
    await other.restart();
    const { id } = await other.session();
    const status = await other.ok('GET', `/sessions/${id}/status`);
    expect(status).not.toHaveProperty('max_context_tokens');
    expect(status).not.toHaveProperty('context_usage');
    await other.close();
  });
});

describe('the state of turns in a session object', () => {
  const read = async (path: string) => sessionSchema.parse(await world.ok('GET', path));

  it('busy, outcome and last prompt follow each turn', async () => {
    const talk = await startTalk(world);
    const held = world.model.enqueue({ text: 'One', hold: true });
    await talk.prompt('  First\n\tprompt ');
    expect(await read(talk.path)).toMatchObject({ busy: true, main_turn_active: true, last_prompt: 'First prompt' });
    expect(await read(talk.path)).not.toHaveProperty('last_turn_reason');
    held.release();
    await talk.nth('prompt.completed', 1);
    expect(await read(talk.path)).toMatchObject({
      busy: false,
      main_turn_active: false,
      last_turn_reason: 'completed',
    });

    await talk.turn('Second', [{ status: 400 }]);
    expect(await read(talk.path)).toMatchObject({ busy: false, last_turn_reason: 'failed', last_prompt: 'Second' });

    world.model.enqueue({ text: 'Three', hold: true });
    await talk.prompt('Third');
    await talk.nth('turn.step.started', 3);
    expect(await world.ok('POST', `${talk.path}:abort`)).toEqual({ aborted: true });
    await talk.nth('prompt.aborted', 1);
    expect(await read(talk.path)).toMatchObject({ busy: false, last_turn_reason: 'cancelled' });
    // No turn runs: the same answer, without an event.
    const { seq } = talk.events.frames.at(-1) ?? {};
    expect(await world.ok('POST', `${talk.path}:abort`, { any: 1 })).toEqual({ aborted: true });
    expect((await world.snapshot(talk.session.id)).as_of_seq).toBe(seq);
  });

  it('an approval is a pending interaction', async () => {
    const talk = await startTalk(world);
    await talk.prompt('Go', [{ calls: [{ name: 'Bash', args: { command: 'rm a.txt' } }] }, { text: 'Done.' }]);
    const approval = await talk.approval();
    expect(await read(talk.path)).toMatchObject({ busy: true, pending_interaction: 'approval' });
    await talk.answer(approval.approval_id, { decision: 'rejected' });
    await talk.nth('prompt.completed', 1);
    expect(await read(talk.path)).toMatchObject({ busy: false, pending_interaction: 'none' });
  });

  it('updated_at changes with an accepted prompt and the end of its turn, not with reads', async () => {
    const talk = await startTalk(world);
    const held = world.model.enqueue({ text: 'One', hold: true });
    await talk.prompt('Go');
    const submitted = await talk.nth('prompt.submitted', 1);
    expect((await read(talk.path)).updated_at).toBe(submitted.timestamp);
    held.release();
    await talk.nth('prompt.completed', 1);
    const ended = await talk.nth('turn.ended', 1);
    expect((await read(talk.path)).updated_at).toBe(ended.timestamp);
    await world.ok('GET', `${talk.path}/snapshot`);
    await world.ok('POST', `${talk.path}:abort`);
    expect((await read(talk.path)).updated_at).toBe(ended.timestamp);
  });
});

describe('titles', () => {
  const titleOf = async (path: string) => sessionSchema.parse(await world.ok('GET', path)).title;

  it('come from the first prompt, at most 200 characters, and stay', async () => {
    const talk = await startTalk(world);
    // The limit falls between the two halves of the emoji.
    const text = `${'x '.repeat(99)}x😀 and more`;
    await talk.turn(text, [{ text: 'Yes.' }]);
    expect(await titleOf(talk.path)).toBe(`${'x '.repeat(99)}x`);
    expect(talk.all('session.meta.updated')[0]?.payload).toMatchObject({
      title: `${'x '.repeat(99)}x`,
      patch: { title: `${'x '.repeat(99)}x`, isCustomTitle: false, lastPrompt: text },
    });
    await talk.turn('Another', [{ text: 'Yes.' }]);
    expect(await titleOf(talk.path)).toBe(`${'x '.repeat(99)}x`);
    expect(talk.all('session.meta.updated')[1]?.payload).toEqual({
      type: 'session.meta.updated',
      patch: { lastPrompt: 'Another' },
      agentId: 'main',
      sessionId: talk.session.id,
    });
  });

  it('set by the user are never replaced', async () => {
    const talk = await startTalk(world, { title: ' ', metadata: { cwd: world.project } });
    await talk.turn('Hi', [{ text: 'Yes.' }]);
    expect(await titleOf(talk.path)).toBe(' ');
  });
});
