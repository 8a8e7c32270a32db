/** AgentSwarm and swarm mode over the API. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { transcriptPageSchema } from '#schema/rest/transcript.ts';
import { crashedHome } from '#support/crash.ts';
import { manualClock } from '#support/manual-clock.ts';
import type { RecordedRequest, Script } from '#support/model-server.ts';
import { startServer } from '#support/server.ts';
import { call, startTalk, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

const clock = manualClock();
let env: NodeJS.ProcessEnv = process.env;
let world: World;
beforeAll(async () => {
  world = await startWorld({ clock, env: () => env });
});
afterAll(() => world.close());

/** Answers to a member's requests by its item, in order, then a text; those to the main agent are queued. */
let fates: Record<string, Script[]>;
beforeEach(() => {
  fates = {};
  env = process.env;
  world.model.answerBy(({ body }: RecordedRequest) => {
    const item = messagesSchema
      .parse(body.messages)
      .flatMap((message) => /^Look at (item-\d+)\.$/.exec(wireText(message))?.[1] ?? [])
      .at(-1);
    return item === undefined ? undefined : (fates[item]?.shift() ?? { text: `${item} is fine.` });
  });
});

const messagesSchema = z.array(z.looseObject({ role: z.string() }));
const items = (count: number) => Array.from({ length: count }, (_, at) => `item-${at + 1}`);
const swarm = (args: Record<string, unknown>) => call('AgentSwarm', { description: 'look around', ...args });
const over = (count: number) =>
  swarm({ prompt_template: 'Look at {{item}}.', items: items(count), subagent_type: 'plan' });
const limited: Script = { status: 429, error: 'slow down' };

const transcript = async (talk: Talk, agent = 'main') =>
  transcriptPageSchema.parse(await world.ok('GET', `${talk.path}/transcript?agent_id=${agent}`));
const markers = async (talk: Talk) =>
  (await transcript(talk)).items.flatMap((item) => (item.kind === 'marker' ? [item] : []));
const begun = (talk: Talk) => talk.all('subagent.started').length;
/** Advances the clock by `ms`, when a timeout of exactly this duration is pending. */
async function pass(ms: number): Promise<void> {
  await expect.poll(() => clock.waits(), { interval: 1 }).toContain(ms);
  clock.advance(ms);
}

test('the variable limits concurrency, and an invalid value fails the call', async () => {
  const talk = await startTalk(world);
  env = { ...process.env, SERVICE_CODE_AGENT_SWARM_MAX_CONCURRENCY: '0' };
  const { results } = await talk.turn('Look', [{ calls: [over(2)] }, { text: 'Done.' }]);
  expect(results).toMatchObject([
    { isError: true, output: 'SERVICE_CODE_AGENT_SWARM_MAX_CONCURRENCY must be a positive integer, not "0".' },
  ]);
  env = { ...process.env, SERVICE_CODE_AGENT_SWARM_MAX_CONCURRENCY: '1' };
  await talk.turn('Look', [{ calls: [over(3)] }, { text: 'Done.' }]);
  const order = talk.events
    .durable(talk.session.id)
    .filter(({ type }) => type === 'subagent.started' || type === 'subagent.completed')
    .map(({ type, payload }) => `${type} ${String(payload.subagentId)}`);
  expect(order).toEqual(
    [1, 2, 3].flatMap((number) => [`subagent.started agent-${number}`, `subagent.completed agent-${number}`]),
  );
});

test('an abort keeps completed results; the others can be resumed later, together with a new member', async () => {
  const talk = await startTalk(world);
  fates = { 'item-2': [{ hang: true }], 'item-3': [limited] };
  await talk.prompt('Look', [{ calls: [over(6)] }]);
  await talk.nth('subagent.suspended', 1);
  await talk.nth('subagent.completed', 3);
  await world.ok('POST', `${talk.path}:abort`);
  const { payload } = await talk.nth('tool.result', 1);
  expect(payload).toMatchObject({ isError: true });
  expect(payload.output).toContain('<summary>completed: 3, failed: 0, aborted: 3</summary>');
  expect(payload.output).toContain('<subagent agent_id="agent-3" item="item-3" state="started" outcome="aborted">');
  expect(payload.output).toContain('<subagent item="item-6" state="not_started" outcome="aborted">');
  await expect.poll(talk.status).toMatchObject({ busy: false, swarm_mode: false });
  expect((await transcript(talk)).tasks.map(({ state }) => state)).toEqual([
    'completed',
    'killed',
    'killed',
    'completed',
    'completed',
  ]);
  const resume_agent_ids = { 'agent-2': 'Look at item-20.', 'agent-3': 'Look at item-30.' };
  const more = { resume_agent_ids, prompt_template: 'Look at {{item}}.', items: ['item-6'], subagent_type: 'plan' };
  const { results } = await talk.turn('On', [{ calls: [swarm(more)] }, { text: 'Done.' }]);
  expect(results[0]?.output).toContain('<summary>completed: 3, failed: 0, aborted: 0</summary>');
  expect(results[0]?.output).toContain('<subagent mode="resume" agent_id="agent-2" outcome="completed">');
  const { tasks } = await transcript(talk);
  expect(tasks.map(({ taskId, state }) => [taskId, state])).toEqual(
    [1, 2, 3, 4, 5, 6].map((number) => [`agent-${number}`, 'completed']),
  );
  for (const task of tasks) expect(task).not.toHaveProperty('error');
});

