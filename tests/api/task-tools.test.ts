/** Task tools of the model: list, read, stop, wait; and questions in the background. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { sessionTaskSchema } from '#schema/rest/task.ts';
import { eventually } from '#support/patience.ts';
import { call, resumeTalk, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  const task = { kill_grace_period_ms: 300, max_running_tasks: 3 };
  world = await startWorld({ config: { default_permission_mode: 'yolo', task } });
});
afterAll(() => world.close());

let gates = 0;
/** A command that runs until its gate file is created. */
function gated(after = ':') {
  const gate = join(world.project, `tool-gate-${(gates += 1)}`);
  return { command: `until test -e ${gate}; do sleep 0.01; done; ${after}`, open: () => writeFile(gate, '') };
}

const inBackground = (command: string, description = 'Build it') =>
  call('Bash', { command, description, run_in_background: true });

/** Runs a turn that starts these commands in the background; returns their ids. */
async function started(talk: Talk, ...commands: string[]): Promise<string[]> {
  const calls = commands.map((command, at) => inBackground(command, `Task ${at}`));
  const { results } = await talk.turn('go', [{ calls }, { text: 'Started.' }]);
  return results.map(({ output }) => /^task_id: (\S+)/.exec(output)?.[1] ?? expect.unreachable(output));
}

/** The result of a single call in its own turn. */
async function result(talk: Talk, name: string, args: object) {
  const { results } = await talk.turn('go', [{ calls: [call(name, args)] }, { text: 'Done.' }]);
  return results[0] ?? expect.unreachable('no result');
}

/** Ends tasks with `end` and waits for the turn that reports it. */
async function endedBehind(talk: Talk, end: () => unknown): Promise<void> {
  world.model.enqueue({ text: 'I see.' });
  const turns = talk.all('turn.ended').length;
  await end();
  await talk.nth('turn.ended', turns + 1);
}

/** Text of all messages of the last request. */
const told = () => wireMessages(world, -1).map(wireText).join('\n');
const stopAll = (talk: Talk) => world.ok('POST', `/sessions/${talk.session.id}:archive`);

