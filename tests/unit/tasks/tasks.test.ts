/** The registry of tasks: waiting calls, detaching, and ends. A test defines the work. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Clock } from '#server/clock.ts';
import { event, type Draft } from '#server/journal/records.ts';
import type { RunningTask, TaskEnd, TaskSpec, TaskStop, WaitingCall } from '#server/tasks/task.ts';
import type { TaskSettings } from '#server/tasks/tasks.ts';
import type { TaskMembers } from '#schema/events/tasks.ts';
import { manualClock } from '#support/manual-clock.ts';
import { tasksOf } from '#support/tasks.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'service-code-tasks-'));
});
afterEach(() => rm(dir, { recursive: true }));

const members = (): TaskMembers => ({ kind: 'agent', agentId: 'agent-1', parentToolCallId: 'call_1' });
const BY_USER: TaskStop = { status: 'killed', by: 'user', reason: 'stopped by the user' };

/** A subagent that runs until the test ends it, or until it is aborted. */
function child() {
  let running: RunningTask | undefined;
  let end: (how: TaskEnd) => void = () => {};
  const ended = new Promise<TaskEnd>((resolve) => (end = resolve));
  return {
    get task() {
      return running ?? expect.unreachable('it did not start');
    },
    end,
    work(task: RunningTask): Promise<TaskEnd> {
      running = task;
      task.started(members);
      task.signal.addEventListener('abort', () => end({ status: 'stopped' }));
      return ended;
    },
  };
}

function setUp(settings: Partial<TaskSettings> = {}, clock?: Clock) {
  const records: Draft[] = [];
  const tasks = tasksOf(dir, settings, records, clock);
  const turn = new AbortController();
  const waiting = (more: Partial<WaitingCall> = {}): WaitingCall => ({
    signal: turn.signal,
    onTimeout: 'stop',
    released: ({ taskId }, by) => [
      event('main', 'tool.result', { turnId: 0, toolCallId: 'call_1', output: `${taskId} ${by}` }),
    ],
    ...more,
  });
  const spec = (more: Partial<TaskSpec> = {}): TaskSpec => ({
    kind: 'agent',
    agentId: 'main',
    description: ' Look around ',
    ...more,
  });
  return { tasks, turn, waiting, spec, types: () => records.map(({ type }) => type), records };
}