test('a killed server leaves a swarm settled, and its members can be resumed', async () => {
  const talk = await startTalk(world);
  fates = { 'item-2': [{ hang: true }], 'item-3': [limited] };
  await talk.prompt('Look', [{ calls: [over(3)] }]);
  await talk.nth('subagent.suspended', 1);
  await talk.nth('subagent.completed', 1);
  const home = await crashedHome(world.server.home, talk.session);
  const server = await startServer({ home });
  try {
    await server.api('GET', `${talk.path}/prompts`);
    expect((await server.api('GET', `${talk.path}/status`)).data).toMatchObject({ busy: false, swarm_mode: false });
    const { data } = await server.api('GET', `${talk.path}/transcript?agent_id=main`);
    const page = transcriptPageSchema.parse(data);
    expect(page.tasks.map(({ taskId, state }) => [taskId, state])).toEqual([
      ['agent-1', 'completed'],
      ['agent-2', 'killed'],
      ['agent-3', 'killed'],
    ]);
    expect(page.items.flatMap((item) => (item.kind === 'marker' ? [item.marker] : []))).toEqual([
      'swarm.enter',
      'swarm.exit',
      'interruption',
    ]);
    expect(page.meta).not.toHaveProperty('modes');
    world.model.enqueue({ calls: [swarm({ resume_agent_ids: { 'agent-3': 'Look at item-30.' } })] });
    world.model.enqueue({ text: 'Done.' });
    const content = [{ type: 'text', text: 'On' }];
    await server.api('POST', `${talk.path}/prompts`, { content });
    await expect
      .poll(async () => (await server.api('GET', `${talk.path}/messages`)).data)
      .toMatchObject({ items: expect.arrayContaining([expect.objectContaining({ role: 'tool' })]) });
    await expect
      .poll(async () => JSON.stringify((await server.api('GET', `${talk.path}/messages`)).data))
      .toContain('completed: 1, failed: 0, aborted: 0');
  } finally {
    await server.close();
    await rm(home, { recursive: true, force: true });
    await world.ok('POST', `${talk.path}:abort`);
  }
});

test('swarm mode is switched by the profile: status, events, transcript and forks have it, an undo does not revert it', async () => {
  const talk = await startTalk(world);
  const set = (on: boolean) => world.ok('POST', `${talk.path}/profile`, { agent_config: { swarm_mode: on } });
  await talk.turn('hi', [{ text: 'Hi.' }]);
  const { as_of_seq } = await world.snapshot(talk.session.id);
  for (const on of [true, true, false, false, true]) await set(on);
  const told = () =>
    talk.events.frames
      .filter(({ type, payload }) => type === 'agent.status.updated' && 'swarmMode' in payload)
      .map(({ payload }) => payload.swarmMode);
  await expect.poll(told).toEqual([true, false, true]);
  // Swarm mode has no durable event.
  expect((await world.snapshot(talk.session.id)).as_of_seq).toBe(as_of_seq);
  expect((await transcript(talk)).meta).toMatchObject({ modes: { swarm: { trigger: 'manual' } } });
  expect((await markers(talk)).map(({ marker }) => marker)).toEqual(['swarm.enter', 'swarm.exit', 'swarm.enter']);

  const reminded = () => JSON.stringify(world.model.requests.at(-1)?.body.messages).match(/Swarm mode is on/g)?.length;
  await talk.turn('go', [{ text: 'Gone.' }]);
  await talk.turn('on', [{ text: 'On.' }]);
  expect(reminded()).toBe(1);
  await world.ok('POST', `${talk.path}:undo`, { count: 2 });
  expect(await talk.status()).toMatchObject({ swarm_mode: true });
  expect((await transcript(talk)).meta).toMatchObject({ modes: { swarm: { trigger: 'manual' } } });
  await talk.turn('again', [{ text: 'Again.' }]);
  expect(reminded()).toBe(1);

  world.model.enqueue({ text: 'What was said.' });
  await world.ok('POST', `${talk.path}:compact`, {});
  await talk.nth('compaction.completed', 1);
  await expect.poll(talk.status).toMatchObject({ busy: false });
  await talk.turn('further', [{ text: 'Further.' }]);
  expect(reminded()).toBe(1);

  const fork = (await world.ok('POST', `${talk.path}:fork`, {})) as { id: string };
  expect(await world.ok('GET', `/sessions/${fork.id}/status`)).toMatchObject({ swarm_mode: true });
  await world.restart();
  expect(await talk.status()).toMatchObject({ swarm_mode: true });
  await set(false);
  expect(await talk.status()).toMatchObject({ swarm_mode: false });
});

