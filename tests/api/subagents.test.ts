/** The Agent tool: tasks handed to other agents, waited for, in the background, resumed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Script } from '#support/model-server.ts';
import { call, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

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
  test('works on its task and hands over its last message', async () => {
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

  test('is asked once more when it says too little', async () => {
    const talk = await startTalk(world);
    const { results } = await talk.turn('Count', delegating({}, { text: 'Two.' }, { text: LONG }));
    expect(results[0]?.output).toContain(LONG);
    expect(own(talk, 'agent-1', 'turn.started')).toHaveLength(2);
    const again = await talk.turn('Again', delegating({}, { text: 'Two.' }, { text: 'Two, really.' }));
    expect(again.results[0]?.output).toContain('[summary]\nTwo, really.');
  });

  test('that looks around is told where the repository stands', async () => {
    const talk = await startTalk(world);
    await talk.turn('Look', delegating({ subagent_type: 'explore' }, { text: LONG }));
    expect(said(-2)[1]).toMatch(/<git-context>\ntop: .*\nbranch: .*\n<\/git-context>\n\nCount the words/);
    expect(said(-2)[0]).toContain('change nothing');
  });

  test('fails as its turn does', async () => {
    const talk = await startTalk(world);
    const { results, ended } = await talk.turn('Count', delegating({}, { status: 400, error: 'bad thing' }));
    expect(results[0]).toMatchObject({ isError: true });
    expect(results[0]?.output).toContain('status: failed');
    expect(results[0]?.output).toContain('[provider.api_error] 400 bad thing');
    expect(talk.all('subagent.failed')[0]?.payload).toMatchObject({ error: '[provider.api_error] 400 bad thing' });
    expect(ended).toBeDefined();
    expect(await world.ok('GET', talk.path)).toMatchObject({ last_turn_reason: 'completed' });
  });

  test('whose last message is cut off has failed', async () => {
    const talk = await startTalk(world);
    const { results } = await talk.turn('Count', delegating({}, { text: LONG, finish: 'length' }));
    expect(results[0]).toMatchObject({ isError: true });
    expect(results[0]?.output).toContain('[agent.max_tokens_exceeded]');
  });

  test('asks for its own approvals, and goes on with the answer', async () => {
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

  test('ends with the turn that waits for it', async () => {
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