describe('a task that a call waits for', () => {
  test('is listed while it runs, without records, and readable afterwards', async () => {
    const { tasks, waiting, spec, types } = setUp();
    const one = child();
    const run = tasks.run(spec({ waiting: waiting() }), one.work);
    const { id } = one.task;
    expect(id).toMatch(/^agent-[0-9a-z]{8}$/);
    expect(tasks.all().map((task) => task.info())).toMatchObject([
      { taskId: id, status: 'running', detached: false, description: 'Look around', ...members() },
    ]);
    one.end({ status: 'completed', result: 'All fine.' });
    expect(await run).toMatchObject({ how: 'ended', end: { status: 'completed', result: 'All fine.' } });
    expect(tasks.get(id)?.info()).toMatchObject({ status: 'completed', endedAt: expect.any(Number) });
    expect(tasks.get(id)?.result()).toBe('All fine.');
    expect(tasks.running()).toBe(false);
    expect(types()).toEqual([]);
  });

  test('continues in the background after a detach, which is one line with the result of the call', async () => {
    const { tasks, waiting, spec, types, records, turn } = setUp();
    const one = child();
    const run = tasks.run(spec({ timeoutMs: 60_000, waiting: waiting({ detachedTimeoutMs: 600_000 }) }), one.work);
    const { id } = one.task;
    expect(tasks.detach(id)).toBe(true);
    expect(tasks.detach(id)).toBe(false);
    expect(await run).toMatchObject({ how: 'background', info: { taskId: id, detached: true, timeoutMs: 600_000 } });
    expect(types()).toEqual(['task.started', 'background.task.started', 'tool.result']);
    expect(records[2]).toMatchObject({ output: `${id} user` });
    turn.abort();
    expect(tasks.running()).toBe(true);
    const told: string[] = [];
    tasks.onEnded((task) => void told.push(task.info().status));
    one.end({ status: 'failed', result: 'no' });
    await tasks.get(id)?.ended;
    expect(types().slice(3)).toEqual(['task.terminated', 'background.task.terminated']);
    expect(told).toEqual(['failed']);
  });

  test('retains its output in memory afterwards, unless 50 others have ended since', async () => {
    const { tasks, waiting, spec } = setUp();
    for (let n = 0; n <= 50; n += 1) {
      await tasks.run(spec({ kind: 'process', waiting: waiting() }), async (task) => {
        task.started(() => ({ kind: 'process', command: 'x', pid: 1, exitCode: 0 }));
        task.output.write(Buffer.from(`output ${n}`));
        return { status: 'completed' };
      });
    }
    const kept = await Promise.all(tasks.all().map(({ output }) => output.tail(100)));
    expect(kept.slice(0, 3)).toEqual([undefined, 'output 1', 'output 2']);
    expect(kept.at(-1)).toBe('output 50');
  });

  test('ends with its turn', async () => {
    const { tasks, waiting, spec, turn, types } = setUp();
    const one = child();
    const run = tasks.run(spec({ waiting: waiting() }), one.work);
    turn.abort();
    expect(await run).toMatchObject({ how: 'ended', end: { status: 'stopped' }, stop: { by: 'turn' } });
    expect(tasks.get(one.task.id)?.info().status).toBe('killed');
    expect(types()).toEqual([]);
    await expect(tasks.run(spec({ waiting: waiting() }), one.work)).rejects.toThrow('aborted');
  });

  test.each(['stop', 'detach'] as const)('reaches its time-out: %s', async (onTimeout) => {
    const { tasks, waiting, spec } = setUp();
    const one = child();
    const call = waiting({ onTimeout, detachedTimeoutMs: 0 });
    const released = await tasks.run(spec({ timeoutMs: 5, waiting: call }), one.work);
    if (onTimeout === 'detach') {
      expect(released).toMatchObject({ how: 'background', info: { status: 'running' } });
      expect(released.info).not.toHaveProperty('timeoutMs');
    } else expect(released).toMatchObject({ how: 'ended', info: { status: 'timed_out' }, stop: { by: 'time' } });
    one.end({ status: 'completed' });
    await tasks.get(one.task.id)?.ended;
  });

  test('cannot be detached after a stop request', async () => {
    const { tasks, waiting, spec, types } = setUp();
    let end = () => {};
    const run = tasks.run(spec({ waiting: waiting() }), async (task) => {
      task.started(members);
      await new Promise<void>((resolve) => (end = resolve));
      return { status: 'stopped' };
    });
    const [task = expect.unreachable()] = tasks.all();
    const stopped = tasks.stop(task.info().taskId, BY_USER);
    expect(tasks.detach(task.info().taskId)).toBe(false);
    end();
    await stopped;
    expect(await run).toMatchObject({ how: 'ended', info: { status: 'killed', detached: false } });
    expect(types()).toEqual([]);
  });

  test('stays in the foreground when its detach cannot be recorded', async () => {
    const { tasks, waiting, spec, records } = setUp();
    const one = child();
    const run = tasks.run(spec({ timeoutMs: 60_000, waiting: waiting({ detachedTimeoutMs: 600_000 }) }), one.work);
    vi.spyOn(records, 'push').mockImplementationOnce(() => {
      throw new Error('no space');
    });
    expect(() => tasks.detach(one.task.id)).toThrow('no space');
    expect(tasks.get(one.task.id)?.info()).toMatchObject({ detached: false, timeoutMs: 60_000, status: 'running' });
    expect(tasks.detach(one.task.id)).toBe(true);
    expect(await run).toMatchObject({ how: 'background' });
    one.end({ status: 'completed' });
    await tasks.get(one.task.id)?.ended;
  });

  test('its own end takes precedence over concurrent stop requests', async () => {
    const { tasks, waiting, spec } = setUp();
    const one = child();
    const run = tasks.run(spec({ waiting: waiting() }), async (task) => {
      task.started(members);
      await new Promise((resolve) => task.signal.addEventListener('abort', resolve));
      return { status: 'completed' };
    });
    const [task] = tasks.all();
    await Promise.all([tasks.stop(task?.info().taskId ?? '', BY_USER), tasks.stop(task?.info().taskId ?? '', BY_USER)]);
    expect(await run).toMatchObject({ how: 'ended', info: { status: 'completed' } });
    expect(task?.info()).not.toHaveProperty('stopReason');
    one.end({ status: 'completed' });
  });
});