describe('TaskList and TaskOutput', () => {
  test('list running tasks, and ended ones only on request', async () => {
    const talk = await startTalk(world);
    expect((await result(talk, 'TaskList', {})).output).toBe('No task is running.');
    expect((await result(talk, 'TaskList', { active_only: false })).output).toBe('There are no tasks.');
    const { command, open } = gated('printf done');
    const [first = '', second = ''] = await started(talk, command, 'printf working; sleep 60');
    const list = (await result(talk, 'TaskList', {})).output;
    expect(
      list.split('\n---\n').map((one) => /^task_id: (\S+)\nkind: process\nstatus: running\n/.exec(one)?.[1]),
    ).toEqual([first, second]);
    expect((await result(talk, 'TaskList', { limit: 1 })).output).toContain('1 older tasks are not shown.');
    await eventually(async () =>
      expect((await result(talk, 'TaskOutput', { task_id: second })).output).toMatch(
        /^retrieval_status: not_ready\ntask_id: .+\n(.+\n)+output_path: .+output\.log\n\n\[output\]\nworking$/,
      ),
    );
    world.model.enqueue({ text: 'I see.' });
    const turns = talk.all('turn.ended').length;
    await open();
    await talk.nth('turn.ended', turns + 1);
    const over = (await result(talk, 'TaskOutput', { task_id: first })).output;
    expect(over).toMatch(/^retrieval_status: success\n/);
    expect(over).toMatch(/\nexit_code: 0\n(.+\n)*\n\[output\]\ndone$/);
    expect((await result(talk, 'TaskList', {})).output).not.toContain(first);
    expect((await result(talk, 'TaskList', { active_only: false })).output).toContain(first);
    await stopAll(talk);
  });

  test('return the last part of the output file', async () => {
    const talk = await startTalk(world);
    const { command, open } = gated('seq 1 20000');
    const [id = ''] = await started(talk, command);
    await endedBehind(talk, open);
    const { output } = await result(talk, 'TaskOutput', { task_id: id });
    const [, path = ''] = /\noutput_path: (.+)\n/.exec(output) ?? [];
    const file = await readFile(path, 'utf8');
    expect(file).toMatch(/^1\n2\n/);
    expect(file.length).toBeGreaterThan(100_000);
    expect(output.split('\n[output]\n')[1]).toBe(file.slice(-32 * 1024));
    expect(await world.ok('GET', `${talk.path}/tasks/${id}?with_output=1`)).toMatchObject({
      output_preview: file.slice(-32 * 1024),
    });
  });

  test('report why a task did not complete', async () => {
    const talk = await startTalk(world);
    const failing = gated('exit 3');
    const slow = { command: 'sleep 30', description: 'Slow', run_in_background: true, timeout: 1 };
    const calls = [inBackground(failing.command), call('Bash', slow)];
    const { results } = await talk.turn('go', [{ calls }, { text: 'Started.' }]);
    const [failed = '', late = ''] = results.map(({ output }) => /^task_id: (\S+)/.exec(output)?.[1] ?? '');
    world.model.answerBy(({ body }) =>
      JSON.stringify(body).includes('<notification') ? { text: 'I see.' } : undefined,
    );
    await failing.open();
    await talk.nth('task.notified', 2);
    await expect.poll(() => world.ok('GET', talk.path)).toMatchObject({ busy: false });
    world.model.answerBy(() => undefined);
    const [stopped = ''] = await started(talk, 'sleep 60');
    await result(talk, 'TaskStop', { task_id: stopped });
    for (const [task_id, status, reason] of [
      [failed, 'failed', 'failed'],
      [late, 'timed_out', 'timed_out'],
      [stopped, 'killed', 'stopped'],
    ] as const) {
      const { output } = await result(talk, 'TaskOutput', { task_id });
      expect(output).toMatch(/^retrieval_status: success\n/);
      expect(output).toContain(`\nstatus: ${status}\n`);
      expect(output).toContain(`\nterminal_reason: ${reason}\n\n[output]\n`);
    }
  });

  test('return the last message of a subagent, also after a restart', async () => {
    const talk = await startTalk(world);
    const task = { prompt: 'Count', description: 'count words', subagent_type: 'plan', run_in_background: true };
    world.model.enqueue({ calls: [call('Agent', task)] });
    // Either agent may send its request first.
    const held = [world.model.enqueue({ text: 'Two.', hold: true }), world.model.enqueue({ text: 'Two.', hold: true })];
    const { prompt_id } = await talk.prompt('go');
    await Promise.all(held.map(({ sent }) => sent));
    const { taskId } = (await talk.nth('subagent.spawned', 1)).payload;
    world.model.enqueue({ text: 'I see.' });
    for (const one of held) one.release();
    await talk.settled(prompt_id);
    await talk.nth('task.notified', 1);
    await expect.poll(() => world.ok('GET', talk.path)).toMatchObject({ busy: false });
    const read = async (on: Talk) => (await result(on, 'TaskOutput', { task_id: taskId })).output;
    const output = await read(talk);
    expect(output).toMatch(
      /^retrieval_status: success\ntask_id: agent-.+\nkind: agent\nstatus: completed\n(.+\n)*agent_id: agent-1\nsubagent_type: plan\n\n\[output\]\nTwo\.$/,
    );
    expect(output).not.toContain('output_path');
    await world.restart();
    expect(await read(await resumeTalk(world, talk.session))).toBe(output);
  });

  test.each([['TaskOutput'], ['TaskStop'], ['WaitFor']])('%s refuses paths and unknown ids', async (name) => {
    const talk = await startTalk(world);
    for (const task_id of ['../../../../server.token', 'bash-00000000', 'constructor']) {
      const { output, isError } = await result(talk, name, { task_id, ...(name === 'WaitFor' ? { timeout: 1 } : {}) });
      expect(isError).toBe(true);
      expect(output).toContain(`There is no task ${task_id}`);
    }
  });
});

describe('TaskStop', () => {
  test('stops a task without a notification; an ended one is unchanged', async () => {
    const talk = await startTalk(world);
    const [id = ''] = await started(talk, 'sleep 60');
    const stopped = await result(talk, 'TaskStop', { task_id: id, reason: 'no longer needed' });
    expect(stopped).toMatchObject({ isError: false, output: `task_id: ${id}\nstatus: killed` });
    expect(talk.all('task.terminated')[0]?.payload.info).toMatchObject({
      status: 'killed',
      stopReason: 'no longer needed',
      terminalNotificationSuppressed: true,
    });
    expect((await result(talk, 'TaskStop', { task_id: id })).output).toContain('status: killed\nIt had ended already.');
    expect(talk.all('task.notified')).toEqual([]);
    expect(talk.all('turn.started')).toHaveLength(3);
  });
});

