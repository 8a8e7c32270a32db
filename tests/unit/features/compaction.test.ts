/** Compactions of a real session: the request for a summary, the handling of answers, the resulting context. */
import { describe, expect, it, test } from 'vitest';
import type { StoredConfig } from '#server/config/stored.ts';
import { openSideConversation } from '#server/features/btw/btw.ts';
import { compaction } from '#server/features/compaction/compaction.ts';
import { contextSize } from '#server/journal/context-size.ts';
import { readContext, requestMessages } from '#server/journal/projections/context.ts';
import { event } from '#server/journal/records.ts';
import { ModelError, type ModelErrorDetails, type ModelResponse } from '#server/models/types.ts';
import type { TokenUsage } from '#schema/engine.ts';
import { echo } from '#support/echo-tool.ts';
import { openAgentSession, openTalk, scriptedModel, textOf, type ModelAnswer } from '#support/agent-session.ts';
import { manualClock } from '#support/manual-clock.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import type { AgentServices } from '#server/agent/contract/services.ts';

const folder = useTemporaryFolder();

const usage = (inputOther: number, output = 0): TokenUsage => ({
  inputOther,
  output,
  inputCacheRead: 0,
  inputCacheCreation: 0,
});
/** A verbatim answer. */
const answering =
  (text: string, more: Partial<ModelResponse> = {}): ModelAnswer =>
  () =>
    Promise.resolve({ parts: text ? [{ type: 'text', text }] : [], calls: [], finishReason: 'completed', ...more });
const failing =
  (facts: Partial<ModelErrorDetails>): ModelAnswer =>
  () =>
    Promise.reject(
      new ModelError('refused', { code: 'provider.api_error', name: 'APIStatusError', retry: false, ...facts }),
    );
const tooLong = failing({ code: 'context.overflow', statusCode: 400 });
const empty = failing({ name: 'APIEmptyResponseError', retry: true });
const overloaded = failing({ code: 'provider.overloaded', retry: true, retryAfterMs: 1 });
const hanging: ModelAnswer = ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
const full = (text: string) => answering(text, { usage: usage(90_000, 10) });

async function talkWith(answers: ModelAnswer[], services: Partial<AgentServices> = {}, config: StoredConfig = {}) {
  const script = scriptedModel(...answers);
  const clock = manualClock();
  const all = { ...script.services, ...services };
  const talk = await openTalk({ dir: folder.path, tools: [echo], clock, config, services: all });
  const { session, log } = talk;
  const context = () => readContext(log.state.context, 'main');
  return {
    ...talk,
    clock,
    requests: script.requests,
    context,
    start: (instruction?: string) => session.context.feature(compaction).start(instruction),
    /** Runs a compaction that a user requested. */
    async compact(instruction?: string) {
      session.context.feature(compaction).start(instruction);
      await talk.idle();
    },
    texts: async () => (await log.load(requestMessages(context()))).map(textOf),
    result: (n = -1) => talk.all('compaction.completed').at(n)?.payload['result'],
    outcomes: () => talk.all('turn.ended').map(({ payload }) => payload['reason']),
  };
}

describe('the request', () => {
  it('is the conversation as the model has it, with the same tools and one additional message', async () => {
    const talk = await talkWith([{ calls: [{ id: 'c1', name: 'Echo', args: {} }] }, { text: 'Hi.' }, { text: 'Sum.' }]);
    await talk.turn('Hello');
    await talk.compact('  keep it');
    const [, last, summary] = talk.requests;
    const words = summary?.messages.map(textOf) ?? [];
    expect(words.slice(0, -2)).toEqual(last?.messages.map(textOf));
    expect(words.at(-2)).toBe('Hi.');
    expect(words.at(-1)).toMatch(/^Write a summary of the conversation so far\.[^]+\n {2}keep it$/);
    expect(summary?.tools).toEqual(last?.tools);
    expect(summary?.system).toBe(last?.system);
    expect(talk.all('compaction.started')[0]?.payload).toMatchObject({ trigger: 'manual', instruction: '  keep it' });
  });

  test.each([
    ['what the budget leaves', 50_000, {}, 50_000],
    ['what the model can write', 50_000, { maxOutputTokens: 8000 }, 8000],
    ['131 072 of a larger window', 900_000, { maxContextTokens: 1_000_000 }, 131_072],
    ['what a summary needs, however full the window is', 1, {}, 4096],
    ['no cap where none is wanted', undefined, {}, undefined],
  ])('caps the answer at %s', async (_name, budget, model, cap) => {
    const { services } = scriptedModel();
    const plain = services.resolveModel?.('fake');
    if (!plain) throw new Error('no model');
    const talk = await talkWith([{ text: 'Hi.' }, { text: 'Sum.' }], {
      budget: () => budget,
      resolveModel: () => ({ ...plain, ...model }),
    });
    await talk.turn('Hello');
    await talk.compact();
    expect(talk.requests.at(-1)?.maxTokens).toBe(cap);
  });
});

