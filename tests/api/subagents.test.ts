/** The Agent tool: tasks delegated to other agents, in the foreground, in the background, resumed. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { crashedHome } from '#support/crash.ts';
import type { Script } from '#support/model-server.ts';
import { until } from '#support/patience.ts';
import { startServer } from '#support/server.ts';
import { call, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect } from '#support/ws-client.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const LONG = 'The files hold two words, hello and world. '.repeat(6).trim();
const agentCall = (args: Record<string, unknown> = {}, id?: string) =>
  call('Agent', { prompt: 'Count the words of a.txt', description: 'count words', ...args }, id);
const delegating = (args: Record<string, unknown>, ...answers: Script[]): Script[] => [
  { calls: [agentCall(args)] },
  ...answers,
  { text: 'Done.' },
];
const said = (nth: number) => wireMessages(world, nth).map(wireText);
const own = (talk: Talk, agent: string, type: string) =>
  talk.all(type).filter(({ payload }) => payload.agentId === agent);

describe('in the foreground', () => {
  test('works on its task and returns its last message', async () => {
    const talk = await startTalk(world);
    const { results, frames } = await talk.turn('Count', delegating({}, { text: LONG }), { permission_mode: 'yolo' });
    expect(results).toEqual([
      expect.objectContaining({
        isError: false,
        output: `agent_id: agent-1\nactual_subagent_type: coder\nstatus: completed\n\n[summary]\n${LONG}`,
      }),
    ]);
    const [task] = world.model.requests.slice(-2);
    expect(task?.body.tools).not.toEqual(world.model.requests.at(-1)?.body.tools);
    expect(said(-2)[0]).toContain('You are a subagent');
    expect(said(-2).at(1)).toBe('Count the words of a.txt');
    const types = frames.filter(({ payload }) => payload.agentId === 'agent-1').map(({ type }) => type);
    expect(types.filter((type) => type !== 'context.spliced')).toEqual([
      'agent.created',
      'turn.started',
      'turn.step.started',
      'turn.step.completed',
      'turn.ended',
      'prompt.completed',
    ]);
    expect(talk.all('subagent.completed')[0]?.payload).toMatchObject({
      agentId: 'main',
      subagentId: 'agent-1',
      resultSummary: LONG,
      usage: { inputOther: 12, output: 5 },
      contextTokens: expect.any(Number),
    });
  });

  test('is prompted again if its answer is too short', async () => {
    const talk = await startTalk(world);
    const { results } = await talk.turn('Count', delegating({}, { text: 'Two.' }, { text: LONG }));
    expect(results[0]?.output).toContain(LONG);
    expect(own(talk, 'agent-1', 'turn.started')).toHaveLength(2);
    const again = await talk.turn('Again', delegating({}, { text: 'Two.' }, { text: 'Two, really.' }));
    expect(again.results[0]?.output).toContain('[summary]\nTwo, really.');
  });

  test('of type explore receives the state of the repository', async () => {
    const talk = await startTalk(world);
    await talk.turn('Look', delegating({ subagent_type: 'explore' }, { text: LONG }));
    expect(said(-2)[1]).toMatch(/<git-context>\ntop: .*\nbranch: .*\n<\/git-context>\n\nCount the words/);
    expect(said(-2)[0]).toContain('change nothing');
  });

  test('fails if its turn fails', async () => {
    const talk = await startTalk(world);
    const { results, ended } = await talk.turn('Count', delegating({}, { status: 400, error: 'bad thing' }));
    expect(results[0]).toMatchObject({ isError: true });
    expect(results[0]?.output).toContain('status: failed');
    expect(results[0]?.output).toContain('[provider.api_error] 400 bad thing');
    expect(talk.all('subagent.failed')[0]?.payload).toMatchObject({ error: '[provider.api_error] 400 bad thing' });
    expect(ended).toBeDefined();
    expect(await world.ok('GET', talk.path)).toMatchObject({ last_turn_reason: 'completed' });
  });

  test('fails if its last message is truncated', async () => {
    const talk = await startTalk(world);
    const { results } = await talk.turn('Count', delegating({}, { text: LONG, finish: 'length' }));
    expect(results[0]).toMatchObject({ isError: true });
    expect(results[0]?.output).toContain('[agent.max_tokens_exceeded]');
  });

  test('requests its own approvals, and continues with the answer', async () => {
    const talk = await startTalk(world);
    const run: Script = { calls: [call('Bash', { command: 'cat a.txt' })] };
    const { prompt_id } = await talk.prompt('Run', delegating({}, run, { text: LONG }), { permission_mode: 'manual' });
    const approval = await talk.approval();
    expect(approval).toMatchObject({ agent_id: 'agent-1', turn_id: 0, tool_name: 'Bash' });
    expect((await world.snapshot(talk.session.id)).pending_approvals).toEqual([approval]);
    expect(await world.ok('GET', talk.path)).toMatchObject({ pending_interaction: 'approval', main_turn_active: true });
    await talk.answer(approval.approval_id, { decision: 'rejected', feedback: 'no' });
    await talk.settled(prompt_id);
    expect(own(talk, 'agent-1', 'tool.result')[0]?.payload.output).toContain('Do not retry it');
  });

  test('is aborted with the turn that waits for it', async () => {
    const talk = await startTalk(world);
    const held: Script = { text: 'Half', hold: true };
    await talk.prompt('Count', [{ calls: [agentCall()] }, held]);
    await talk.nth('subagent.started', 1);
    await talk.nth('turn.step.started', 2);
    await world.ok('POST', `${talk.path}:abort`);
    await talk.nth('prompt.aborted', 2);
    const types = talk.events
      .durable(talk.session.id)
      .slice(-14)
      .map(({ type, payload }) => `${type} ${String(payload.agentId)}`);
    const order = [
      'turn.ended agent-1',
      'prompt.aborted agent-1',
      'subagent.failed main',
      'tool.result main',
      'turn.ended main',
      'prompt.aborted main',
    ];
    expect(types.filter((type) => order.includes(type))).toEqual(order);
    expect(own(talk, 'agent-1', 'turn.ended')[0]?.payload).toMatchObject({ interruptReason: 'user_cancelled' });
    expect(await world.ok('GET', talk.path)).toMatchObject({ busy: false, last_turn_reason: 'cancelled' });
  });
});

const taskOf = async (talk: Talk) => String((await talk.nth('subagent.spawned', 1)).payload.taskId);

describe('in the background', () => {
  test('reports its end in a new turn, with its result', async () => {
    const talk = await startTalk(world);
    world.model.enqueue({ calls: [agentCall({ run_in_background: true })] });
    // Either agent may send its request first.
    const held = [world.model.enqueue({ text: LONG, hold: true }), world.model.enqueue({ text: LONG, hold: true })];
    const { prompt_id } = await talk.prompt('Count');
    await Promise.all(held.map(({ sent }) => sent));
    const taskId = await taskOf(talk);
    expect(await world.ok('GET', `${talk.path}/tasks/${taskId}`)).toMatchObject({
      kind: 'subagent',
      status: 'running',
      agent_id: 'agent-1',
      subagent_type: 'coder',
      parent_tool_call_id: expect.any(String),
    });
    expect((await world.snapshot(talk.session.id)).subagents).toEqual([]);
    world.model.enqueue({ text: 'I see.' });
    for (const one of held) one.release();
    await talk.settled(prompt_id);
    await talk.nth('task.notified', 1);
    await expect.poll(async () => (await world.ok('GET', talk.path)) as object).toMatchObject({ busy: false });
    const texts = talk
      .all('context.spliced')
      .map(({ payload }) => JSON.stringify(payload.messages))
      .filter((text) => text.includes('<notification'));
    expect(texts).toHaveLength(1);
    expect(texts[0]).toContain('agent-1');
    expect(texts[0]).toContain('The files hold two words');
    expect(await world.ok('GET', `${talk.path}/tasks/${taskId}?with_output=true`)).toMatchObject({
      status: 'completed',
      output_preview: expect.stringContaining('The files hold two words'),
    });
  });

  test('after a detach from the foreground, its approval stays pending', async () => {
    const talk = await startTalk(world);
    const asks: Script = { calls: [call('Bash', { command: 'cat a.txt' })] };
    const { prompt_id } = await talk.prompt('Count', [{ calls: [agentCall()] }, asks], { permission_mode: 'manual' });
    const approval = await talk.approval();
    world.model.enqueue({ text: 'It goes on behind.' });
    const taskId = await taskOf(talk);
    expect(await world.ok('POST', `${talk.path}/tasks/${taskId}:detach`)).toEqual({
      detached: true,
      status: 'running',
    });
    await talk.settled(prompt_id);
    expect(await world.approvals(talk.session.id)).toEqual([approval]);
    expect(await world.ok('GET', talk.path)).toMatchObject({ busy: true, main_turn_active: false });
    for (const text of [LONG, 'I see.']) world.model.enqueue({ text });
    await talk.answer(approval.approval_id, { decision: 'approved' });
    const { payload } = await talk.nth('task.terminated', 1);
    expect(payload.info).toMatchObject({ taskId, status: 'completed' });
    // The caller is idle, so the end opens a turn.
    await expect.poll(() => own(talk, 'main', 'turn.ended').length).toBe(2);
    expect(own(talk, 'main', 'turn.started')[1]?.payload).toMatchObject({
      origin: { kind: 'task', taskId, status: 'completed' },
    });
    expect(said(-1).at(-1)).toMatch(new RegExp(`^<notification id="task:${taskId}:completed"[^]*${LONG.slice(0, 40)}`));
    expect(await world.ok('GET', `${talk.path}/tasks/${taskId}?with_output=1`)).toMatchObject({
      status: 'completed',
      output_preview: LONG,
    });
    expect(await world.ok('GET', talk.path)).toMatchObject({ busy: false });
  });
});

test('its background commands are its own: not listed, not addressable, and stopped with its run', async () => {
  const talk = await startTalk(world);
  const server = call('Bash', { command: 'exec sleep 60', description: 'Serve', run_in_background: true });
  world.model.enqueue({ calls: [agentCall()] });
  world.model.enqueue({ calls: [server] });
  const held = world.model.enqueue({ text: LONG, hold: true });
  const { prompt_id } = await talk.prompt('Count', [], { permission_mode: 'yolo' });
  await held.sent;
  // The model's request may arrive before the frame.
  const [started] = await until(() => {
    const frames = own(talk, 'agent-1', 'task.started');
    return frames.length > 0 && frames;
  });
  const { taskId } = z.object({ taskId: z.string() }).parse(started?.payload.info);
  expect(await world.ok('GET', `${talk.path}/tasks`)).toMatchObject({ items: [{ kind: 'subagent' }] });
  for (const [method, tail] of [
    ['GET', ''],
    ['POST', ':cancel'],
    ['POST', ':detach'],
  ] as const) {
    expect(await world.api(method, `${talk.path}/tasks/${taskId}${tail}`)).toMatchObject({ code: 40406 });
  }
  world.model.enqueue({ text: 'Done.' });
  held.release();
  await talk.settled(prompt_id);
  expect((await talk.nth('task.terminated', 1)).payload).toMatchObject({
    agentId: 'agent-1',
    info: { taskId, status: 'killed', stopReason: 'subagent ended' },
  });
  await expect.poll(() => world.ok('GET', talk.path)).toMatchObject({ busy: false });
  expect(talk.all('task.notified')).toEqual([]);
});

test('cancelled over REST: the call reports it and the turn continues', async () => {
  const talk = await startTalk(world);
  const asks: Script = { calls: [call('Bash', { command: 'cat a.txt' })] };
  const { prompt_id } = await talk.prompt('Count', [{ calls: [agentCall()] }, asks], { permission_mode: 'manual' });
  await talk.approval();
  world.model.enqueue({ text: 'Then not.' });
  const taskId = await taskOf(talk);
  expect(await world.ok('POST', `${talk.path}/tasks/${taskId}:cancel`)).toEqual({ cancelled: true });
  await talk.settled(prompt_id);
  expect(await world.approvals(talk.session.id)).toEqual([]);
  expect(talk.all('event.approval.resolved')[0]?.payload).toMatchObject({ decision: 'cancelled' });
  const [result] = own(talk, 'main', 'tool.result');
  expect(result?.payload).toMatchObject({ isError: true, output: expect.stringMatching(/Interrupted by user$/) });
  expect(own(talk, 'main', 'turn.ended')[0]?.payload).toMatchObject({ reason: 'completed' });
});

test('accepts prompts by its agent id, aborted by their prompt ids', async () => {
  const talk = await startTalk(world);
  await talk.turn('Count', delegating({}, { text: LONG }));
  const asked = await talk.turn('And the lines?', [{ text: 'One.' }], { agent_id: 'agent-1' });
  expect(asked.ended).toMatchObject({ agentId: 'agent-1', turnId: 1, reason: 'completed' });
  expect(said(-1)).toEqual(expect.arrayContaining(['Count the words of a.txt', LONG, 'And the lines?']));
  const task = own(talk, 'agent-1', 'turn.started')[0]?.payload.promptId;
  expect(await world.api('POST', `${talk.path}/prompts/${String(task)}:abort`)).toMatchObject({ code: 40903 });
  const held = world.model.enqueue({ text: 'Half', hold: true });
  const { prompt_id } = await talk.prompt('More', [], { agent_id: 'agent-1' });
  await held.sent;
  expect(await world.api('POST', `${talk.path}:abort`)).toMatchObject({ code: 0 });
  expect(own(talk, 'agent-1', 'turn.ended')).toHaveLength(2);
  expect(await world.api('POST', `${talk.path}/prompts/${prompt_id}:abort`)).toMatchObject({ code: 0 });
  expect((await talk.settled(prompt_id)).type).toBe('prompt.aborted');
});

test('the mode of the session applies to every agent, that of a prompt to its agent', async () => {
  const talk = await startTalk(world);
  await talk.turn('Count', delegating({}, { text: LONG }), { permission_mode: 'yolo' });
  await talk.turn('Hello', [{ text: 'Hi.' }], { permission_mode: 'manual' });
  const run: Script[] = [{ calls: [call('Bash', { command: 'true' })] }, { text: 'Ran.' }];
  await talk.turn('Run', run, { agent_id: 'agent-1' });
  expect(talk.all('event.approval.requested')).toEqual([]);
  await world.ok('POST', `${talk.path}/profile`, { agent_config: { permission_mode: 'manual' } });
  const { prompt_id } = await talk.prompt('Run', run, { agent_id: 'agent-1' });
  const approval = await talk.approval();
  expect(approval.agent_id).toBe('agent-1');
  await talk.answer(approval.approval_id, { decision: 'rejected' });
  await talk.settled(prompt_id);
});

test('in the foreground it is in the snapshot until the next turn', async () => {
  const talk = await startTalk(world);
  const held = world.model.enqueue({ calls: [agentCall({ subagent_type: 'plan' }, 'call_plan')] });
  await talk.prompt('Count');
  await held.sent;
  const child = world.model.enqueue({ text: 'A plan.', hold: true });
  const shown = async () => (await world.snapshot(talk.session.id)).subagents;
  await child.sent;
  expect(await shown()).toEqual([
    {
      id: 'agent-1',
      session_id: talk.session.id,
      kind: 'subagent',
      description: 'count words',
      status: 'running',
      created_at: expect.any(String),
      started_at: expect.any(String),
      agent_id: 'agent-1',
      subagent_type: 'plan',
      parent_tool_call_id: 'call_plan',
      model: 'fake/fake-1',
      thinking_effort: 'on',
      subagent_phase: 'working',
      run_in_background: false,
    },
  ]);
  await world.ok('POST', `${talk.path}:abort`);
  await talk.nth('prompt.aborted', 2);
  expect(await shown()).toMatchObject([{ status: 'failed', output_preview: 'interrupted by the user' }]);
  await talk.turn('Next', [{ text: 'Fine.' }]);
  expect(await shown()).toEqual([]);
});

test('a filter on main passes its creation and end, and none of its other events', async () => {
  const talk = await startTalk(world);
  const client = await world.watch(talk.session.id);
  await client.send({
    type: 'subscribe',
    payload: {
      session_ids: [talk.session.id],
      cursors: { [talk.session.id]: { seq: 0 } },
      agent_filter: { [talk.session.id]: ['main'] },
    },
  });
  const before = client.frames.length;
  await talk.turn('Count', delegating({}, { text: LONG }));
  await client.waitFor(({ type, payload }) => type === 'prompt.completed' && payload.agentId === 'main');
  const seen = client.frames.slice(before).filter(({ payload }) => payload.agentId === 'agent-1');
  expect(seen.map(({ type }) => type)).toEqual(['agent.created']);
  expect(client.frames.some(({ type }) => type === 'subagent.completed')).toBe(true);
});

test('its run is in the transcript of the caller, its turns in its own', async () => {
  const talk = await startTalk(world);
  await talk.turn('Count', delegating({}, { text: LONG }));
  const taskId = await taskOf(talk);
  const main = await world.ok('GET', `${talk.path}/transcript?agent_id=main`);
  expect(main).toMatchObject({
    tasks: [{ taskId, kind: 'subagent', state: 'completed', detached: false, agentId: 'agent-1', resultSummary: LONG }],
    agents: [{ agentId: 'main' }, { agentId: 'agent-1', type: 'sub', parentAgentId: 'main' }],
    items: [
      { steps: [{ frames: [{ kind: 'tool', taskId, agentRefs: [{ agentId: 'agent-1', role: 'child' }] }] }, {}] },
    ],
  });
  const child = await world.ok('GET', `${talk.path}/transcript?agent_id=agent-1`);
  expect(child).toMatchObject({
    items: [{ turnId: 't0', state: 'completed', origin: { kind: 'other' }, steps: [{ frames: [{ text: LONG }] }] }],
  });
  await world.restart();
  const cold = (await world.ok('GET', `${talk.path}/transcript?agent_id=main`)) as Record<string, unknown>;
  expect(cold.tasks).toEqual((main as Record<string, unknown>).tasks);
  expect(cold.items).toEqual((main as Record<string, unknown>).items);
});

describe('after a crash', () => {
  test('running calls are settled, in order, and a resumed subagent continues', async () => {
    const talk = await startTalk(world);
    const asks: Script = { calls: [call('Bash', { command: 'cat a.txt' }, 'call_cat')] };
    await talk.prompt('Count', [{ calls: [agentCall({}, 'call_agent')] }, asks], { permission_mode: 'manual' });
    await talk.approval();
    const seen = (await world.snapshot(talk.session.id)).as_of_seq;
    const home = await crashedHome(world.server.home, talk.session);
    const server = await startServer({ home });
    try {
      // The session is loaded and settled, so the client receives only replayed events.
      await server.api('GET', `${talk.path}/prompts`);
      const client = await connect(server);
      await client.send({
        type: 'subscribe',
        payload: { session_ids: [talk.session.id], cursors: { [talk.session.id]: { seq: seen } } },
      });
      await client.waitFor(({ type }) => type === 'event.session.work_changed');
      expect(client.durable(talk.session.id).map(({ type, payload }) => `${type} ${String(payload.agentId)}`)).toEqual([
        'event.approval.resolved agent-1',
        'turn.step.interrupted agent-1',
        'turn.ended agent-1',
        'prompt.aborted agent-1',
        'subagent.failed main',
        'tool.result main',
        'turn.step.interrupted main',
        'turn.ended main',
        'prompt.aborted main',
        'event.session.work_changed main',
      ]);
      const { data: snapshot } = await server.api('GET', `${talk.path}/snapshot`);
      expect(snapshot).toMatchObject({ subagents: [], pending_approvals: [] });
      const { data: page } = await server.api('GET', `${talk.path}/transcript?agent_id=main`);
      expect(page).toMatchObject({ tasks: [{ state: 'killed', agentId: 'agent-1' }] });
      for (const script of delegating({ resume: 'agent-1', prompt: 'Go on' }, { text: LONG })) {
        world.model.enqueue(script);
      }
      const content = [{ type: 'text', text: 'Go on' }];
      const { code } = await server.api('POST', `${talk.path}/prompts`, { content, permission_mode: 'yolo' });
      expect(code).toBe(0);
      await client.waitFor(({ type, payload }) => type === 'prompt.completed' && payload.agentId === 'main');
      expect(said(-2)).toEqual(expect.arrayContaining(['Count the words of a.txt', 'Go on']));
      await client.close();
    } finally {
      await server.close();
      await rm(home, { recursive: true, force: true });
      await world.ok('POST', `${talk.path}:abort`);
    }
  });

  test('a background subagent is lost, and its caller is informed with the next prompt', async () => {
    const talk = await startTalk(world);
    world.model.enqueue({ calls: [agentCall({ run_in_background: true })] });
    const held = [world.model.enqueue({ text: LONG, hold: true }), world.model.enqueue({ text: LONG, hold: true })];
    await talk.prompt('Count');
    await Promise.all(held.map(({ sent }) => sent));
    const home = await crashedHome(world.server.home, talk.session);
    const server = await startServer({ home });
    try {
      const taskId = await taskOf(talk);
      await server.api('GET', `${talk.path}/prompts`);
      const client = await connect(server);
      await client.send({
        type: 'subscribe',
        payload: { session_ids: [talk.session.id], cursors: { [talk.session.id]: { seq: 0 } } },
      });
      const turns = () => client.durable(talk.session.id).filter(({ type }) => type === 'turn.started').length;
      const before = turns();
      expect(client.durable(talk.session.id).filter(({ type }) => type === 'task.notified')).toHaveLength(1);
      const { data: task } = await server.api('GET', `${talk.path}/tasks/${taskId}`);
      expect(task).toMatchObject({ status: 'failed', agent_id: 'agent-1' });
      const { data: page } = await server.api('GET', `${talk.path}/transcript?agent_id=main`);
      expect(page).toMatchObject({ tasks: [{ taskId, state: 'lost', detached: true }] });
      expect((await server.api('GET', talk.path)).data).toMatchObject({ busy: false });
      // The notice opens no turn: it precedes the next prompt.
      const { length } = world.model.requests;
      world.model.enqueue({ text: 'I see.' });
      await server.api('POST', `${talk.path}/prompts`, { content: [{ type: 'text', text: 'Go on' }] });
      await client.waitFor(({ type, payload }) => type === 'turn.ended' && payload.reason === 'completed');
      expect([world.model.requests.length - length, turns() - before]).toEqual([1, 1]);
      expect(said(-1).filter((text) => text.includes(`<notification id="task:${taskId}:lost"`))).toHaveLength(1);
      expect(said(-1).at(-1)).toBe('Go on');
      await client.close();
    } finally {
      await server.close();
      await rm(home, { recursive: true, force: true });
      for (const one of held) one.release();
      await world.ok('POST', `${talk.path}:abort`);
    }
  });
});
