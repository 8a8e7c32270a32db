/** The snapshot in every state of a session. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTalk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const durableSeq = (events: readonly { seq?: number | undefined; volatile?: true | undefined }[]) =>
  Math.max(...events.map(({ seq, volatile }) => (volatile ? 0 : (seq ?? 0))));

it('of a new session', async () => {
  const session = await world.session();
  expect(await world.snapshot(session.id)).toEqual({
    as_of_seq: 1,
    epoch: expect.stringMatching(/^ep_[0-9A-HJKMNP-TV-Z]{26}$/),
    session: {
      ...session,
      agent_config: { model: '' },
      usage: {
        input_tokens: 0,
        output_tokens: 0,
        cache_read_tokens: 0,
        cache_creation_tokens: 0,
        context_tokens: 0,
        context_limit: 262_144,
      },
    },
    messages: { items: [], has_more: false },
    in_flight_turn: null,
    subagents: [],
    pending_approvals: [],
    pending_questions: [],
  });
});

describe('in a turn', () => {
  it('contains streaming texts with the offsets of their step', async () => {
    const talk = await startTalk(world);
    const steps = [
      world.model.enqueue({
        thinking: 'Think.',
        text: ['One', ' 😀.'],
        calls: [{ name: 'Glob', args: { pattern: '*.txt' } }],
      }),
      world.model.enqueue({ thinking: ['Mo', 're.'], text: 'Two', hold: true }),
    ];
    const { prompt_id } = await talk.prompt('Go');
    const lastDelta = await talk.events.waitFor(
      ({ type, payload }) => type === 'assistant.delta' && payload.delta === 'Two',
    );
    const { in_flight_turn, as_of_seq, session, messages } = await world.snapshot(talk.session.id);
    expect(in_flight_turn).toEqual({
      turn_id: 0,
      assistant_text: 'Two',
      assistant_offset: 'One 😀.'.length,
      thinking_text: 'More.',
      thinking_offset: 'Think.'.length,
      running_tools: [],
      current_prompt_id: prompt_id,
    });
    expect(lastDelta.offset).toBe('One 😀.'.length);
    expect(as_of_seq).toBe(durableSeq(talk.events.durable(talk.session.id)));
    expect(session).toMatchObject({ busy: true, main_turn_active: true, agent_config: { model: 'fake/fake-1' } });
    // The message of the running step is included, still empty.
    expect(messages.items.at(-1)).toMatchObject({ role: 'assistant', content: [] });
    steps[1]?.release();
    await talk.settled(prompt_id);
    expect((await world.snapshot(talk.session.id)).in_flight_turn).toBeNull();
  });

  it('contains a pending approval, not its call', async () => {
    const talk = await startTalk(world);
    await talk.prompt('Go', [
      { text: 'Deleting.', calls: [{ name: 'Bash', args: { command: 'rm a.txt' } }] },
      { text: 'No.' },
    ]);
    const approval = await talk.approval();
    const snapshot = await world.snapshot(talk.session.id);
    expect(snapshot).toMatchObject({
      session: { busy: true, pending_interaction: 'approval' },
      in_flight_turn: { turn_id: 0, assistant_text: 'Deleting.', running_tools: [] },
      pending_approvals: [approval],
      pending_questions: [],
    });
    expect(snapshot.messages.items.at(-1)).toMatchObject({
      role: 'assistant',
      content: [{ type: 'text', text: 'Deleting.' }, { type: 'tool_use' }],
    });
    await talk.answer(approval.approval_id, { decision: 'rejected' });
    await talk.nth('prompt.completed', 1);
    expect(await world.snapshot(talk.session.id)).toMatchObject({
      session: { pending_interaction: 'none' },
      pending_approvals: [],
    });
  });

  it('contains a running tool with its newest output', async () => {
    const talk = await startTalk(world);
    const command = 'echo ready; read line < fifo';
    await talk.prompt('Go', [{ calls: [{ name: 'Bash', args: { command: `mkfifo fifo; ${command}` } }] }], {
      permission_mode: 'yolo',
    });
    await talk.events.waitFor(
      ({ type, payload }) => type === 'tool.progress' && JSON.stringify(payload).includes('ready'),
    );
    const { in_flight_turn } = await world.snapshot(talk.session.id);
    expect(in_flight_turn?.running_tools).toEqual([
      {
        tool_call_id: expect.any(String),
        name: 'Bash',
        args: { command: `mkfifo fifo; ${command}` },
        description: expect.any(String),
        display: expect.objectContaining({ kind: 'command', cwd: world.project }),
        last_progress: { kind: 'stdout', text: 'ready\n' },
      },
    ]);
    await world.ok('POST', `${talk.path}:abort`);
    await talk.nth('prompt.aborted', 1);
  });
});

it('is idle after a failure and keeps the empty step', async () => {
  const talk = await startTalk(world);
  await talk.turn('Go', [{ status: 400 }]);
  const { session, in_flight_turn, messages, as_of_seq } = await world.snapshot(talk.session.id);
  expect(session).toMatchObject({ busy: false, last_turn_reason: 'failed' });
  expect(in_flight_turn).toBeNull();
  expect(messages.items.at(-1)).toMatchObject({ role: 'assistant', content: [] });
  expect(as_of_seq).toBe(durableSeq(talk.events.durable(talk.session.id)));
});

it('counts the usage of the main agent, preserved over unload and load', async () => {
  const talk = await startTalk(world);
  await talk.turn('One', [{ text: 'A', usage: { input: 100, output: 20, cached: 40 } }]);
  await talk.turn('Two', [{ text: 'B', usage: { input: 150, output: 30, cached: 100 } }]);
  const usage = {
    input_tokens: 60 + 50,
    output_tokens: 50,
    cache_read_tokens: 140,
    cache_creation_tokens: 0,
    context_tokens: 180,
    context_limit: 262_144,
  };
  expect((await world.snapshot(talk.session.id)).session.usage).toEqual(usage);
  await world.restart();
  expect((await world.snapshot(talk.session.id)).session.usage).toEqual(usage);
});

it('is the same after a restart, with the last seq of the stream', async () => {
  const talk = await startTalk(world);
  await talk.turn('Go', [{ text: 'Hello.' }]);
  const before = await world.snapshot(talk.session.id);
  await world.restart();
  await talk.events.closed;
  const closed = durableSeq(talk.events.durable(talk.session.id));
  const first = await world.snapshot(talk.session.id);
  expect(first).toEqual({ ...before, as_of_seq: closed });
  // Neither loading emitted an event, nor does loading again.
  await world.restart();
  expect(await world.snapshot(talk.session.id)).toEqual(first);
});

it('contains the last 100 messages, oldest first', async () => {
  const talk = await startTalk(world);
  // Prompt, reminder, answer, 100 results, answer.
  const calls = Array.from({ length: 100 }, (_, n) => ({ name: 'NoSuchTool', args: { n } }));
  await talk.turn('Go', [{ calls }, { text: 'Done.' }]);
  const { messages } = await world.snapshot(talk.session.id);
  expect(messages.has_more).toBe(true);
  expect(messages.items).toHaveLength(100);
  const all = await talk.messages();
  expect(all).toEqual(messages.items);
  const [first] = messages.items;
  const older = await world.ok('GET', `${talk.path}/messages?before_id=${first?.id}`);
  expect(older).toMatchObject({
    items: [{ role: 'tool' }, { role: 'assistant' }, { role: 'user' }, { content: [{ text: 'Go' }] }],
    has_more: false,
  });
});