test('a swarm of twelve at a rate-limited provider: pace, backoff, and the table of results', async () => {
  const talk = await startTalk(world);
  fates = {
    'item-6': [limited, limited],
    'item-9': [{ status: 400, error: 'bad thing' }],
  };
  const { prompt_id } = await talk.prompt('Look', [{ calls: [over(12)] }, { text: 'Done.' }]);
  await talk.nth('subagent.completed', 5);
  expect(begun(talk)).toBe(5);
  expect(await talk.status()).toMatchObject({ swarm_mode: true });
  await pass(700);
  await talk.nth('subagent.suspended', 1);
  expect((await world.snapshot(talk.session.id)).subagents.at(-1)).toMatchObject({
    agent_id: 'agent-6',
    description: 'item-6',
    subagent_phase: 'suspended',
    suspended_reason: '429 slow down',
    swarm_index: 6,
  });
  const { tasks } = await transcript(talk);
  expect(tasks.at(-1)).toMatchObject({ taskId: 'agent-6', state: 'running', stateReason: '429 slow down' });
  await pass(3000);
  await talk.nth('subagent.suspended', 2);
  await pass(6000);
  await talk.nth('subagent.completed', 6);
  for (const count of [9, 10, 11, 12, 13, 14]) {
    await pass(700);
    await talk.nth('subagent.started', count);
  }
  await talk.settled(prompt_id);
  const { output } = talk.all('tool.result').at(-1)?.payload ?? {};
  const lines = String(output).split('\n');
  expect(lines.slice(0, 3)).toEqual([
    '<agent_swarm_result>',
    '<summary>completed: 11, failed: 1, aborted: 0</summary>',
    expect.stringContaining('<resume_hint>'),
  ]);
  expect(lines.slice(3)).toEqual([
    ...items(12).map((item, at) =>
      item === 'item-9'
        ? `<subagent agent_id="agent-9" item="item-9" state="started" outcome="failed">[provider.api_error] 400 bad thing</subagent>`
        : `<subagent agent_id="agent-${at + 1}" item="${item}" outcome="completed">${item} is fine.</subagent>`,
    ),
    '</agent_swarm_result>',
  ]);
  const own = talk.events.durable(talk.session.id).filter(({ payload }) => payload.subagentId === 'agent-6');
  expect(own.map(({ type }) => type)).toEqual([
    'subagent.spawned',
    'subagent.started',
    'subagent.suspended',
    'subagent.started',
    'subagent.suspended',
    'subagent.started',
    'subagent.completed',
  ]);
  const times = own.map(({ timestamp }) => Date.parse(String(timestamp)));
  expect((times[3] ?? 0) - (times[2] ?? 0)).toBe(3000);
  expect((times[5] ?? 0) - (times[4] ?? 0)).toBe(6000);
  expect(await talk.status()).toMatchObject({ swarm_mode: false });
  expect(talk.all('task.started')).toEqual([]);
  expect(await world.ok('GET', `${talk.path}/tasks`)).toEqual({ items: [] });

  const page = await transcript(talk);
  const [turn] = page.items.filter((item) => item.kind === 'turn');
  const frames = turn?.kind === 'turn' ? turn.steps.flatMap((step) => step.frames) : [];
  expect(frames.find((frame) => frame.kind === 'tool')).toMatchObject({
    display: { kind: 'agent_call', agent_name: 'swarm (12 subagents)', prompt: 'look around' },
    agentRefs: items(12).map((_, at) => ({ agentId: `agent-${at + 1}`, role: 'member' })),
  });
  expect(page.tasks.map(({ taskId, description, state }) => [taskId, description, state])).toEqual(
    items(12).map((item, at) => [`agent-${at + 1}`, item, item === 'item-9' ? 'failed' : 'completed']),
  );
  expect(page.agents.slice(1)).toEqual(
    items(12).map((label, at) => expect.objectContaining({ agentId: `agent-${at + 1}`, label, parentAgentId: 'main' })),
  );
  expect((await markers(talk)).map(({ marker, payload }) => [marker, payload])).toEqual([
    ['swarm.enter', { agentId: 'main', trigger: 'tool' }],
    ['swarm.exit', { agentId: 'main' }],
  ]);
  await world.restart();
  const { items: shown, tasks: rows, agents } = await transcript(talk);
  expect({ shown, rows, agents }).toEqual({ shown: page.items, rows: page.tasks, agents: page.agents });
});
