/** Tasks: commands in the background and in the foreground. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { sessionTaskSchema, type SessionTask } from '#schema/rest/task.ts';
import { eventually } from '#support/patience.ts';
import { call, resumeTalk, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ config: { default_permission_mode: 'yolo', task: { kill_grace_period_ms: 300 } } });
});
afterAll(() => world.close());

const tasksOf = async (talk: Talk, query = ''): Promise<SessionTask[]> =>
  z.object({ items: z.array(sessionTaskSchema) }).parse(await world.ok('GET', `${talk.path}/tasks${query}`)).items;
const read = async (talk: Talk, id: string, query = '') =>
  sessionTaskSchema.parse(await world.ok('GET', `${talk.path}/tasks/${id}${query}`));
const post = (talk: Talk, id: string, action: string) => world.api('POST', `${talk.path}/tasks/${id}:${action}`);

let gates = 0;
/** A command that runs until its gate file is created. */
function gated(before = '', after = '') {
  const gate = join(world.project, `gate-${(gates += 1)}`);
  const command = `${before || ':'}; until test -e ${gate}; do sleep 0.01; done; ${after || ':'}`;
  return { command, open: () => writeFile(gate, '') };
}

const inBackground = (command: string, more: object = {}) =>
  call('Bash', { command, description: 'Build it', run_in_background: true, ...more });

/** Runs a turn that starts a command in the background; returns the task's id. */
async function started(talk: Talk, command: string, more: object = {}): Promise<string> {
  const { results } = await talk.turn('go', [{ calls: [inBackground(command, more)] }, { text: 'Started.' }]);
  const [, id = ''] = /^task_id: (bash-[0-9a-z]{8})\n/.exec(results[0]?.output ?? '') ?? [];
  if (id === '') throw new Error(`not started: ${results[0]?.output}`);
  return id;
}

/** Starts a turn with a foreground command; resolves after its first output. */
async function waitedFor(talk: Talk, command: string, more: object = {}) {
  const prompt = await talk.prompt('go', [{ calls: [call('Bash', { command, ...more })] }, { text: 'Done.' }]);
  await talk.events.waitFor(({ type }) => type === 'tool.progress');
  const [task] = await tasksOf(talk, '?status=running');
  if (!task) throw new Error('no task runs');
  return { prompt, id: task.id, task };
}

/** Resolves when the n-th turn of the session has ended. */
const turnEnded = (talk: Talk, n: number) => talk.nth('turn.ended', n);
const lastUserText = (n = -1) =>
  wireText(wireMessages(world, n).findLast(({ role }) => role === 'user') ?? { role: '' });

