/** Aborting the active prompt in every phase of its turn. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Script } from '#support/model-server.ts';
import { until } from '#support/patience.ts';
import { call, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const abort = (talk: Talk, id = 'p0') => world.ok('POST', `${talk.path}/prompts/${id}:abort`);

/** Submits a prompt whose request the model receives and never answers. */
async function hang(talk: Talk, id = 'p0'): Promise<void> {
  const before = world.model.requests.length;
  await talk.prompt('a', [{ hang: true }], { prompt_id: id });
  await world.model.waitForRequest(before + 1);
}

/** Event types from the step's interruption (or the turn's end). */
function ending(talk: Talk): string[] {
  const types = talk.events.durable(talk.session.id).map(({ type }) => type);
  const from = types.findLastIndex((type) => type === 'turn.step.started');
  return types.slice(from + 1);
}

/** Runs the next prompt and checks that its request mentions the interruption exactly once. */
async function goesOn(talk: Talk): Promise<string> {
  const { ended } = await talk.turn('go on', [{ text: 'ok' }]);
  expect(ended).toMatchObject({ reason: 'completed' });
  const sent = wireMessages(world, -1).map(wireText).join('\n');
  expect(sent.match(/interrupted the previous turn/g)).toHaveLength(1);
  return sent;
}

const alive = (pid: number) =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (stat) => !/\) [ZX] /.test(stat),
    () => false,
  );

const gone = (pid: number) => until(async () => !(await alive(pid)), `end of ${pid}`);

describe('while text streams', () => {
  test('received text is stored, the model request is aborted, events keep their order', async () => {
    const talk = await startTalk(world);
    const held = world.model.enqueue({ thinking: 'Hm.', text: ['Hello ', 'wor'], hold: true });
    await talk.prompt('talk', [], { prompt_id: 'p0' });
    await held.sent;
    await talk.events.waitFor(
      ({ type, payload }) => type === 'assistant.delta' && String(payload.delta).includes('wor'),
    );
    expect(await abort(talk)).toEqual({ aborted: true });
    await talk.settled('p0');
    await world.model.waitForAbort(world.model.requests.length);
    expect(ending(talk)).toEqual([
      'turn.step.interrupted',
      'turn.ended',
      'context.spliced',
      'event.session.work_changed',
      'prompt.aborted',
    ]);
    const [interrupted, ended] = talk.events.durable(talk.session.id).slice(-5);
    expect(interrupted?.payload).toMatchObject({ step: 1, reason: 'aborted' });
    expect(interrupted?.payload).not.toHaveProperty('message');
    expect(ended?.payload).toMatchObject({ reason: 'cancelled', interruptReason: 'user_cancelled' });
    const messages = await talk.messages();
    expect(messages.map(({ role, content }) => [role, content])).toMatchObject([
      ['user', [{ text: 'talk' }]],
      ['user', [{ type: 'text' }]],
      ['assistant', [{ thinking: 'Hm.' }, { text: 'Hello wor' }]],
      ['user', [{ type: 'text' }]],
    ]);
    expect(messages[3]?.metadata?.origin).toMatchObject({ kind: 'injection', variant: 'interruption' });
    expect(await world.ok('GET', talk.path)).toMatchObject({ busy: false, last_turn_reason: 'cancelled' });
    expect(await goesOn(talk)).toContain('Hello wor');
  });

  test('calls of an incomplete response neither run nor reach the model', async () => {
    const talk = await startTalk(world);
    const held = world.model.enqueue({ text: 'So', calls: [call('Read', { path: 'a.txt' })], hold: true });
    await talk.prompt('read', [], { prompt_id: 'p0' });
    await held.sent;
    await talk.events.waitFor(({ type }) => type === 'tool.call.delta');
    await abort(talk);
    await talk.settled('p0');
    expect(ending(talk)[0]).toBe('turn.step.interrupted');
    expect(talk.all('tool.call.started')).toEqual([]);
    await goesOn(talk);
    expect(wireMessages(world, -1).some(({ role, tool_calls }) => role === 'tool' || tool_calls)).toBe(false);
  });

  test('before the first byte of the response', async () => {
    const talk = await startTalk(world);
    await hang(talk);
    await abort(talk);
    await talk.settled('p0');
    expect((await talk.messages()).find(({ role }) => role === 'assistant')?.content).toEqual([]);
    await goesOn(talk);
  });
});

test('before the first step: no step is interrupted', async () => {
  const talk = await startTalk(world);
  const requests = world.model.requests.length;
  // Aborted right after the start of the turn, whose first step still reads files.
  const { sessions } = world.server.app;
  await sessions.submit(talk.session.id, { content: [{ type: 'text', text: 'quick' }], prompt_id: 'p0' });
  await sessions.abortTurn(talk.session.id);
  await talk.settled('p0');
  const types = talk.events.durable(talk.session.id).map(({ type }) => type);
  expect(types.slice(types.indexOf('turn.started'))).toEqual([
    'turn.started',
    'event.session.work_changed',
    'context.spliced',
    'turn.ended',
    'context.spliced',
    'event.session.work_changed',
    'prompt.aborted',
  ]);
  expect(world.model.requests).toHaveLength(requests);
  await goesOn(talk);
});