describe('afterwards', () => {
  it('the context is the messages of the user and the summary, without the request for the summary', async () => {
    const talk = await talkWith([{ text: 'Hi.' }, { text: 'Ho.' }, answering('Sum.', { usage: usage(5, 7) })]);
    await talk.turn('One');
    await talk.turn('Two');
    const before = contextSize(talk.context());
    await talk.compact();
    const [one, two, summary, ...more] = await talk.texts();
    expect([one, two, more]).toEqual(['One', 'Two', []]);
    expect(summary).toMatch(/^The conversation up to here was replaced by the summary below, [^]+\n\nSum\.$/);
    expect(talk.context().entries.at(-1)?.message.origin).toEqual({ kind: 'compaction_summary' });
    expect(talk.context().entries.some(({ checkpoint }) => checkpoint)).toBe(false);
    expect(talk.context().barrier).toBe(3);
    const tokensAfter = contextSize(talk.context());
    const counts = { compactedCount: 5, tokensBefore: before, tokensAfter, keptUserMessageCount: 2 };
    expect(talk.result()).toEqual({ summary: 'Sum.', ...counts });
    expect(talk.context().contextTokens).toBe(tokensAfter);
    expect((await talk.lines()).at(-1)).toEqual([
      'usage.recorded',
      'context.spliced',
      'compaction.completed',
      'event.session.work_changed',
    ]);
    expect(talk.log.state.usage.get('main')?.total).toEqual(usage(5, 7));
  });

  it('the list of messages has the past, followed by the summary', async () => {
    const talk = await talkWith([{ text: 'Hi.' }, { text: 'Sum.' }]);
    await talk.turn('Hello');
    await talk.compact();
    const places = talk.log.state.messages.history.map((_, place) => place);
    const shown = await talk.log.readMessages(places);
    expect(shown.map(({ role, metadata }) => [role, metadata?.origin.kind])).toEqual([
      ['user', 'user'],
      ['user', 'injection'],
      ['assistant', undefined],
      ['user', 'compaction_summary'],
    ]);
  });

  it('reminders, the plan and the todo list are stated again, and the system prompt is rendered', async () => {
    let rendered = 0;
    const todos = [{ title: 'Paint', status: 'pending' }];
    const talk = await talkWith(
      [
        { calls: [{ id: 'c1', name: 'TodoList', args: { todos } }] },
        { text: 'Hi.' },
        { text: 'Sum.' },
        { text: 'On.' },
      ],
      { renderPrompt: () => Promise.resolve(`You help ${(rendered += 1)}.`) },
    );
    for (const feature of talk.session.context.features) {
      await feature.configure?.(talk.main.context, { plan_mode: true });
    }
    await talk.turn('Hello');
    await talk.compact();
    expect((await talk.lines()).at(-1)).toContain('agent.prompt');
    await talk.turn('Go on');
    const last = talk.requests.at(-1);
    const words = last?.messages.map(textOf) ?? [];
    expect(words.filter((text) => text.includes("Today's date is"))).toHaveLength(1);
    expect(words.filter((text) => text.includes('Plan mode is on'))).toHaveLength(1);
    expect(words.filter((text) => text.endsWith('\n\nSum.\n\n## TODO List\n  [pending] Paint'))).toHaveLength(1);
    expect(last?.system).toBe('You help 2.');
  });

  it('a prompt that cannot be rendered stays unchanged, and a warning is recorded', async () => {
    let broken = false;
    const talk = await talkWith([{ text: 'Hi.' }, { text: 'Sum.' }], {
      renderPrompt: () => (broken ? Promise.reject(new Error('no disk')) : Promise.resolve('You help.')),
    });
    await talk.turn('Hello');
    broken = true;
    await talk.compact();
    expect(talk.all('warning').map(({ payload }) => payload['code'])).toEqual(['system-prompt-refresh-failed']);
    expect(talk.all('compaction.completed')).toHaveLength(1);
    expect(talk.context().system).toBe('You help.');
  });

  it('messages that entered the context meanwhile follow the summary', async () => {
    let answer = () => {};
    const held: ModelAnswer = () =>
      new Promise((resolve) => {
        answer = () => resolve({ parts: [{ type: 'text', text: 'Sum.' }], calls: [], finishReason: 'completed' });
      });
    const talk = await talkWith([{ text: 'Hi.' }, held]);
    const control = async (request: { goal_objective?: string; goal_control?: 'cancel' }) => {
      for (const feature of talk.session.context.features) await feature.configure?.(talk.main.context, request);
    };
    await talk.turn('Hello');
    await control({ goal_objective: 'Ship it' });
    talk.start();
    await expect.poll(() => talk.requests.length).toBe(2);
    await control({ goal_control: 'cancel' });
    answer();
    await talk.idle();
    expect((await talk.texts()).at(-1)).toContain('cancelled the goal');
    expect(talk.context()).toMatchObject({ barrier: 2, entries: { length: 3 } });
  });

  it('a long summary and long words of the user are read again after a reload', async () => {
    const words = 'words '.repeat(8000);
    const summary = 'summary '.repeat(4000).trim();
    const talk = await talkWith([{ text: 'Hi.' }, { text: summary }]);
    await talk.turn(words);
    await talk.compact();
    const texts = await talk.texts();
    expect(texts[1]?.endsWith(summary)).toBe(true);
    await talk.close();
    const { session } = await openAgentSession({ dir: folder.path });
    const again = readContext(session.log.state.context, 'main');
    expect((await session.log.load(requestMessages(again))).map(textOf)).toEqual(texts);
    expect(again.barrier).toBe(2);
    await session.log.close();
  });

  it('the goal is stated again in the middle of its turn, and the turn counts once', async () => {
    const talk = await talkWith([
      answering('', {
        calls: [{ id: 'c1', name: 'Echo', arguments: '{}' }],
        usage: usage(90_000),
        finishReason: 'tool_calls',
      }),
      { text: 'Sum.' },
      { calls: [{ id: 'c2', name: 'UpdateGoal', args: { status: 'complete' } }] },
      { text: 'Done.' },
    ]);
    for (const feature of talk.session.context.features) {
      await feature.configure?.(talk.main.context, { goal_objective: 'Ship it' });
    }
    await talk.turn('Begin');
    const words = talk.requests[2]?.messages.map(textOf).join('\n') ?? '';
    expect(words.match(/<untrusted_objective>\nShip it/g)).toHaveLength(1);
    expect(talk.all('goal.updated').at(-2)?.payload).toMatchObject({ snapshot: { turnsUsed: 1 } });
  });

  it('the reminder of a side conversation is repeated', async () => {
    const talk = await talkWith([{ text: 'Hi.' }, full('Aside.'), { text: 'Sum.' }, { text: 'On.' }]);
    await talk.turn('Hello');
    await openSideConversation(talk.session.context, {
      assertReady: async () => undefined,
      defaultModel: () => 'fake',
    });
    const ask = async (id: string) => {
      const content = [{ type: 'text' as const, text: 'What?' }];
      const input = { content, eventContent: content, parts: content, text: 'What?', attachments: [] };
      await talk.session.agents.use('agent-1', (side) =>
        side.submit({ id, origin: { kind: 'user' }, input, createdAt: 0 }, []),
      );
      await talk.idle();
    };
    await ask('aside-1');
    await ask('aside-2');
    const words = talk.requests.at(-1)?.messages.map(textOf) ?? [];
    expect(words.some((text) => text.endsWith('Sum.'))).toBe(true);
    expect(words.filter((text) => text.includes('This is a side conversation'))).toHaveLength(1);
    expect(talk.context().barrier).toBe(0);
  });

  it('running tasks are listed once', async () => {
    const talk = await talkWith([{ text: 'Hi.' }, { text: 'Sum.' }, { text: 'On.' }, { text: 'On.' }]);
    await talk.turn('Hello');
    const info = {
      taskId: 'bash-00000001',
      description: 'Build it',
      status: 'running' as const,
      detached: true,
      startedAt: 1,
      endedAt: null,
      kind: 'process' as const,
      command: 'make',
      pid: 7,
      exitCode: null,
    };
    talk.log.append([event('main', 'task.started', { info })]);
    await talk.compact();
    await talk.turn('Go on');
    await talk.turn('Go on');
    const words = talk.requests.at(-1)?.messages.map(textOf).join('\n') ?? '';
    expect(words.match(/bash-00000001 \(process\): Build it/g)).toHaveLength(1);
  });
});

