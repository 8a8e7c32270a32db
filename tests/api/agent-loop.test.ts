/** The agent loop: steps, requests, retries, recovery, failures. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manualClock } from '#support/manual-clock.ts';
import type { Script } from '#support/model-server.ts';
import { PNG } from '#support/model-requests.ts';
import { call, startTalk, wireMessages, wireText, type Talk, type Turn } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
const clock = manualClock();
beforeAll(async () => {
  world = await startWorld({
    clock,
    models: {
      second: { model: 'fake-2', capabilities: ['tool_use'] },
      claude: { model: 'claude-opus-4-7', protocol: 'anthropic', support_efforts: ['low'], capabilities: ['thinking'] },
    },
  });
});
afterAll(() => world.close());

const read = (lines = 1): Script => ({ calls: [call('Read', { path: 'a.txt', n_lines: lines })] });
const types = (turn: Turn) => turn.frames.map(({ type }) => type);
const payloads = (turn: Turn, type: string) =>
  turn.frames.filter((frame) => frame.type === type).map(({ payload }) => payload);
const requestsSince = (n: number) => world.model.requests.slice(n).map(({ body }) => body);

/** A turn whose retry delays are skipped. */
async function impatient(talk: Talk, scripts: Script[], retries: number): Promise<{ delays: number[]; id: string }> {
  const before = talk.all('turn.step.retrying').length;
  const { prompt_id: id } = await talk.prompt('try', scripts);
  const delays: number[] = [];
  for (let n = 1; n <= retries; n++) {
    const delay = Number((await talk.nth('turn.step.retrying', before + n)).payload.delayMs);
    delays.push(delay);
    clock.advance(delay);
  }
  await talk.settled(id);
  return { delays, id };
}

describe('a turn with a tool call', () => {
  test('has its events in order; after a restart the history and the next request are the same', async () => {
    const talk = await startTalk(world);
    const turn = await talk.turn('Show it', [
      { thinking: 'Hm.', text: 'Let me see.', ...read() },
      { text: 'It says hello.' },
    ]);
    expect(types(turn)).toEqual([
      'prompt.submitted',
      'turn.started',
      'event.session.work_changed',
      'context.spliced',
      'context.spliced',
      'prompt.started',
      'turn.step.started',
      'tool.call.started',
      'tool.result',
      'turn.step.completed',
      'turn.step.started',
      'turn.step.completed',
      'turn.ended',
      'event.session.work_changed',
      'prompt.completed',
    ]);
    expect(payloads(turn, 'turn.step.completed')).toMatchObject([
      { step: 1, finishReason: 'tool_use', providerFinishReason: 'tool_calls', usage: { inputOther: 12, output: 5 } },
      { step: 2, finishReason: 'end_turn', providerFinishReason: 'completed' },
    ]);
    const [step] = payloads(turn, 'turn.step.completed');
    const { llmFirstTokenLatencyMs: first, llmRequestBuildMs: build, llmServerFirstTokenMs: server } = step ?? {};
    expect(Number(first)).toBeCloseTo(Number(build) + Number(server), 3);
    const messages = await talk.messages();
    const history = wireMessages(world, -1);
    await world.restart();
    expect(await talk.messages()).toEqual(messages);
    const requests = world.model.requests.length;
    world.model.enqueue({ text: 'More.' });
    await world.prompt(talk.session.id, 'More');
    await world.model.waitForRequest(requests + 1);
    expect(wireMessages(world, -1).slice(0, history.length)).toEqual(history);
  });

  test('each request starts with the bytes of the previous one', async () => {
    const talk = await startTalk(world);
    const from = world.model.requests.length;
    await talk.turn('one', [read(1), read(2), { text: 'a' }]);
    await talk.turn('two', [read(3), { text: 'b' }]);
    const bodies = requestsSince(from);
    expect(bodies).toHaveLength(5);
    const wire = bodies.map(({ messages }) => JSON.stringify(messages).slice(0, -1));
    for (const [i, later] of wire.slice(1).entries()) expect(later.startsWith(wire[i] ?? '-')).toBe(true);
    for (const body of bodies) {
      const { messages: _messages, max_tokens: _cap, max_completion_tokens: _cap2, ...rest } = body;
      const { messages: _first, max_tokens: _c, max_completion_tokens: _c2, ...expected } = bodies[0] ?? {};
      expect(JSON.stringify(rest)).toBe(JSON.stringify(expected));
    }
  });
});

