/** Tasks on the page: when they are re-read, which can be moved, their display. */
import { describe, expect, it } from 'vitest';
import type { SessionTask, TranscriptTask } from '@service-code/client';
import { duration, isWaitedFor, shownTasks, taskChanges, waitingCalls } from '../../../web/features/tasks/tasks.ts';
import { step, tool, turn, viewOf } from './transcripts.ts';

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

it('the list is re-read when the transcript adds a task, or reports its end or its move to the background', () => {
  const told = (...tasks: Partial<TranscriptTask>[]) =>
    taskChanges(
      viewOf(
        tasks.map((more) => ({
          op: 'task.upsert',
          task: { taskId: 'bash-1', kind: 'shell', state: 'running', detached: false, outputTail: '', ...more },
        })),
      ),
    );
  const seen = [
    told(),
    told({}),
    told({ detached: true }),
    told({ state: 'completed' }),
    told({}, { taskId: 'bash-2' }),
  ];
  expect(new Set(seen).size).toBe(5);
  expect(told({}, { outputTail: 'more' })).toBe(told({}));
});

describe('a task that a call waits for', () => {
  const view = viewOf([
    turn(0),
    step(0, 1),
    tool('t0.1', 'b', { input: {} }),
    tool('t0.1', 'r', { input: {}, name: 'Read' }),
    tool('t0.1', 'a', { input: {}, name: 'Agent' }),
    tool('t0.1', 'd', { input: {}, state: 'done' }),
    tool('t0.1', 'w', { inputText: '{' }),
  ]);

  it('is one whose call runs', () => {
    expect(waitingCalls(view)).toEqual(['b', 'a']);
    expect(isWaitedFor(task('1', { parent_tool_call_id: 'b' }), view)).toBe(true);
    expect(isWaitedFor(task('1', { parent_tool_call_id: 'd' }), view)).toBe(false);
    expect(isWaitedFor(task('1', { parent_tool_call_id: 'b', status: 'completed' }), view)).toBe(false);
    expect(isWaitedFor(task('1'), view)).toBe(false);
  });
});

it('running tasks are first, then the newest of the others', () => {
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