describe('what the model answers', () => {
  it('is used as text only: its tool calls are not run', async () => {
    const calls = [{ id: 'c1', name: 'Echo', arguments: '{}' }];
    const talk = await talkWith([{ text: 'Hi.' }, answering('Sum.', { calls, finishReason: 'tool_calls' })]);
    await talk.turn('Hello');
    await talk.compact();
    expect(talk.result()).toMatchObject({ summary: 'Sum.' });
    expect(talk.all('tool.call.started')).toEqual([]);
  });

  it('is requested again with one message less while it is empty or cut off, and the usage of each is recorded', async () => {
    const cutOff = answering('Half of', { finishReason: 'truncated', usage: usage(1, 1) });
    const calls = answering('', { calls: [{ id: 'c1', name: 'Echo', arguments: '{}' }], finishReason: 'tool_calls' });
    const talk = await talkWith([
      { text: 'Hi.' },
      { text: 'Ho.' },
      { text: 'Hu.' },
      cutOff,
      empty,
      calls,
      answering('Sum.'),
    ]);
    for (const prompt of ['One', 'Two', 'Three']) await talk.turn(prompt);
    await talk.compact();
    expect(talk.requests.slice(3).map(({ messages }) => textOf(messages[0] ?? fail()))).toEqual([
      'One',
      expect.stringContaining('date'),
      'Hi.',
      'Two',
    ]);
    expect(talk.result()).toMatchObject({ summary: 'Sum.', droppedCount: 3, keptUserMessageCount: 3 });
    expect(talk.log.state.usage.get('main')?.total).toEqual(usage(1, 1));
  });

  it('is given up after five dropped messages', async () => {
    const talk = await talkWith([
      { text: 'Hi.' },
      { text: 'Ho.' },
      { text: 'Hu.' },
      ...Array.from({ length: 7 }, () => empty),
    ]);
    for (const prompt of ['One', 'Two', 'Three']) await talk.turn(prompt);
    await talk.compact();
    expect(talk.requests).toHaveLength(3 + 6);
    expect(talk.all('error')[0]?.payload).toMatchObject({ code: 'compaction.failed' });
  });

  it('is requested with 70, 50 and 35 percent of a conversation that is too long, and then given up', async () => {
    const turns = Array.from({ length: 20 }, (_, n) => `${n} ${'x'.repeat(400)}`);
    const talk = await talkWith([
      ...turns.map((text) => ({ text })),
      tooLong,
      tooLong,
      tooLong,
      tooLong,
      { text: 'Sum.' },
    ]);
    for (const prompt of turns) await talk.turn(prompt);
    await talk.compact();
    const sizes = talk.requests.slice(20).map(({ messages }) => JSON.stringify(messages.slice(0, -1)).length);
    const parts = sizes.map((size) => size / (sizes[0] ?? 0));
    expect(parts).toHaveLength(4);
    for (const [n, part] of [1, 0.7, 0.5, 0.35].entries()) {
      expect(parts[n]).toBeLessThanOrEqual(part + 0.02);
      expect(parts[n]).toBeGreaterThan(part - 0.08);
    }
    expect(talk.all('compaction.cancelled')).toHaveLength(1);
    expect(talk.all('error')[0]?.payload).toMatchObject({ code: 'compaction.failed' });
    expect(talk.context().entries).toHaveLength(41);
    await talk.compact();
    expect(talk.result()).toMatchObject({ summary: 'Sum.' });
  });

  it('is requested again after transient failures, five times in all', async () => {
    const talk = await talkWith([{ text: 'Hi.' }, ...Array.from({ length: 9 }, () => overloaded), { text: 'Sum.' }]);
    await talk.turn('Hello');
    talk.start();
    for (let waits = 1; waits <= 4; waits += 1) {
      await expect.poll(() => talk.clock.waits().includes(1)).toBe(true);
      talk.clock.advance(1);
    }
    await talk.idle();
    expect(talk.requests).toHaveLength(1 + 5);
    expect(talk.all('error')).toHaveLength(1);
    talk.start();
    for (let waits = 1; waits <= 4; waits += 1) {
      await expect.poll(() => talk.clock.waits().includes(1)).toBe(true);
      talk.clock.advance(1);
    }
    await talk.idle();
    expect(talk.result()).toMatchObject({ summary: 'Sum.' });
  });

  test.each([
    ['a safety filter', answering('No.', { finishReason: 'filtered' }), 'compaction.failed'],
    ['a refused request', failing({ statusCode: 400 }), 'compaction.failed'],
    ['refused credentials', failing({ code: 'provider.auth_error', statusCode: 401 }), 'provider.auth_error'],
    ['an error of another kind', () => Promise.reject(new Error('broken')), 'compaction.failed'],
  ] satisfies [string, ModelAnswer, string][])('%s ends it, and nothing is lost', async (_name, answer, code) => {
    const talk = await talkWith([{ text: 'Hi.' }, answer, { text: 'On.' }]);
    await talk.turn('Hello');
    const before = talk.context().entries;
    await talk.compact();
    expect(talk.all('error').map(({ payload }) => payload['code'])).toEqual([code]);
    expect(talk.context().entries).toEqual(before);
    expect((await talk.lines()).at(-1)).toEqual(['compaction.cancelled', 'error', 'event.session.work_changed']);
    await talk.turn('Go on');
    expect(talk.outcomes()).toEqual(['completed', 'completed']);
  });

  it('is cut where it would fill the window itself', async () => {
    const talk = await talkWith([{ text: 'Hi.' }, { text: 'long '.repeat(200_000) }]);
    await talk.turn('Hello');
    await talk.compact();
    const size = contextSize(talk.context());
    expect(size).toBeGreaterThan(24_000);
    expect(size).toBeLessThan(30_000);
  });

  it('is aborted when it exceeds the limit', async () => {
    let pieces = 0;
    const flood: AgentServices['stream'] = async ({ signal }, onPart) => {
      for (; !signal.aborted && pieces < 10_000; pieces += 1) onPart({ type: 'text', text: 'x'.repeat(10_000) });
      throw signal.reason;
    };
    const talk = await talkWith([{ text: 'Hi.' }]);
    await talk.turn('Hello');
    Object.assign(talk.session.context.services, { stream: flood });
    await talk.compact();
    expect(talk.all('error')[0]?.payload).toMatchObject({ code: 'compaction.failed' });
    expect(pieces).toBeLessThan(2000);
  });
});