describe('the end of a step', () => {
  test.each<[string, Script, Record<string, unknown>, string]>([
    ['cut at the token limit', { text: 'Long', finish: 'length' }, { finishReason: 'max_tokens' }, 'completed'],
    ['calls claimed but none made', { text: 'x', finish: 'tool_calls' }, { finishReason: 'other' }, 'completed'],
    [
      'an unknown word of the provider',
      { text: 'x', finish: 'meteor' },
      { finishReason: 'other', rawFinishReason: 'meteor' },
      'completed',
    ],
    ['filtered, with text', { text: 'x', finish: 'content_filter' }, { finishReason: 'filtered' }, 'failed'],
    ['filtered, without text', { finish: 'content_filter' }, { finishReason: 'filtered' }, 'failed'],
  ])('%s', async (_what, script, step, reason) => {
    const talk = await startTalk(world);
    const turn = await talk.turn('go', [script]);
    expect(payloads(turn, 'turn.step.completed')).toMatchObject([step]);
    expect(turn.ended.reason).toBe(reason);
    expect(types(turn)).not.toContain('turn.step.interrupted');
    if (reason === 'failed') {
      expect(turn.ended).toMatchObject({
        interruptReason: 'filtered',
        error: { code: 'provider.filtered', retryable: false },
      });
      expect(types(turn).slice(-5)).toEqual([
        'turn.step.completed',
        'turn.ended',
        'error',
        'event.session.work_changed',
        'prompt.completed',
      ]);
    }
    expect((await talk.turn('next', [{ text: 'fine' }])).ended.reason).toBe('completed');
  });

  test('records no usage if none was sent', async () => {
    const talk = await startTalk(world);
    const turn = await talk.turn('go', [{ text: 'x', usage: false }]);
    expect(payloads(turn, 'turn.step.completed')[0]).not.toHaveProperty('usage');
    expect((await world.snapshot(talk.session.id)).session.usage).toMatchObject({ input_tokens: 0, output_tokens: 0 });
    expect((await talk.status()).context_tokens).toBeGreaterThan(500);
  });
});