describe('a command in the background', () => {
  test('outlives its turn, and its end opens one', async () => {
    const talk = await startTalk(world);
    const { command, open } = gated('printf one', 'printf two');
    const id = await started(talk, command);
    const result = talk.all('tool.result')[0]?.payload.output;
    expect(result).toMatch(
      /^task_id: bash-\w{8}\npid: \d+\ndescription: Build it\nstatus: running\nautomatic_notification: true\nnext_step: .+\nhuman_shell_hint: tail -f .+output\.log$/,
    );
    expect((await talk.status()).busy).toBe(true);
    expect(await tasksOf(talk)).toEqual([
      {
        id,
        session_id: talk.session.id,
        kind: 'bash',
        description: 'Build it',
        status: 'running',
        created_at: expect.any(String),
        started_at: expect.any(String),
        command,
        parent_tool_call_id: 'call_1',
      },
    ]);
    await eventually(async () =>
      expect(await read(talk, id, '?with_output=1')).toMatchObject({ output_preview: 'one', output_bytes: 3 }),
    );
    world.model.enqueue({ text: 'I see.' });
    await open();
    await turnEnded(talk, 2);
    expect(await read(talk, id, '?with_output=true')).toMatchObject({
      status: 'completed',
      completed_at: expect.any(String),
      output_preview: 'onetwo',
    });
    const told = lastUserText();
    expect(told).toContain(`<notification id="task:${id}:completed" category="task" type="task.completed"`);
    const [, path = ''] = /<output-file path="(.+)" bytes="6" \/>/.exec(told) ?? [];
    expect(await readFile(path, 'utf8')).toBe('onetwo');
    expect(talk.all('turn.started')[1]?.payload).toMatchObject({
      origin: { kind: 'task', taskId: id, status: 'completed', notificationId: `task:${id}:completed` },
    });
    expect(talk.all('task.notified')).toHaveLength(1);
    expect(talk.all('task.terminated')[0]?.payload.info).toMatchObject({ exitCode: 0, status: 'completed' });
    expect((await talk.status()).busy).toBe(false);
  });

  test('is reported to a running turn at its next step, which the turn waits for', async () => {
    const talk = await startTalk(world);
    const { command, open } = gated();
    const id = await started(talk, command);
    const held = world.model.enqueue({ text: 'Thinking', hold: true });
    world.model.enqueue({ text: 'I see.' });
    const { prompt_id } = await talk.prompt('more');
    await held.sent;
    await open();
    await talk.nth('task.terminated', 1);
    held.release();
    await talk.settled(prompt_id);
    expect(lastUserText()).toContain(`task:${id}:completed`);
    expect(talk.all('turn.started')).toHaveLength(2);
    const types = talk.events.durable(talk.session.id).map(({ type }) => type);
    const notified = types.indexOf('task.notified');
    expect(types.slice(notified, notified + 3)).toEqual(['task.notified', 'context.spliced', 'turn.step.started']);
  });

  test('opens its own turn: a prompt is queued, or steered into it', async () => {
    const talk = await startTalk(world);
    const { command, open } = gated();
    await started(talk, command);
    const held = world.model.enqueue({ text: 'I see', hold: true });
    await open();
    await held.sent;
    const submit = (prompt_id: string) =>
      world.ok('POST', `${talk.path}/prompts`, { content: [{ type: 'text', text: `Also ${prompt_id}` }], prompt_id });
    expect(await submit('steered')).toMatchObject({ status: 'queued' });
    expect(await submit('waiting')).toMatchObject({ status: 'queued' });
    await world.ok('POST', `${talk.path}/prompts/steered:steer`, {});
    world.model.enqueue({ text: 'That too.' });
    world.model.enqueue({ text: 'And this.' });
    held.release();
    expect((await talk.settled('waiting')).payload).toMatchObject({ reason: 'completed' });
    expect(wireText(wireMessages(world, -2).findLast(({ role }) => role === 'user') ?? { role: '' })).toBe(
      'Also steered',
    );
    expect(lastUserText()).toBe('Also waiting');
    expect(talk.all('turn.started').map(({ payload }) => payload.promptId)).toEqual([
      expect.any(String),
      undefined,
      'waiting',
    ]);
  });

  test('fails with its exit code; exceeding its time-out stops it', async () => {
    const talk = await startTalk(world);
    const no = gated('', 'echo no >&2; exit 3');
    const failing = await started(talk, no.command);
    world.model.enqueue({ text: 'Oh.' });
    await no.open();
    await turnEnded(talk, 2);
    expect(await read(talk, failing, '?with_output=1')).toMatchObject({ status: 'failed', output_preview: 'no\n' });
    expect(lastUserText()).toContain('has failed with exit code 3');
    const slow = await started(talk, 'sleep 30', { timeout: 1 });
    world.model.enqueue({ text: 'Oh.' });
    await turnEnded(talk, 4);
    expect((await read(talk, slow)).status).toBe('failed');
    expect(talk.all('task.terminated')[1]?.payload.info).toMatchObject({ status: 'timed_out', exitCode: -1 });
  });
});

describe('cancel', () => {
  test('of a background task: it is reported as stopped, which opens a turn', async () => {
    const talk = await startTalk(world);
    const id = await started(talk, 'sleep 60');
    world.model.enqueue({ text: 'As you wish.' });
    const [one, two] = await Promise.all([post(talk, id, 'cancel'), post(talk, id, 'cancel')]);
    expect([one.data, two.data]).toEqual([{ cancelled: true }, { cancelled: true }]);
    await turnEnded(talk, 2);
    expect(talk.all('task.terminated')[0]?.payload.info).toMatchObject({
      status: 'killed',
      stopReason: 'stopped by the user',
      exitCode: -1,
    });
    expect(talk.all('task.notified')[0]?.payload).toMatchObject({
      notificationType: 'task.killed',
      severity: 'warning',
    });
    expect(await post(talk, id, 'cancel')).toMatchObject({
      code: 40904,
      msg: `task ${id} already finished (status: cancelled)`,
      data: { cancelled: false },
      details: { current_status: 'cancelled' },
    });
  });

  test('of a stubborn task takes the grace period', async () => {
    const talk = await startTalk(world);
    const id = await started(talk, `trap '' TERM; while :; do sleep 0.05; done`);
    world.model.enqueue({ text: 'As you wish.' });
    expect((await post(talk, id, 'cancel')).data).toEqual({ cancelled: true });
    expect((await read(talk, id)).status).toBe('cancelled');
    await turnEnded(talk, 2);
  });

  test('of a foreground task: the call gets an error, the turn continues, no notification is sent', async () => {
    const talk = await startTalk(world);
    const { prompt, id } = await waitedFor(talk, 'echo so far; sleep 60');
    expect((await post(talk, id, 'cancel')).data).toEqual({ cancelled: true });
    await talk.settled(prompt.prompt_id);
    expect(talk.all('tool.result')[0]?.payload).toMatchObject({
      isError: true,
      output: 'so far\nInterrupted by user',
    });
    expect(talk.all('turn.ended')[0]?.payload.reason).toBe('completed');
    expect(talk.events.durable(talk.session.id).filter(({ type }) => type.includes('task'))).toEqual([]);
    expect(await tasksOf(talk)).toEqual([]);
    expect(await read(talk, id, '?with_output=1')).toMatchObject({ status: 'cancelled', output_preview: 'so far\n' });
  });
});