describe('a task in the background', () => {
  test('is recorded at its start, with the records of its caller, and at its end', async () => {
    const { tasks, spec, types, records } = setUp();
    const after = [event('main', 'subagent.started', { subagentId: 'agent-1' })];
    let end = () => {};
    const released = await tasks.run(spec(), async (task) => {
      task.started(members, { after });
      await new Promise<void>((resolve) => (end = resolve));
      return { status: 'completed', result: 'yes' };
    });
    const { taskId } = released.info;
    expect(released).toMatchObject({ how: 'background', info: { detached: true, endedAt: null } });
    expect(types()).toEqual(['task.started', 'background.task.started', 'subagent.started']);
    end();
    await tasks.get(taskId)?.ended;
    expect(records[3]).toMatchObject({ info: { taskId, status: 'completed' }, x: { outputTail: 'yes' } });
  });

  test('records the last 4 KiB of its output or reply with its end, in whole characters', async () => {
    const { tasks, spec, records } = setUp();
    const text = `${'x'.repeat(10_000)}end é`;
    for (const kind of ['process', 'agent'] as const) {
      const { info } = await tasks.run(spec({ kind }), async (task) => {
        task.started(() => (kind === 'agent' ? members() : { kind, command: 'x', pid: 1, exitCode: 0 }));
        if (kind === 'process') task.output.write(Buffer.from(text));
        return { status: 'completed', ...(kind === 'agent' ? { result: text } : {}) };
      });
      await tasks.get(info.taskId)?.ended;
      expect(records.at(-2)).toMatchObject({ type: 'task.terminated', x: { outputTail: text.slice(-4095) } });
    }
  });

  test('is stopped with a reason, and without a notification if silent', async () => {
    const { tasks, spec, records } = setUp();
    const one = child();
    const { info } = await tasks.run(spec(), one.work);
    await tasks.stop(info.taskId, { ...BY_USER, silent: true });
    expect(records.at(-1)).toMatchObject({
      info: { status: 'killed', stopReason: 'stopped by the user', terminalNotificationSuppressed: true },
    });
  });

  test.each([
    [false, true],
    [true, false],
  ])(
    'two stop requests, silent: %s, then %s: the first reason is recorded, without a notification',
    async (first, second) => {
      const { tasks, spec, records } = setUp();
      let end = () => {};
      const { info } = await tasks.run(spec(), async (task) => {
        task.started(members);
        await new Promise<void>((resolve) => (end = resolve));
        return { status: 'stopped' };
      });
      const both = [
        tasks.stop(info.taskId, { ...BY_USER, silent: first }),
        tasks.stop(info.taskId, { status: 'killed', by: 'close', reason: 'session closed', silent: second }),
      ];
      end();
      await Promise.all(both);
      expect(records.at(-1)).toMatchObject({
        info: { stopReason: 'stopped by the user', terminalNotificationSuppressed: true },
      });
    },
  );

  test('is given up when it has not ended 2 s after the grace time, whose default is 5 s', async () => {
    const clock = manualClock();
    const { tasks, spec, types } = setUp({}, clock);
    const { info } = await tasks.run(spec(), (task) => {
      task.started(members);
      return new Promise(() => {});
    });
    const stopped = tasks.stop(info.taskId, BY_USER);
    expect(clock.waits()).toEqual([7000]);
    clock.advance(6999);
    expect(tasks.get(info.taskId)?.info().status).toBe('running');
    clock.advance(1);
    await stopped;
    expect(tasks.get(info.taskId)?.info().status).toBe('killed');
    expect(types().filter((type) => type === 'task.terminated')).toHaveLength(1);
  });

  test('no more of them start than the limit allows; detaching is not limited', async () => {
    const { tasks, spec, waiting } = setUp({ maxRunning: 1 });
    const [one, other, third] = [child(), child(), child()];
    void tasks.run(spec({ waiting: waiting() }), other.work);
    await tasks.run(spec(), one.work);
    await expect(tasks.run(spec(), third.work)).rejects.toThrow('task.limit_exceeded');
    expect(tasks.detach(other.task.id)).toBe(true);
    one.end({ status: 'completed' });
    other.end({ status: 'completed' });
    await Promise.all(tasks.all().map(({ ended }) => ended));
    await tasks.run(spec(), third.work);
    third.end({ status: 'completed' });
  });

  test('one that fails before its start is not registered; one that fails later has failed', async () => {
    const { tasks, spec, types } = setUp();
    await expect(tasks.run(spec(), () => Promise.reject(new Error('no room')))).rejects.toThrow('no room');
    expect(tasks.all()).toEqual([]);
    const { info } = await tasks.run(spec(), async (task) => {
      task.started(members);
      throw new Error('broke');
    });
    await tasks.get(info.taskId)?.ended;
    expect(tasks.get(info.taskId)?.info().status).toBe('failed');
    expect(tasks.get(info.taskId)?.result()).toBe('broke');
    expect(types().at(-1)).toBe('background.task.terminated');
  });

  test('its end may be recorded on the line of its cause', async () => {
    const { tasks, spec, types } = setUp();
    let answer = () => {};
    const { info } = await tasks.run(spec({ kind: 'question' }), async (task) => {
      task.started(() => ({ kind: 'question', questionCount: 1 }));
      await new Promise<void>((resolve) => (answer = resolve));
      const end: TaskEnd = { status: 'completed', result: '{}' };
      expect(task.finish(end).map(({ type }) => type)).toEqual(['task.terminated', 'background.task.terminated']);
      expect(task.finish(end)).toEqual([]);
      return end;
    });
    answer();
    await tasks.get(info.taskId)?.ended;
    expect(types()).toEqual(['task.started', 'background.task.started']);
    expect(tasks.get(info.taskId)?.info().status).toBe('completed');
  });
});