describe('failures that are retried', () => {
  test('status 500 nine times: ten attempts, growing delays, then the answer', async () => {
    const talk = await startTalk(world);
    const failures = Array.from({ length: 9 }, () => ({ status: 500, error: 'oops' }));
    const { delays, id } = await impatient(talk, [...failures, { text: 'At last.' }], 9);
    expect((await talk.settled(id)).payload.reason).toBe('completed');
    for (const [i, delay] of delays.entries()) {
      const base = Math.min(500 * 2 ** i, 32_000);
      expect(delay).toBeGreaterThanOrEqual(base);
      expect(delay).toBeLessThanOrEqual(base * 1.25);
    }
    expect(talk.all('turn.step.started').map(({ payload }) => payload.step)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(talk.all('turn.step.retrying')[8]?.payload).toMatchObject({
      step: 9,
      failedAttempt: 9,
      nextAttempt: 10,
      maxAttempts: 10,
      errorName: 'APIStatusError',
      errorMessage: '500 oops',
      statusCode: 500,
    });
    expect(talk.all('context.spliced')).toHaveLength(2);
  });

  test('status 500 ten times: the turn fails', async () => {
    const talk = await startTalk(world);
    const { id } = await impatient(
      talk,
      Array.from({ length: 10 }, () => ({ status: 503, error: 'down' })),
      9,
    );
    expect((await talk.settled(id)).payload.reason).toBe('failed');
    expect(talk.all('turn.step.interrupted')[0]?.payload).toMatchObject({
      step: 10,
      reason: 'error',
      message: '[provider.api_error] 503 down',
    });
    expect(talk.all('turn.ended')[0]?.payload).toMatchObject({ reason: 'failed', interruptReason: 'error' });
  });

  test("status 429: the delay is the provider's", async () => {
    const talk = await startTalk(world);
    const { delays } = await impatient(talk, [{ status: 429, headers: { 'retry-after': '3' } }, { text: 'ok' }], 1);
    expect(delays).toEqual([3000]);
  });

  test.each<[string, Script, Record<string, unknown>]>([
    ['an empty answer', {}, { errorName: 'APIEmptyResponseError' }],
    ['blank text', { text: ' \n' }, { errorName: 'APIEmptyResponseError' }],
    ['reasoning alone', { thinking: 'Hm.' }, { errorName: 'APIEmptyResponseError' }],
    ['a broken connection', { text: 'Half', breakOff: true }, { errorName: 'APIConnectionError' }],
    ['a stream without an end', { text: 'Half', noEnd: true }, { errorName: 'APIConnectionError' }],
    ['a line that is no JSON', { text: 'Half', malformed: true }, { errorName: 'APIConnectionError' }],
    [
      'an error in the stream',
      { text: 'Half', streamError: { message: 'oops', type: 'server_error' } },
      { errorName: 'APIStatusError' },
    ],
    ['an overload', { status: 529, error: 'busy' }, { statusCode: 529 }],
    ['a request time-out', { status: 408 }, { statusCode: 408 }],
  ])('%s', async (_what, script, facts) => {
    const talk = await startTalk(world);
    const { id } = await impatient(talk, [script, { text: 'Whole.' }], 1);
    expect((await talk.settled(id)).payload.reason).toBe('completed');
    const { payload } = talk.all('turn.step.retrying')[0] ?? {};
    expect(payload).toMatchObject(facts);
    if (!('statusCode' in facts)) expect(payload).not.toHaveProperty('statusCode');
    // The failed attempt leaves no text.
    expect((await talk.messages()).filter(({ role }) => role === 'assistant').map(({ content }) => content)).toEqual([
      [],
      [{ type: 'text', text: 'Whole.' }],
    ]);
    await talk.turn('next', [{ text: 'ok' }]);
    expect(JSON.stringify(wireMessages(world, -1))).not.toContain('Half');
  });

  test('offsets of the streamed text continue over a retry', async () => {
    const talk = await startTalk(world);
    await impatient(talk, [{ text: 'Half', breakOff: true }, { text: 'Whole' }], 1);
    const deltas = talk.events.frames.filter(({ type }) => type === 'assistant.delta');
    expect(deltas.map(({ offset, payload }) => [offset, payload.delta])).toEqual([
      [0, 'Half'],
      [4, 'Whole'],
    ]);
  });

  test('the attempt counter restarts after a completed step', async () => {
    const patient = await startWorld({ clock, config: { loop_control: { max_attempts_per_step: 2 } } });
    try {
      const talk = await startTalk(patient);
      for (const script of [{ status: 500 }, read(), { status: 500 }, { text: 'ok' }]) patient.model.enqueue(script);
      const { id } = await impatient(talk, [], 2);
      expect((await talk.settled(id)).payload.reason).toBe('completed');
      expect(talk.all('turn.step.retrying').map(({ payload }) => payload.failedAttempt)).toEqual([1, 1]);
    } finally {
      await patient.close();
    }
  });

  test('the last failed attempt keeps its streamed text', async () => {
    const once = await startWorld({ config: { loop_control: { max_attempts_per_step: 1 } } });
    try {
      const talk = await startTalk(once);
      const { ended } = await talk.turn('go', [{ text: 'Half', breakOff: true }]);
      expect(ended).toMatchObject({
        reason: 'failed',
        error: { code: 'provider.connection_error', name: 'APIConnectionError', retryable: true },
      });
      expect((await talk.messages()).at(-1)).toMatchObject({ role: 'assistant', content: [{ text: 'Half' }] });
    } finally {
      await once.close();
    }
  });
});

describe('failures that end the turn', () => {
  test.each<[string, Script, Record<string, unknown>]>([
    [
      '400',
      { status: 400, error: 'bad thing' },
      { code: 'provider.api_error', message: '400 bad thing', retryable: false },
    ],
    ['401', { status: 401, error: 'who?' }, { code: 'provider.auth_error' }],
    ['404', { status: 404, error: 'no model' }, { code: 'provider.api_error' }],
    [
      'a spent quota, native',
      { status: 429, error: 'quota exceeded for this account' },
      { code: 'provider.api_error' },
    ],
  ])('%s', async (_what, script, error) => {
    const talk = await startTalk(world);
    const from = world.model.requests.length;
    const turn = await talk.turn('go', [{ headers: { 'x-trace-id': 't-1', 'x-request-id': 'r-1' }, ...script }]);
    expect(world.model.requests.length - from).toBe(1);
    expect(turn.ended).toMatchObject({
      reason: 'failed',
      interruptReason: 'error',
      error: { ...error, details: { statusCode: script.status, requestId: 'r-1', traceId: 't-1' } },
    });
    expect(payloads(turn, 'error')[0]).toMatchObject(turn.ended.error as Record<string, unknown>);
    expect(types(turn).slice(-5)).toEqual([
      'turn.step.interrupted',
      'turn.ended',
      'error',
      'event.session.work_changed',
      'prompt.completed',
    ]);
    expect(await world.ok('GET', talk.path)).toMatchObject({ busy: false, last_turn_reason: 'failed' });
    expect((await talk.turn('next', [{ text: 'fine' }])).ended.reason).toBe('completed');
  });

  test('a model that is removed from the configuration between two turns', async () => {
    const talk = await startTalk(world);
    await world.ok('POST', '/config', {
      models: { third: { provider: 'fake', model: 'fake-3', max_context_size: 1000 } },
    });
    await talk.turn('one', [{ text: 'ok' }], { model: 'third' });
    const held = world.model.enqueue({ text: 'slow', hold: true });
    await talk.prompt('two', [], { prompt_id: 'two' });
    await held.sent;
    await talk.prompt('three', [], { prompt_id: 'three' });
    await world.ok('POST', '/config', { models: { third: null } });
    held.release();
    expect((await talk.settled('two')).payload.reason).toBe('completed');
    expect((await talk.settled('three')).payload.reason).toBe('failed');
    expect(talk.all('turn.ended').at(-1)?.payload).toMatchObject({
      interruptReason: 'error',
      error: { message: expect.stringContaining('third') },
    });
    expect(talk.all('turn.step.started')).toHaveLength(2);
  });
});

describe('the step limit', () => {
  let limited: World;
  beforeAll(async () => {
    limited = await startWorld({ config: { loop_control: { max_steps_per_turn: 3 } } });
  });
  afterAll(() => limited.close());

  test('fails the turn when another step is needed', async () => {
    const talk = await startTalk(limited);
    const turn = await talk.turn('go', [read(1), read(2), read(3)]);
    expect(types(turn).slice(-6)).toEqual([
      'turn.step.completed',
      'turn.step.interrupted',
      'turn.ended',
      'error',
      'event.session.work_changed',
      'prompt.completed',
    ]);
    const [interrupted] = payloads(turn, 'turn.step.interrupted');
    expect(interrupted).toMatchObject({
      step: 3,
      reason: 'max_steps',
      message: expect.stringContaining('loop.max_steps_exceeded'),
    });
    expect(interrupted).not.toHaveProperty('stepId');
    expect(turn.ended).toMatchObject({ interruptReason: 'max_steps', error: { code: 'loop.max_steps_exceeded' } });
  });

  test('lets a turn of exactly that many steps complete', async () => {
    const talk = await startTalk(limited);
    expect((await talk.turn('go', [read(1), read(2), { text: 'ok' }])).ended.reason).toBe('completed');
  });

  test('counts retries', async () => {
    const talk = await startTalk(limited);
    for (let i = 0; i < 3; i++) limited.model.enqueue({ status: 500 });
    const { id } = await impatient(talk, [], 3);
    expect((await talk.settled(id)).payload.reason).toBe('failed');
    expect(talk.all('turn.ended')[0]?.payload).toMatchObject({ error: { code: 'loop.max_steps_exceeded' } });
    expect(talk.all('turn.step.started')).toHaveLength(3);
  });
});

describe('a request that is refused because of its content is resent', () => {
  const images = (...names: string[]) =>
    names.map((name) => ({ type: 'image', source: { kind: 'url', url: `${PNG}#${name}` } }));
  const shown = (n: number) => [...JSON.stringify(wireMessages(world, n)).matchAll(/#(\w+)/g)].map((match) => match[1]);
  const tooLarge: Script = { status: 413, error: 'Request entity too large' };

  test('too large twice: without old media, then without any; later media are sent, and the next turn sends all again', async () => {
    const talk = await startTalk(world);
    const turn = await talk.turn('', [tooLarge, tooLarge, read(), { text: 'ok' }], {
      content: images('one', 'two', 'three'),
    });
    expect([-4, -3, -2, -1].map(shown)).toEqual([['one', 'two', 'three'], ['two', 'three'], [], []]);
    expect(turn.ended.reason).toBe('completed');
    // Resending does not start a new step.
    expect(payloads(turn, 'turn.step.started')).toHaveLength(2);
    await talk.turn('', [{ text: 'ok' }], { content: images('four') });
    expect(shown(-1)).toEqual(['one', 'two', 'three', 'four']);
  });

  test('too large three times: the turn fails', async () => {
    const talk = await startTalk(world);
    const { ended } = await talk.turn('', [tooLarge, tooLarge, tooLarge], { content: images('one') });
    expect(ended).toMatchObject({ reason: 'failed', error: { message: '413 Request entity too large' } });
  });

  test('unreadable image: without any media', async () => {
    const talk = await startTalk(world);
    const refusal: Script = { status: 400, error: 'Could not process image' };
    const { ended } = await talk.turn('', [refusal, { text: 'ok' }], { content: images('one', 'two') });
    expect([shown(-2), shown(-1), ended.reason]).toEqual([['one', 'two'], [], 'completed']);
  });

  test('refused structure: in the strict form, a single time', async () => {
    const refusal: Script = { status: 400, error: 'messages: roles must alternate' };
    const again = await startTalk(world);
    const { ended } = await again.turn('go', [refusal, { text: 'ok' }]);
    expect(ended.reason).toBe('completed');
    const twice = await again.turn('go', [refusal, refusal]);
    expect(twice.ended).toMatchObject({ reason: 'failed', error: { message: expect.stringContaining('alternate') } });
  });
});

describe('changes during a turn', () => {
  test('model and effort take effect with the next turn, the tool list with the next step', async () => {
    const talk = await startTalk(world);
    const held = world.model.enqueue({ ...read(), hold: true });
    await talk.prompt('one', [{ text: 'same model' }], { prompt_id: 'p0' });
    await held.sent;
    await talk.prompt('two', [{ text: 'other model' }], { prompt_id: 'p1', model: 'second', disabled_tools: ['Bash'] });
    expect(await talk.status()).toMatchObject({ model: 'second' });
    held.release();
    await talk.settled('p1');
    const last = world.model.requests
      .slice(-3)
      .map(({ body }) => [body.model, JSON.stringify(body.tools).includes('"Bash"')]);
    expect(last).toEqual([
      ['fake-1', true],
      ['fake-1', false],
      ['fake-2', false],
    ]);
  });

  test('a call of a tool that was disabled after the request is refused', async () => {
    const talk = await startTalk(world);
    const held = world.model.enqueue({ ...read(), hold: true });
    await talk.prompt('one', [{ text: 'ok' }], { prompt_id: 'p0' });
    await held.sent;
    await talk.prompt('two', [{ text: 'ok' }], { prompt_id: 'p1', disabled_tools: ['Read'] });
    held.release();
    await talk.settled('p1');
    expect(talk.all('tool.result')[0]?.payload).toMatchObject({
      isError: true,
      output: expect.stringContaining('disabled'),
    });
  });
});

test('an effort that an Anthropic model does not list is sent, with a warning', async () => {
  const talk = await startTalk(world);
  const { ended } = await talk.turn('one', [{ text: 'ok' }], { model: 'claude', thinking: 'high' });
  expect(ended.reason).toBe('completed');
  expect(await talk.status()).toMatchObject({ thinking_level: 'high' });
  await talk.turn('two', [{ text: 'ok' }], { thinking: 'low' });
  expect(talk.all('warning').map(({ payload }) => payload)).toMatchObject([
    { code: 'thinking-effort-not-listed', message: expect.stringContaining('"high"') },
  ]);
});

describe('the date', () => {
  const dates = async (talk: Talk) =>
    (await talk.messages()).flatMap(({ metadata, content: [part] }) => {
      const origin = metadata?.origin;
      const isDate = origin?.kind === 'injection' && origin.variant === 'date_change';
      return isDate && part?.type === 'text' ? [part.text] : [];
    });

  test('is sent in a reminder at the first step and after each change, and is not in the system prompt', async () => {
    clock.advance(new Date(2030, 0, 31, 23, 59).getTime() - clock.now());
    const talk = await startTalk(world);
    await talk.turn('one', [{ text: 'ok' }]);
    await talk.turn('two', [{ text: 'ok' }]);
    clock.advance(2 * 60 * 1000);
    await talk.turn('three', [read(), { text: 'ok' }]);
    expect(await dates(talk)).toEqual([
      expect.stringContaining('2030-01-31'),
      expect.stringMatching(/changed.*2030-02-01/s),
    ]);
    expect(wireText(wireMessages(world, -1)[0] ?? { role: '' })).not.toContain('2030-0');
  });
});