describe('WaitFor', () => {
  test('without a task returns immediately', async () => {
    const talk = await startTalk(world);
    expect((await result(talk, 'WaitFor', { timeout: 60 })).output).toMatch(/^wait_status: no_tasks\n/);
  });

  test('settles with the first end of any task, which is not reported again', async () => {
    const talk = await startTalk(world);
    const { command, open } = gated('printf done');
    const [first = '', second = ''] = await started(talk, command, 'sleep 60');
    const { prompt_id } = await talk.prompt('wait', [{ calls: [call('WaitFor', { timeout: 60 })] }, { text: 'Done.' }]);
    await talk.events.waitFor(
      ({ type, payload }) => type === 'tool.progress' && JSON.stringify(payload).includes('Waiting'),
    );
    await open();
    await talk.settled(prompt_id);
    const output = String(talk.all('tool.result').at(-1)?.payload.output);
    expect(output).toMatch(/^wait_status: completed\n\n\[finished\]\n/);
    expect(output).toMatch(new RegExp(`\\[finished\\]\\ntask_id: ${first}\\n(.+\\n)+output:\\ndone`));
    expect(output).toMatch(new RegExp(`\\[still_running\\]\\ntask_id: ${second}\\n`));
    await talk.turn('more', [{ text: 'Yes.' }]);
    expect(talk.all('task.notified')).toEqual([]);
    expect(told()).not.toContain('<notification');
    await stopAll(talk);
  });

  test('for one task also reports others that ended meanwhile; none is reported again', async () => {
    const talk = await startTalk(world);
    const [one, other] = [gated('printf one'), gated('printf other; exit 4')];
    const [first = '', second = '', third = ''] = await started(talk, one.command, other.command, 'sleep 60');
    const wait = { calls: [call('WaitFor', { timeout: 60, task_id: first })] };
    const { prompt_id } = await talk.prompt('wait', [wait, { text: 'Done.' }]);
    await talk.events.waitFor(
      ({ type, payload }) => type === 'tool.progress' && JSON.stringify(payload).includes(`Waiting for ${first}: 0 s`),
    );
    await other.open();
    await talk.nth('task.terminated', 1);
    await one.open();
    await talk.settled(prompt_id);
    const sections = String(talk.all('tool.result').at(-1)?.payload.output).split('\n\n');
    expect(sections.map((section) => section.split('\n').slice(0, 2))).toEqual([
      ['wait_status: completed'],
      ['[finished]', `task_id: ${first}`],
      ['[completed_during_wait]', `task_id: ${second}`],
      ['[still_running]', `task_id: ${third}`],
    ]);
    expect(sections[2]).toMatch(/\nstatus: failed\n(.+\n)*terminal_reason: failed\noutput:\nother$/);
    await talk.turn('more', [{ text: 'Yes.' }]);
    expect(talk.all('task.notified')).toEqual([]);
    await stopAll(talk);
  });

  test('times out without an error; an ended task is reported immediately', async () => {
    const talk = await startTalk(world);
    const { command, open } = gated();
    const [id = ''] = await started(talk, command);
    const late = await result(talk, 'WaitFor', { timeout: 1, task_id: id });
    expect(late.isError).toBe(false);
    expect(late.output).toMatch(/^wait_status: timed_out\n\n\[still_running\]\n/);
    world.model.enqueue({ text: 'I see.' });
    const turns = talk.all('turn.ended').length;
    await open();
    await talk.nth('turn.ended', turns + 1);
    expect((await result(talk, 'WaitFor', { timeout: 60, task_id: id })).output).toMatch(
      /^wait_status: completed\n\n\[finished\]\n/,
    );
  });

  test('is settled by an abort; the tasks continue', async () => {
    const talk = await startTalk(world);
    const [id = ''] = await started(talk, 'sleep 60');
    const { prompt_id } = await talk.prompt('wait', [{ calls: [call('WaitFor', { timeout: 60 })] }]);
    await talk.events.waitFor(
      ({ type, payload }) => type === 'tool.progress' && JSON.stringify(payload).includes('Waiting'),
    );
    await world.ok('POST', `${talk.path}:abort`);
    await talk.settled(prompt_id);
    expect(z.object({ status: z.string() }).parse(await world.ok('GET', `${talk.path}/tasks/${id}`)).status).toBe(
      'running',
    );
    await stopAll(talk);
  });
});