describe('while a tool runs', () => {
  /** Runs a command that writes the pids of its process tree, then sleeps. */
  async function running(script: (pids: string) => string, before: Script['calls'] = []) {
    const talk = await startTalk(world);
    const pidFile = join(world.project, `pids-${talk.session.id}`);
    await talk.prompt('run', [{ calls: [...before, call('Bash', { command: script(pidFile) }, 'bash')] }], {
      prompt_id: 'p0',
      permission_mode: 'yolo',
    });
    await talk.events.waitFor(
      ({ type, payload }) => type === 'tool.progress' && JSON.stringify(payload.update).includes('ready'),
    );
    const pids = (await readFile(pidFile, 'utf8')).trim().split(/\s+/).map(Number);
    return { talk, pids };
  }

  test('the whole process tree is killed, the call has a result, the next turn works', async () => {
    const { talk, pids } = await running(
      (file) => `sh -c 'echo $$ >> ${file}; sleep 60' & echo $$ $! >> ${file}; sleep 0.05; echo ready; wait`,
    );
    expect(pids.length).toBeGreaterThanOrEqual(3);
    await abort(talk);
    expect(await abort(talk)).toEqual({ aborted: true });
    await talk.settled('p0');
    await Promise.all(pids.map(gone));
    expect(ending(talk)).toEqual([
      'tool.call.started',
      'tool.result',
      'turn.step.interrupted',
      'turn.ended',
      'context.spliced',
      'event.session.work_changed',
      'prompt.aborted',
    ]);
    expect(talk.all('tool.result')[0]?.payload).toMatchObject({
      toolCallId: 'bash',
      isError: true,
      output: expect.stringContaining('Interrupted by user'),
    });
    expect(await goesOn(talk)).toContain('Interrupted by user');
  });

  test('a command that ignores the signal delays the end of the turn by at most 2 s, then is killed', async () => {
    const { talk, pids } = await running(
      (file) => `trap '' TERM; echo $$ > ${file}; echo ready; while :; do sleep 0.1; done`,
    );
    const began = performance.now();
    expect(await abort(talk)).toEqual({ aborted: true });
    // A second abort has no further effect.
    expect(await abort(talk)).toEqual({ aborted: true });
    await talk.settled('p0');
    expect(performance.now() - began).toBeGreaterThan(1500);
    expect(talk.all('tool.result')[0]?.payload).toMatchObject({
      isError: true,
      output: 'ready\nInterrupted by user',
    });
    for (const type of ['tool.result', 'turn.ended', 'prompt.aborted']) expect(talk.all(type)).toHaveLength(1);
    // The processes have exited before the next turn.
    expect(await Promise.all(pids.map(alive))).toEqual(pids.map(() => false));
    await goesOn(talk);
  });

  test('queued calls are aborted too; finished calls keep their result', async () => {
    const { talk } = await running(
      (file) => `echo $$ > ${file}; echo ready; sleep 60`,
      [call('Read', { path: 'a.txt' }, 'before')],
    );
    await abort(talk);
    await talk.settled('p0');
    expect(talk.all('tool.result').map(({ payload }) => [payload.toolCallId, payload.isError ?? false])).toEqual([
      ['before', false],
      ['bash', true],
    ]);
  });
});

describe('while an approval is pending', () => {
  test('started calls get a result; the pending call and later ones have no events', async () => {
    const talk = await startTalk(world);
    const calls = [
      call('Read', { path: 'a.txt' }, 'started'),
      call('Bash', { command: 'echo 1' }, 'waiting'),
      call('Read', { path: 'b.txt' }, 'later'),
    ];
    await talk.prompt('run', [{ calls }], { prompt_id: 'p0' });
    const approval = await talk.approval();
    expect(await world.ok('GET', `${talk.path}/prompts`)).toMatchObject({ active: { prompt_id: 'p0' } });
    await abort(talk);
    await talk.settled('p0');
    expect(ending(talk)).toEqual([
      'tool.call.started',
      'permission.approval.requested',
      'event.session.work_changed',
      'event.approval.requested',
      'tool.result',
      'turn.step.interrupted',
      'event.session.work_changed',
      'event.approval.resolved',
      'turn.ended',
      'context.spliced',
      'event.session.work_changed',
      'prompt.aborted',
    ]);
    expect(talk.all('event.approval.resolved')[0]?.payload).toMatchObject({
      approval_id: approval.approval_id,
      decision: 'cancelled',
    });
    expect(talk.all('tool.result')[0]?.payload).toMatchObject({ toolCallId: 'started', isError: true });
    const late = await world.api('POST', `${talk.path}/approvals/${approval.approval_id}`, { decision: 'approved' });
    expect(late).toMatchObject({ code: 40902, data: { resolved: false } });
    expect(await world.approvals(talk.session.id)).toEqual([]);
    await goesOn(talk);
    // History contains a result for each of the three calls.
    const results = wireMessages(world, -1).filter(({ role }) => role === 'tool');
    expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(['started', 'waiting', 'later']);
  });
});