describe('automatically', () => {
  it('it runs before the step that would be too long, a single time, and the turn continues', async () => {
    const calls = (id: string, input: number) =>
      answering('', {
        calls: [{ id, name: 'Echo', arguments: '{}' }],
        usage: usage(input),
        finishReason: 'tool_calls',
      });
    const talk = await talkWith([
      calls('c1', 74_000),
      calls('c2', 80_000),
      { text: 'Sum.' },
      calls('c3', 100),
      { text: 'Done.' },
    ]);
    await talk.turn('Work');
    expect(talk.outcomes()).toEqual(['completed']);
    expect(talk.all('compaction.started')).toHaveLength(1);
    const types = talk.durable().map(({ type }) => type);
    const at = types.indexOf('compaction.started');
    expect(types.slice(at - 1, at + 4)).toEqual([
      'turn.step.completed',
      'compaction.started',
      'compaction.blocked',
      'context.spliced',
      'compaction.completed',
    ]);
  });

  it('it does not run again in a turn while the context is not larger than right after it', async () => {
    const talk = await talkWith(
      [
        full('Hi.'),
        { text: 'Sum.' },
        answering('', { calls: [{ id: 'c', name: 'Echo', arguments: '{}' }], finishReason: 'tool_calls' }),
        { text: 'Sum two.' },
        { text: 'On.' },
      ],
      {},
      { loopControl: { compactionTriggerRatio: 0.5, reservedContextSize: 99_999 } },
    );
    await talk.turn('Hello');
    expect(talk.all('compaction.started')).toHaveLength(0);
    await talk.turn('Go on');
    // The second compaction precedes the step after the call, which enlarged the context.
    expect(talk.all('compaction.started')).toHaveLength(2);
    expect(talk.requests).toHaveLength(5);
  });

  it('it does not run where there is no message to summarize', async () => {
    const talk = await talkWith(
      [{ text: 'Hi.' }],
      {},
      { loopControl: { compactionTriggerRatio: 0.5, reservedContextSize: 99_999 } },
    );
    await talk.turn('Hello');
    expect(talk.all('compaction.started')).toEqual([]);
  });

  it('an abort ends it with its turn, and the next prompt tries again', async () => {
    const talk = await talkWith([full('Hi.'), hanging, { text: 'Sum.' }, { text: 'On.' }]);
    await talk.turn('Hello');
    talk.submit('Go on');
    await expect.poll(() => talk.requests.length).toBe(2);
    talk.main.cancelTurn();
    await talk.idle();
    expect(talk.outcomes()).toEqual(['completed', 'cancelled']);
    expect((await talk.lines()).slice(-2).map(([type]) => type)).toEqual(['compaction.cancelled', 'turn.ended']);
    await talk.turn('Go on');
    expect(talk.outcomes().at(-1)).toBe('completed');
  });

  it('refused credentials fail the turn with their own error', async () => {
    const talk = await talkWith([full('Hi.'), failing({ code: 'provider.auth_error', statusCode: 401 })]);
    await talk.turn('Hello');
    await talk.turn('Go on');
    expect(talk.all('turn.ended').at(-1)?.payload).toMatchObject({ error: { code: 'provider.auth_error' } });
    expect(talk.all('turn.step.interrupted')).toEqual([]);
    expect(talk.all('error')).toHaveLength(1);
  });
});