test.each([
  ['Bash', { command: 'sleep 63' }],
  ['Agent', { prompt: 'Count', subagent_type: 'plan' }],
  ['AskUserQuestion', { questions: [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }] }],
])('the limit of background tasks is enforced: %s', async (name, args) => {
  const talk = await startTalk(world);
  await started(talk, 'sleep 60', 'sleep 61', 'sleep 62');
  const background = { description: 'More', run_in_background: true, background: true };
  const { output, isError } = await result(talk, name, { ...args, ...background });
  expect(isError).toBe(true);
  expect(output).toContain('[task.limit_exceeded] 3 background tasks run already');
  expect(talk.all('task.started')).toHaveLength(3);
  expect(talk.all('agent.created')).toHaveLength(1);
  expect(talk.all('event.question.requested')).toEqual([]);
  await stopAll(talk);
});

describe('a question in the background', () => {
  const questions = [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }];
  async function asked(talk: Talk) {
    const { results } = await talk.turn('ask', [
      { calls: [call('AskUserQuestion', { questions, background: true })] },
      { text: 'I asked.' },
    ]);
    const [, id = ''] = /^task_id: (question-[0-9a-z]{8})\n/.exec(results[0]?.output ?? '') ?? [];
    const { payload } = await talk.nth('event.question.requested', 1);
    return { id, path: `${talk.path}/questions/${String(payload.question_id)}` };
  }
  const read = async (talk: Talk, id: string) =>
    sessionTaskSchema.parse(await world.ok('GET', `${talk.path}/tasks/${id}?with_output=1`));

  test('outlives its turn; the answer completes its task and opens a turn', async () => {
    const talk = await startTalk(world);
    const { id, path } = await asked(talk);
    expect(await world.ok('GET', talk.path)).toMatchObject({
      busy: true,
      main_turn_active: false,
      pending_interaction: 'question',
    });
    const running = await read(talk, id);
    expect(running).toMatchObject({ kind: 'tool', status: 'running', description: 'Which?' });
    expect(running).not.toHaveProperty('output_preview');
    world.model.enqueue({ text: 'A it is.' });
    await world.ok('POST', path, { answers: { q_0: { kind: 'single', option_id: 'opt_0_0' } } });
    await talk.nth('turn.ended', 2);
    expect(await read(talk, id)).toMatchObject({ status: 'completed', output_preview: '{"answers":{"Which?":"A"}}' });
    expect(told()).toContain('{"answers":{"Which?":"A"}}');
    expect((await result(talk, 'TaskOutput', { task_id: id })).output).toMatch(
      /^retrieval_status: success\n(.+\n)*question_count: 1\n\n\[output\]\n\{"answers":\{"Which\?":"A"\}\}$/,
    );
    await world.restart();
    await world.ok('POST', `${talk.path}/profile`, { title: 'Loaded' });
    expect(await read(talk, id)).toMatchObject({ status: 'completed', output_preview: '{"answers":{"Which?":"A"}}' });
  });

  test('completes when it is dismissed', async () => {
    const talk = await startTalk(world);
    const { id, path } = await asked(talk);
    world.model.enqueue({ text: 'Well.' });
    expect(await world.api('POST', `${path}:dismiss`)).toMatchObject({ code: 40909 });
    await talk.nth('turn.ended', 2);
    expect(await read(talk, id)).toMatchObject({
      status: 'completed',
      output_preview: expect.stringContaining('dismissed'),
    });
  });

  test('is dismissed when its task is cancelled', async () => {
    const talk = await startTalk(world);
    const { id, path } = await asked(talk);
    world.model.enqueue({ text: 'Well.' });
    expect((await world.api('POST', `${talk.path}/tasks/${id}:cancel`)).data).toEqual({ cancelled: true });
    await talk.nth('turn.ended', 2);
    expect((await read(talk, id)).status).toBe('cancelled');
    expect(talk.all('event.question.dismissed')).toHaveLength(1);
    expect(await world.api('POST', path, { answers: {} })).toMatchObject({ code: 40902 });
    expect((await world.api('POST', `${talk.path}/tasks/${id}:detach`)).data).toEqual({
      detached: false,
      status: 'cancelled',
    });
  });
});