describe('detach', () => {
  test('settles the waiting call with the output so far; the task keeps its id and is reported later', async () => {
    const talk = await startTalk(world);
    const { command, open } = gated('echo so far', 'echo more');
    const { prompt, id } = await waitedFor(talk, command);
    const [one, two] = await Promise.all([post(talk, id, 'detach'), post(talk, id, 'detach')]);
    expect([one.data, two.data]).toContainEqual({ detached: true, status: 'running' });
    expect([one.data, two.data]).toContainEqual({ detached: false, status: 'running' });
    await talk.settled(prompt.prompt_id);
    const types = talk.events.durable(talk.session.id).map(({ type }) => type);
    const at = types.indexOf('task.started');
    expect(types.slice(at, at + 4)).toEqual([
      'task.started',
      'background.task.started',
      'tool.result',
      'turn.step.completed',
    ]);
    expect(talk.all('task.started')[0]?.payload.info).toMatchObject({ taskId: id, detached: true, timeoutMs: 600_000 });
    const { output, isError } = talk.all('tool.result')[0]?.payload ?? {};
    expect(isError).toBeUndefined();
    expect(output).toMatch(
      /^task_id: \S+\npid: \d+\ndescription: .+\nstatus: running\ndetached_by_user: true\nautomatic_notification: true\nnext_step: .+\nhuman_shell_hint: .+\n\nforeground_output:\nso far\n$/,
    );
    expect((await talk.status()).busy).toBe(true);
    world.model.enqueue({ text: 'I see.' });
    await open();
    await turnEnded(talk, 2);
    expect(await read(talk, id, '?with_output=1')).toMatchObject({ output_preview: 'so far\nmore\n' });
    expect((await post(talk, id, 'detach')).data).toEqual({ detached: false, status: 'completed' });
  });

  test('happens automatically when a command reaches its time-out', async () => {
    const talk = await startTalk(world);
    const { command, open } = gated('echo so far');
    const { results } = await talk.turn('go', [
      { calls: [call('Bash', { command, timeout: 1 })] },
      { text: 'It goes on.' },
    ]);
    expect(results[0]?.isError).toBe(false);
    expect(results[0]?.output).toContain('reached its time limit and was moved to the background');
    expect(results[0]?.output).toContain('foreground_output:\nso far\n');
    expect(results[0]?.output).not.toContain('detached_by_user');
    world.model.enqueue({ text: 'I see.' });
    await open();
    await turnEnded(talk, 2);
  });
});

