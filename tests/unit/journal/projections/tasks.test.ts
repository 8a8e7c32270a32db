import { describe, expect, it } from 'vitest';
import { runningTasks } from '#server/journal/projections/tasks.ts';
import { event, internal, type CompleteDraft } from '#server/journal/records.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';
import { iso } from '#schema/scalars.ts';
import { folded } from './folded.ts';

const AT = iso(0);
const base = { description: '', status: 'running' as const, startedAt: 0, endedAt: null };
const command = (taskId: string): TaskInfo => ({
  ...base,
  taskId,
  kind: 'process',
  command: '',
  pid: 1,
  exitCode: null,
});
const child = (taskId: string, agentId: string): TaskInfo => ({ ...base, taskId, kind: 'agent', agentId });
const question: TaskInfo = { ...base, taskId: 'q1', kind: 'question', questionCount: 1 };
const identity = { machine: 'm', pid: 1, start: '2' };

const started = (info: TaskInfo, process = false) =>
  event('main', 'task.started', { info }, ...(process ? [{ process: identity }] : []));
const ended = (
  info: TaskInfo,
  status: TaskInfo['status'],
  x?: { outputTail: string; file?: { path: string; bytes: number } },
) => event('main', 'task.terminated', { info: { ...info, status } }, x);
const completed = (subagentId: string, resultSummary: string) =>
  event('main', 'subagent.completed', { subagentId, resultSummary });
const failed = (subagentId: string, error: string) => event('main', 'subagent.failed', { subagentId, error });

const task = (id: string, ...lines: CompleteDraft[]) => folded(...lines).tasks.tasks.get(id);

describe('a command', () => {
  const info = command('c1');
  it('runs with its process, and ends with its output but without the process', () => {
    const running = { agent: 'main', info, outputTail: '', process: identity };
    expect(task('c1', started(info, true))).toStrictEqual(running);
    expect(task('c1', started(info))).toStrictEqual({ agent: 'main', info, outputTail: '' });
    const file = { path: '/out', bytes: 7 };
    expect(task('c1', started(info, true), ended(info, 'completed', { outputTail: 'end', file }))).toStrictEqual({
      agent: 'main',
      info: { ...info, status: 'completed' },
      outputTail: 'end',
      file,
    });
    expect(task('c1', started(info, true), ended(info, 'failed'))).toStrictEqual({
      agent: 'main',
      info: { ...info, status: 'failed' },
      outputTail: '',
    });
  });

  it('that was lost with its server may still run', () => {
    expect(task('c1', started(info, true), ended(info, 'lost'))).toMatchObject({ process: identity });
    expect(task('c1', started(info), ended(info, 'lost'))).not.toHaveProperty('process');
    expect(task('c1', ended(info, 'lost'))).not.toHaveProperty('process');
  });

  it('of the original session has no process in a copy', () => {
    const lines = [started(info, true), internal('main', 'forked', { source: 's', kind: 'fork' as const })];
    expect(task('c1', ...lines)).not.toHaveProperty('process');
  });
});

describe('a subagent', () => {
  const lines = [started(child('a1', 'agent-0')), started(child('a2', 'agent-1')), started(command('c1'))];
  it('has its last reply or its error as the result, which its end preserves', () => {
    expect(task('a1', ...lines, completed('agent-0', 'reply'))).toMatchObject({ result: 'reply' });
    expect(task('a2', ...lines, failed('agent-1', 'why'))).toMatchObject({ result: 'why' });
    expect(task('a2', ...lines, completed('agent-0', 'reply'))).not.toHaveProperty('result');
    const end = ended(child('a1', 'agent-0'), 'completed', { outputTail: 'tail' });
    expect(task('a1', ...lines, completed('agent-0', 'reply'), end)).toMatchObject({
      result: 'reply',
      outputTail: 'tail',
    });
    expect(task('a1', ...lines, end)).not.toHaveProperty('result');
  });

  it('that runs again gives its result to the new task', () => {
    const again = [
      ended(child('a1', 'agent-0'), 'killed'),
      started(child('a3', 'agent-0')),
      completed('agent-0', 'reply'),
    ];
    expect(task('a1', ...lines, ...again)).not.toHaveProperty('result');
    expect(task('a3', ...lines, ...again)).toMatchObject({ result: 'reply' });
    const { tasks } = folded(completed('unknown', 'reply'), failed('unknown', 'why'));
    expect(tasks.tasks.size).toBe(0);
  });
});

describe('a question in the background', () => {
  const requested = (taskId?: string) =>
    event(
      'main',
      'event.question.requested',
      { question_id: 'q', session_id: 's', questions: [], created_at: AT },
      ...(taskId === undefined ? [] : [{ taskId }]),
    );
  const answered = event('main', 'event.question.answered', { question_id: 'q', answers: { a: 'b' }, resolved_at: AT });
  const dismissed = event('main', 'event.question.dismissed', { question_id: 'q', dismissed_at: AT });

  it('has its answers, which its end preserves; none if it was dismissed', () => {
    const lines = [started(question), requested('q1')];
    expect(task('q1', ...lines)).not.toHaveProperty('answers');
    expect(task('q1', ...lines, answered)).toMatchObject({ answers: { a: 'b' } });
    expect(task('q1', ...lines, dismissed)).toMatchObject({ answers: {} });
    expect(task('q1', ...lines, answered, dismissed)).toMatchObject({ answers: { a: 'b' } });
    expect(task('q1', ...lines, answered, ended(question, 'completed'))).toMatchObject({ answers: { a: 'b' } });
    expect(task('q1', ...lines, ended(question, 'completed'))).not.toHaveProperty('answers');
  });

  it('is not one that its turn waits for', () => {
    expect(task('q1', started(question), requested(), answered)).not.toHaveProperty('answers');
    expect(folded(requested('gone'), answered).tasks.tasks.size).toBe(0);
  });
});

it('the running tasks are in the order of their start', () => {
  const { tasks } = folded(
    started(command('a')),
    started(command('b')),
    started(command('c')),
    ended(command('b'), 'killed'),
  );
  expect(runningTasks(tasks).map(({ info }) => info.taskId)).toEqual(['a', 'c']);
});
