/** `GET /tools`. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { toolDescriptorSchema } from '#schema/rest/tool.ts';
import { startTalk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ config: { tools: { disabled: ['Glob'] } } });
});
afterAll(() => world.close());

async function tools(query = '') {
  const data = await world.ok('GET', `/tools${query}`);
  return z.object({ tools: z.array(toolDescriptorSchema) }).parse(data).tools;
}
const active = async (query: string) => (await tools(query)).filter((tool) => tool.active).map(({ name }) => name);
const core = ['Read', 'Write', 'Edit', 'Bash', 'Grep', 'Glob', 'ReadMediaFile'];
const goals = ['CreateGoal', 'GetGoal', 'SetGoalBudget', 'UpdateGoal'];
const tasks = ['TaskList', 'TaskOutput', 'WaitFor', 'TaskStop'];
const modes = ['EnterPlanMode', 'ExitPlanMode', 'Agent', 'AgentSwarm'];
const cron = ['CronCreate', 'CronDelete', 'CronList'];
const others = ['FetchURL', 'TodoList', 'AskUserQuestion', ...modes, ...tasks, 'Skill', ...goals, ...cron];
/** The last one is for models that load tools dynamically. */
const all = [...core, ...others, 'select_tools'];
const without = (...names: string[]) => all.filter((name) => name !== 'select_tools' && !names.includes(name));

test('is empty before a session is live, for an unknown one, or for a cold one', async () => {
  expect(await tools()).toEqual([]);
  expect(await tools('?session_id=none')).toEqual([]);
  const { id } = await world.session();
  expect(await tools(`?session_id=${id}`)).toHaveLength(all.length);
  await world.restart();
  expect(await tools(`?session_id=${id}`)).toEqual([]);
  expect(await world.api('GET', '/tools?session_id=')).toMatchObject({
    code: 40001,
    details: [{ path: 'session_id' }],
  });
});

test('has the built-in tools, with their descriptions for the model and in its order', async () => {
  const talk = await startTalk(world);
  const query = `?session_id=${talk.session.id}`;
  const listed = await tools(query);
  expect(listed.map(({ name }) => name)).toEqual(all);
  for (const tool of listed) expect(tool).toMatchObject({ input_schema: null, source: 'builtin', active: true });
  await talk.turn('hi', [{ text: 'hi' }]);
  const sent = world.model.requests.at(-1)?.body.tools as { function: { name: string; description: string } }[];
  const names = sent.map(({ function: tool }) => tool.name);
  expect(names).toEqual(without('Glob'));
  for (const { function: tool } of sent) {
    expect(listed.find(({ name }) => name === tool.name)?.description).toBe(tool.description);
  }
});

test('binds no agent; for a bound agent it has the verdict of the policy, right after the reply', async () => {
  const talk = await startTalk(world);
  const query = `?session_id=${talk.session.id}`;
  expect(await active(query)).toEqual(all);
  expect(talk.events.durable(talk.session.id)).toHaveLength(1);
  const held = world.model.enqueue({ text: 'slow', hold: true });
  await talk.prompt('go', [], { prompt_id: 'p0', disabled_tools: ['Bash', 'Nothing'] });
  expect(await active(query)).toEqual(without('Glob', 'Bash'));
  await talk.prompt('more', [{ text: 'ok' }], { prompt_id: 'p1', disabled_tools: [] });
  expect(await active(query)).toEqual(without('Glob'));
  held.release();
  await talk.settled('p1');
});

test('without a session uses the one created last', async () => {
  const first = await startTalk(world);
  await first.turn('go', [{ text: 'ok' }], { disabled_tools: all });
  const second = await startTalk(world);
  expect(await active('')).toEqual(all);
  await second.turn('go', [{ text: 'ok' }], { disabled_tools: ['Edit'] });
  expect(await active('')).not.toContain('Edit');
  expect(await active('')).toContain('Read');
});

test('uses the last created session even if it is cold, but skips archived ones', async () => {
  const older = await startTalk(world);
  const { id: newest } = await world.session();
  expect(await active('')).toEqual(all);
  await world.restart();
  await world.ok('POST', `/sessions/${older.session.id}/profile`, { title: 'live' });
  expect(await tools(`?session_id=${older.session.id}`)).toHaveLength(all.length);
  expect(await tools()).toEqual([]);
  await world.ok('POST', `/sessions/${newest}:archive`);
  expect(await tools()).toHaveLength(all.length);
});