describe('the endpoints', () => {
  test('codes', async () => {
    const talk = await startTalk(world);
    const { id } = talk.session;
    const path = `/sessions/${id}/tasks`;
    expect(await world.api('GET', `${path}?status=lost`)).toMatchObject({ code: 40001 });
    expect(await world.api('GET', `${path}?status=`)).toMatchObject({ code: 40001 });
    expect(await world.api('GET', '/sessions/none/tasks?status=lost')).toMatchObject({ code: 40001 });
    expect(await world.api('GET', '/sessions/none/tasks')).toMatchObject({ code: 40401 });
    for (const [method, tail] of [
      ['GET', 'bash-00000000'],
      ['POST', 'bash-00000000:cancel'],
      ['POST', 'bash-00000000:detach'],
    ] as const) {
      expect(await world.api(method, `${path}/${tail}`)).toMatchObject({
        code: 40406,
        msg: `task bash-00000000 does not exist in session ${id}`,
      });
      expect(await world.api(method, `/sessions/none/tasks/${tail}`)).toMatchObject({ code: 40401 });
    }
    expect(await world.api('POST', `${path}/x:stop`)).toMatchObject({
      code: 40001,
      details: [{ path: 'task_id', message: 'unsupported action: x:stop' }],
    });
    expect(await world.api('GET', `${path}/x?output_bytes=-1`)).toMatchObject({ code: 40001 });
    expect(await world.api('GET', `${path}/${encodeURIComponent('../../journal.ndjson')}`)).toMatchObject({
      code: 40406,
    });
  });

  test('the list is filtered by status; an ended task cannot be cancelled, and has its outcome', async () => {
    const talk = await startTalk(world);
    const [good, bad] = [gated(), gated('', 'exit 3')];
    const calls = [
      inBackground('sleep 60'),
      inBackground('sleep 61'),
      ...[good, bad].map((one) => inBackground(one.command)),
    ];
    const { results } = await talk.turn('go', [{ calls }, { text: 'Started.' }]);
    const [running = '', cancelled = '', completed = '', failed = ''] = results.map(
      ({ output }) => /^task_id: (\S+)/.exec(output)?.[1] ?? expect.unreachable(output),
    );
    world.model.answerBy(({ body }) =>
      JSON.stringify(body).includes('<notification') ? { text: 'I see.' } : undefined,
    );
    try {
      await Promise.all([good.open(), bad.open(), post(talk, cancelled, 'cancel')]);
      await talk.nth('task.notified', 3);
      await expect.poll(() => world.ok('GET', talk.path)).toMatchObject({ main_turn_active: false });
    } finally {
      world.model.answerBy(() => undefined);
    }
    const ids = async (query: string) => (await tasksOf(talk, query)).map(({ id }) => id);
    const byStatus = { running, completed, failed, cancelled };
    expect(await ids('')).toEqual([running, cancelled, completed, failed]);
    for (const [status, id] of Object.entries(byStatus)) {
      expect(await ids(`?status=${status}`)).toEqual([id]);
      if (status === 'running') continue;
      expect(await post(talk, id, 'cancel')).toMatchObject({
        code: 40904,
        msg: `task ${id} already finished (status: ${status})`,
        data: { cancelled: false },
        details: { current_status: status },
      });
      expect((await post(talk, id, 'detach')).data).toEqual({ detached: false, status });
    }
    await world.ok('POST', `${talk.path}:archive`);
  });

  test('the tail of an output starts at a character boundary', async () => {
    const talk = await startTalk(world);
    const { command, open } = gated('', 'printf aé😀z');
    const id = await started(talk, command);
    world.model.enqueue({ text: 'I see.' });
    await open();
    await turnEnded(talk, 2);
    for (const [bytes, preview] of [
      [100, 'aé😀z'],
      [7, 'é😀z'],
      [6, '😀z'],
      [5, '😀z'],
      [4, 'z'],
      [1, 'z'],
    ] as const) {
      expect(await read(talk, id, `?with_output=1&output_bytes=${bytes}`)).toMatchObject({
        output_preview: preview,
        output_bytes: Buffer.byteLength(preview),
      });
    }
    for (const query of ['?with_output=1&output_bytes=0', '?with_output=false', '']) {
      expect(await read(talk, id, query)).not.toHaveProperty('output_preview');
    }
  });

  test('a cold session has no tasks; loaded again it has those of earlier runs', async () => {
    const talk = await startTalk(world);
    const { command, open } = gated('', 'echo done');
    const done = await started(talk, command);
    world.model.enqueue({ text: 'I see.' });
    await open();
    await turnEnded(talk, 2);
    const lost = await started(talk, 'sleep 60');
    await world.restart();
    const path = talk.path;
    expect(await world.ok('GET', `${path}/tasks`)).toEqual({ items: [] });
    expect(await world.api('GET', `${path}/tasks/${done}`)).toMatchObject({ code: 40406 });
    const again = await resumeTalk(world, talk.session);
    await again.turn('hello', [{ text: 'Hi.' }]);
    expect((await tasksOf(again)).map(({ id, status }) => [id, status])).toEqual([
      [done, 'completed'],
      [lost, 'cancelled'],
    ]);
    expect(await read(again, done, '?with_output=1')).toMatchObject({ output_preview: 'done\n' });
    expect(wireMessages(world, -1).map(wireText).join()).not.toContain(`task:${lost}`);
  });
});