test('while a retry is pending: settles immediately, without another attempt', async () => {
  const talk = await startTalk(world);
  await talk.prompt('try', [{ status: 429, headers: { 'retry-after': '30' } }], { prompt_id: 'p0' });
  const { payload } = await talk.nth('turn.step.retrying', 1);
  expect(payload.delayMs).toBe(30_000);
  const began = performance.now();
  await abort(talk);
  await talk.settled('p0');
  expect(performance.now() - began).toBeLessThan(25_000);
  expect(ending(talk)).toEqual([
    'turn.step.retrying',
    'turn.step.interrupted',
    'turn.ended',
    'context.spliced',
    'event.session.work_changed',
    'prompt.aborted',
  ]);
  expect(talk.all('turn.step.interrupted')[0]?.payload).toMatchObject({ step: 1, reason: 'aborted' });
  expect(talk.all('turn.ended')[0]?.payload).toMatchObject({ reason: 'cancelled', interruptReason: 'user_cancelled' });
  await goesOn(talk);
});

test('queued prompts start afterwards', async () => {
  const talk = await startTalk(world);
  await hang(talk);
  await talk.prompt('b', [{ text: 'ok' }], { prompt_id: 'p1' });
  await abort(talk);
  expect((await talk.settled('p1')).payload.reason).toBe('completed');
  const types = talk.events.durable(talk.session.id).map(({ type }) => type);
  expect(types.indexOf('prompt.aborted')).toBeLessThan(types.lastIndexOf('turn.started'));
});

describe('the session action', () => {
  test('cancels only the running turn; queued prompts start', async () => {
    const talk = await startTalk(world);
    await hang(talk);
    await talk.prompt('b', [{ text: 'ok' }], { prompt_id: 'p1' });
    expect(await world.ok('POST', `${talk.path}:abort`)).toEqual({ aborted: true });
    expect((await talk.settled('p0')).type).toBe('prompt.aborted');
    expect((await talk.settled('p1')).payload.reason).toBe('completed');
  });

  test('succeeds on an idle session', async () => {
    const talk = await startTalk(world);
    expect(await world.ok('POST', `${talk.path}:abort`)).toEqual({ aborted: true });
    expect(talk.events.durable(talk.session.id)).toHaveLength(1);
  });
});

describe('abort of a prompt', () => {
  test.each([
    ['completed', { text: 'ok' }],
    ['failed', { status: 401, error: 'no' }],
  ])('is refused if the prompt has %s', async (_what, script) => {
    const talk = await startTalk(world);
    await talk.turn('x', [script], { prompt_id: 'p0' });
    const { length } = talk.events.durable(talk.session.id);
    expect(await world.api('POST', `${talk.path}/prompts/p0:abort`)).toMatchObject({
      code: 40903,
      msg: 'prompt p0 already completed',
      data: { aborted: false },
    });
    expect(talk.events.durable(talk.session.id)).toHaveLength(length);
  });

  test('is refused for unknown prompts, sessions and actions; ids may contain colons', async () => {
    const talk = await startTalk(world);
    expect(await world.api('POST', `${talk.path}/prompts/none:abort`)).toMatchObject({
      code: 40402,
      msg: 'prompt none not found',
      data: null,
    });
    expect(await world.api('POST', '/sessions/none/prompts/p0:abort')).toMatchObject({ code: 40401 });
    expect(await world.api('POST', '/sessions/none/prompts/p0:stop')).toMatchObject({
      code: 40001,
      msg: expect.stringContaining('unsupported action: p0:stop'),
    });
    await talk.turn('x', [{ text: 'ok' }], { prompt_id: 'a:b/c' });
    expect(await world.api('POST', `${talk.path}/prompts/${encodeURIComponent('a:b/c')}:abort`)).toMatchObject({
      code: 40903,
    });
  });

  test('ignores the request body', async () => {
    const talk = await startTalk(world);
    await hang(talk);
    const answer = await world.server.fetch(`/api/v1${talk.path}/prompts/p0:abort`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"not json',
    });
    expect(await answer.json()).toMatchObject({ code: 0, data: { aborted: true } });
    await talk.settled('p0');
  });

  test('recognises ids of prompts that settled in an earlier process', async () => {
    const talk = await startTalk(world);
    await talk.turn('x', [{ text: 'ok' }], { prompt_id: 'p0' });
    await world.restart();
    expect(await world.api('POST', `${talk.path}/prompts/p0:abort`)).toMatchObject({ code: 40903 });
  });
});