describe('a request that does not fit', () => {
  it('is sent again after a compaction, and its attempts do not count among the others', async () => {
    const limits = () => ({ maxSteps: 0, maxAttempts: 2 });
    const talk = await talkWith([tooLong, { text: 'Sum.' }, overloaded, { text: 'On.' }], { limits });
    talk.submit('Hello');
    await expect.poll(() => talk.clock.waits().includes(1)).toBe(true);
    talk.clock.advance(1);
    await talk.idle();
    expect(talk.outcomes()).toEqual(['completed']);
    const told = talk
      .all('turn.step.retrying')
      .map(({ payload: { failedAttempt, maxAttempts, step } }) => [failedAttempt, maxAttempts, step]);
    expect(told).toEqual([
      [1, 3, 1],
      [1, 2, 2],
    ]);
  });

  it('is not tried again when the turn may take no more steps', async () => {
    const talk = await talkWith([tooLong], { limits: () => ({ maxSteps: 1, maxAttempts: 10 }) });
    await talk.turn('Hello');
    expect(talk.all('turn.ended')[0]?.payload).toMatchObject({ error: { code: 'loop.max_steps_exceeded' } });
    expect(talk.all('compaction.started')).toEqual([]);
  });

  it('counts its failures from zero after an answer', async () => {
    const calls = (id: string): ModelAnswer => ({ calls: [{ id, name: 'Echo', args: {} }] });
    const talk = await talkWith([
      tooLong,
      { text: 'S1' },
      tooLong,
      { text: 'S2' },
      calls('c1'),
      // An automatic compaction, because the observed window is small.
      { text: 'S' },
      tooLong,
      { text: 'S3' },
      tooLong,
      { text: 'S4' },
      { text: 'Done.' },
    ]);
    await talk.turn('Hello');
    expect(talk.outcomes()).toEqual(['completed']);
    expect(talk.all('turn.step.retrying').map(({ payload }) => payload['failedAttempt'])).toEqual([1, 2, 1, 2]);
  });

  it('is not recognised by a refused body alone', async () => {
    const talk = await talkWith([failing({ statusCode: 413 })]);
    await talk.turn('Hello');
    expect(talk.all('turn.ended').at(-1)?.payload).toMatchObject({ error: { code: 'provider.api_error' } });
    await talk.close();
  });

  it('is also recognised by its size when its body is refused', async () => {
    const large = failing({ statusCode: 413 });
    const talk = await talkWith([
      answering('Hi.', { usage: usage(60_000) }),
      large,
      { text: 'S1' },
      large,
      { text: 'On.' },
    ]);
    await talk.turn('Hello');
    await talk.turn('Go on');
    // After the compaction the context is small, so the refused body is not treated as too long.
    expect(talk.all('turn.ended').at(-1)?.payload).toMatchObject({ error: { code: 'provider.api_error' } });
    expect(talk.all('turn.step.retrying')).toHaveLength(1);
  });

  it('lowers the window that the session uses', async () => {
    const talk = await talkWith([
      answering('Hi.', { usage: usage(60_000) }),
      tooLong,
      { text: 'S1' },
      answering('On.', { usage: usage(45_000) }),
      { text: 'S2' },
      { text: 'On.' },
    ]);
    for (const prompt of ['One', 'Two', 'Three']) await talk.turn(prompt);
    // 45 000 is full for a window of 51 000, and not for one of 100 000.
    expect(talk.all('compaction.started')).toHaveLength(2);
  });
});