describe('the end of the owner', () => {
  test('the end of an agent stops its tasks, silently', async () => {
    const { tasks, spec } = setUp();
    const [own, other] = [child(), child()];
    const { info } = await tasks.run(spec({ agentId: 'agent-1' }), own.work);
    await tasks.run(spec(), other.work);
    await tasks.endAgent('agent-1', 'subagent ended');
    expect(tasks.get(info.taskId)?.info()).toMatchObject({
      status: 'killed',
      stopReason: 'subagent ended',
      terminalNotificationSuppressed: true,
    });
    expect(tasks.running()).toBe(true);
    await tasks.close('idle');
    expect(tasks.running()).toBe(false);
  });

  test.each([
    ['exit', true, true],
    ['exit', false, false],
    ['archive', true, false],
  ] as const)(
    '%s, keep alive %s: a process that started in the background continues: %s',
    async (reason, keep, goesOn) => {
      const { tasks, spec, waiting } = setUp({ keepAliveOnExit: keep });
      let outlived = false;
      const moved = child();
      void tasks.run(spec({ waiting: waiting() }), moved.work);
      tasks.detach(moved.task.id);
      await tasks.run(spec({ kind: 'process' }), (task) => {
        const own = { command: 'x', pid: 1, exitCode: null };
        task.started(() => ({ kind: 'process', ...own }), { outlive: () => (outlived = true) });
        return new Promise((resolve) => task.signal.addEventListener('abort', () => resolve({ status: 'stopped' })));
      });
      await tasks.close(reason);
      expect(outlived).toBe(goesOn);
      expect(tasks.running()).toBe(goesOn);
      expect(tasks.get(moved.task.id)?.info()).toMatchObject({ status: 'killed', stopReason: 'session closed' });
    },
  );
});

describe('a task that does not end', () => {
  test.each([
    ['that is stopped with the server', false],
    ['that was being stopped when the server stopped', true],
  ])('%s is given up after 2.5 s', async (_what, stopped) => {
    const clock = manualClock();
    const { tasks, spec } = setUp({}, clock);
    const started = await tasks.run(spec({ kind: 'process' }), (task) => {
      task.started(() => ({ kind: 'process', command: 'x', pid: 1, exitCode: null }));
      return new Promise(() => undefined);
    });
    if (stopped) void tasks.stop(started.info.taskId, { status: 'killed', by: 'user', reason: 'stopped' });
    const closed = tasks.close('exit');
    clock.advance(2499);
    expect(tasks.running()).toBe(true);
    clock.advance(1);
    await closed;
    expect(tasks.running()).toBe(false);
  });
});

test('an id of an earlier run is not used again', async () => {
  const asked: string[] = [];
  const tasks = tasksOf(dir, {}, [], undefined, (id) => asked.push(id) < 3);
  const one = child();
  const { info } = await tasks.run({ kind: 'agent', agentId: 'main', description: 'Look' }, (task) => one.work(task));
  expect(asked).toHaveLength(3);
  expect(info.taskId).toBe(asked[2]);
  one.end({ status: 'completed' });
});
