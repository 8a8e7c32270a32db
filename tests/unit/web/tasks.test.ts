/** Tasks on the page: when they are read again, which can be moved, how they are shown. */
import { describe, expect, it } from 'vitest';
import type { SessionTask } from '../../../web/client/types.ts';
import { duration, isWaitedFor, shownTasks, tasksPart, waitingCalls } from '../../../web/features/tasks/tasks.ts';
import { frameMaker, play, snapshot, type Draft } from './session-frames.ts';

const AT = '2026-01-02T03:04:05.000Z';
const task = (id: string, more: Partial<SessionTask> = {}): SessionTask => ({
  id,
  session_id: 'session_1',
  kind: 'bash',
  description: 'Build it',
  status: 'running',
  created_at: AT,
  started_at: AT,
  ...more,
});

const info = {
  taskId: 'bash-1',
  description: 'Build it',
  status: 'running',
  startedAt: 1,
  endedAt: null,
  kind: 'process',
  command: 'make',
  pid: 7,
  exitCode: null,
} as const;

it('the list is read again when a task of the main agent begins or ends, and after a snapshot', () => {
  const frame = frameMaker();
  const after = (draft: Draft) => tasksPart.event?.(0, frame(draft));
  expect(after({ type: 'task.started', payload: { info } })).toBe(1);
  expect(after({ type: 'task.terminated', payload: { info } })).toBe(1);
  expect(after({ type: 'task.started', payload: { info }, agent: 'agent-1' })).toBe(0);
  expect(after({ type: 'background.task.started', payload: { info } })).toBe(0);
  expect(tasksPart.snapshot?.(4, snapshot())).toBe(5);
});

describe('a task that a call waits for', () => {
  const call = (id: string, name: string): Draft => ({
    type: 'tool.call.started',
    payload: { turnId: 0, toolCallId: id, name, args: {} },
  });
  const view = play([
    { type: 'turn.started', payload: { turnId: 0, origin: { kind: 'user' } } },
    { type: 'turn.step.started', payload: { turnId: 0, step: 1, stepId: 's1' } },
    call('b', 'Bash'),
    call('r', 'Read'),
    call('a', 'Agent'),
    call('d', 'Bash'),
    { type: 'tool.result', payload: { turnId: 0, toolCallId: 'd', output: '' } },
  ]);

  it('is one whose call runs', () => {
    expect(waitingCalls(view)).toEqual(['b', 'a']);
    expect(isWaitedFor(task('1', { parent_tool_call_id: 'b' }), view)).toBe(true);
    expect(isWaitedFor(task('1', { parent_tool_call_id: 'd' }), view)).toBe(false);
    expect(isWaitedFor(task('1', { parent_tool_call_id: 'b', status: 'completed' }), view)).toBe(false);
    expect(isWaitedFor(task('1'), view)).toBe(false);
  });
});

it('running tasks come first, then the newest of the others', () => {
  const list = [task('1', { status: 'completed' }), task('2'), task('3', { status: 'failed' }), task('4')];
  expect(shownTasks(list, 10).map(({ id }) => id)).toEqual(['2', '4', '3', '1']);
  expect(shownTasks(list, 1).map(({ id }) => id)).toEqual(['2', '4', '3']);
});

it.each([
  [4, '4 s'],
  [125, '2 min'],
  [3900, '1 h 5 min'],
])('%i s are %s', (seconds, shown) => {
  const now = Date.parse(AT) + seconds * 1000;
  expect(duration(task('1'), now)).toBe(shown);
  expect(duration(task('1', { completed_at: new Date(now).toISOString() }), now + 99_000)).toBe(shown);
});