describe('while one runs that a user requested', () => {
  it('there is no second one, and none while a turn runs or waits, or without a message', async () => {
    const talk = await talkWith([hanging, { text: 'Hi.' }, hanging]);
    const refused = (message: string) => expect.objectContaining({ name: 'compaction.unable', message });
    const why = () => {
      try {
        talk.start();
        return undefined;
      } catch (error) {
        return error;
      }
    };
    expect(why()).toEqual(refused('No messages to compact in current history.'));
    talk.submit('Hello');
    await expect.poll(() => talk.requests.length).toBe(1);
    expect(why()).toEqual(refused('A turn is active or queued. Wait for it to finish, then retry.'));
    talk.main.cancelTurn();
    await talk.idle();
    await talk.turn('Hello');
    talk.start();
    await talk.nth('compaction.started');
    expect(why()).toEqual(refused('A compaction is running already.'));
    talk.main.cancelTurn();
    await talk.idle();
  });

  it('an abort ends it, and the queued prompts start', async () => {
    const talk = await talkWith([{ text: 'Hi.' }, hanging, { text: 'One.' }, { text: 'Two.' }]);
    await talk.turn('Hello');
    talk.start();
    await expect.poll(() => talk.requests.length).toBe(2);
    talk.submit('One');
    talk.submit('Two');
    expect(talk.all('prompt.queued')).toHaveLength(2);
    talk.main.cancelTurn();
    await talk.idle();
    expect(talk.all('error')).toEqual([]);
    expect(talk.outcomes()).toEqual(['completed', 'completed', 'completed']);
  });

  it('an abort when its summary has arrived leaves the conversation unmodified', async () => {
    let begin = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    let render: ((prompt: string) => void) | undefined;
    let isCompacting = false;
    const renderPrompt = () => {
      if (!isCompacting) return Promise.resolve('You help.');
      begin();
      return new Promise<string>((resolve) => (render = resolve));
    };
    const talk = await talkWith([{ text: 'Hi.' }, { text: 'Sum.' }], { renderPrompt });
    await talk.turn('Hello');
    const before = talk.context().entries;
    isCompacting = true;
    talk.start();
    await begun;
    talk.main.cancelTurn();
    render?.('You help.');
    await talk.idle();
    expect(talk.all('compaction.completed')).toEqual([]);
    expect((await talk.lines()).at(-1)).toEqual(['compaction.cancelled', 'event.session.work_changed']);
    expect(talk.context().entries).toEqual(before);
    expect(talk.all('error')).toEqual([]);
  });

  it('the end of the session ends it', async () => {
    const talk = await talkWith([{ text: 'Hi.' }, hanging]);
    await talk.turn('Hello');
    talk.start();
    await expect.poll(() => talk.requests.length).toBe(2);
    await talk.session.end('exit');
    expect((await talk.lines()).at(-1)).toEqual(['compaction.cancelled', 'event.session.work_changed']);
    expect(talk.reports).toEqual([]);
  });
});

const fail = (): never => {
  throw new Error('nothing there');
};
