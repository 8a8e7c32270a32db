/** Entities in addition to the timeline: prompts, the todo list, subagents; and the usage of a turn. */
import { describe, expect, it } from 'vitest';
import { event, type EventRecord } from '#server/journal/records.ts';
import type { ContentPart } from '#schema/rest/content.ts';
import { answer, AT, ended, startFold, step, T, turn } from './told.ts';

const MAIN = 'main';
const LATER = new Date(T + 500).toISOString();

describe('prompts', () => {
  const content = (text: string): ContentPart[] => [{ type: 'text', text }];
  const submitted = (promptId: string, status: 'running' | 'queued' | 'blocked' = 'queued') =>
    event(MAIN, 'prompt.submitted', {
      promptId,
      userMessageId: promptId,
      status,
      content: content(`text of ${promptId}`),
      createdAt: AT,
    });
  const steered = (activePromptId: string, ...promptIds: string[]) =>
    event(MAIN, 'prompt.steered', {
      activePromptId,
      promptIds,
      messageId: promptIds[0] ?? '',
      content: promptIds.flatMap((id) => content(`text of ${id}`)),
      steeredAt: LATER,
    });
  const prompt = (promptId: string, more: object) => ({
    op: 'prompt.upsert',
    prompt: { promptId, userMessageId: promptId, content: content(`text of ${promptId}`), createdAt: AT, ...more },
  });
  const absorbed = { status: 'completed', steeredAt: LATER, finishedAt: LATER };
  const merged = (...ids: string[]) => ({
    status: 'running',
    content: ids.flatMap((id) => content(`text of ${id}`)),
    steeredAt: LATER,
  });

  it('wait, start with their turn and settle; settled ones are not listed', () => {
    const { tell, state } = startFold();
    expect(tell(submitted('p0'))).toEqual([prompt('p0', { status: 'queued' })]);
    const begun = tell(turn({ promptId: 'p0' }));
    expect(begun[0]).toEqual(prompt('p0', { status: 'running' }));
    const finished = { promptId: 'p0', finishedAt: LATER };
    for (const reason of ['completed', 'failed', 'blocked'] as const) {
      tell(submitted('p0', 'running'));
      expect([...state.prompts.keys()]).toEqual(['p0']);
      expect(tell(event(MAIN, 'prompt.completed', { ...finished, reason }))).toEqual([
        prompt('p0', { status: reason, finishedAt: LATER }),
      ]);
      expect(state.prompts.size).toBe(0);
    }
    tell(submitted('p0', 'running'));
    expect(tell(event(MAIN, 'prompt.aborted', { promptId: 'p0', abortedAt: LATER }))).toEqual([
      prompt('p0', { status: 'aborted', finishedAt: LATER }),
    ]);
    // A prompt without an entity, such as the instructions of a subagent.
    expect(tell(event(MAIN, 'prompt.completed', { ...finished, reason: 'completed' }))).toEqual([]);
  });

  it("that are steered into a running turn are completed; their content is appended to the turn's prompt", () => {
    const { tell, state } = startFold();
    tell(submitted('p0', 'running'), turn({ promptId: 'p0' }), submitted('p1'), submitted('p2'), submitted('p3'));
    expect(tell(steered('p0', 'p1', 'p3'))).toEqual([
      prompt('p0', merged('p0', 'p1', 'p3')),
      prompt('p1', absorbed),
      prompt('p3', absorbed),
    ]);
    expect([...state.prompts.keys()]).toEqual(['p0', 'p2']);
    expect(tell(steered('p0', 'p2'))).toEqual([prompt('p0', merged('p0', 'p1', 'p3', 'p2')), prompt('p2', absorbed)]);
    const { content: all } = merged('p0', 'p1', 'p3', 'p2');
    expect(tell(event(MAIN, 'prompt.completed', { promptId: 'p0', finishedAt: LATER, reason: 'completed' }))).toEqual([
      prompt('p0', { status: 'completed', content: all, steeredAt: LATER, finishedAt: LATER }),
    ]);
  });

  it("the first that is steered into a turn without a prompt becomes the turn's prompt", () => {
    const { tell, state } = startFold();
    tell(turn({ origin: { kind: 'system_trigger', name: 'goal_continuation' } }), submitted('p1'), submitted('p2'));
    expect(tell(steered('p1', 'p1', 'p2'))).toEqual([prompt('p1', merged('p1', 'p2')), prompt('p2', absorbed)]);
    tell(submitted('p3'));
    expect(tell(steered('p1', 'p3'))).toEqual([prompt('p1', merged('p1', 'p2', 'p3')), prompt('p3', absorbed)]);
    expect([...state.prompts.keys()]).toEqual(['p1']);
  });
});

describe('the todo list', () => {
  const todos = [{ title: 'Look', status: 'pending' as const }];
  const admitted = (toolCallId: string, args: unknown = { todos }, name = 'TodoList') =>
    event(MAIN, 'tool.call.started', { turnId: 0, toolCallId, name, args });
  const result = (toolCallId: string, items?: typeof todos) =>
    event(
      MAIN,
      'tool.result',
      { turnId: 0, toolCallId, output: 'x', ...(items ? {} : { isError: true as const }) },
      items ? { todos: items } : undefined,
    );
  const calls = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'].map((id) => ({ id, name: id === 'c5' ? 'Bash' : 'TodoList' }));

  /** A fold with calls that have not started. */
  function calling() {
    const told = startFold();
    told.tell(turn(), step(), answer([], calls));
    return told;
  }

  it('is referred to by the call that wrote it, and by each later call with a list', () => {
    const { tell, state, call } = calling();
    const todo = { todoId: 'todo', items: todos, updatedAt: AT };
    tell(admitted('c1'));
    // The list in its arguments is not written yet.
    expect(call('c1')).not.toHaveProperty('todoId');
    expect(tell(result('c1', todos))).toEqual([
      expect.objectContaining({
        op: 'frame.upsert',
        frame: expect.objectContaining({ todoId: 'todo', state: 'done' }),
      }),
      { op: 'todo.upsert', todo },
    ]);
    expect(tell(admitted('c2'))).toEqual([expect.objectContaining({ op: 'frame.upsert' })]);
    expect(call('c2')).toMatchObject({ todoId: 'todo', state: 'running', input: { todos } });
    tell(
      admitted('c3', {}),
      admitted('c4', { todos: [{ title: 'x', status: 'later' }] }),
      admitted('c5', { todos }, 'Bash'),
    );
    for (const id of ['c3', 'c4', 'c5']) expect(call(id)).not.toHaveProperty('todoId');
    // A failed call writes no list, and refers to the existing one.
    tell(result('c2'));
    expect(call('c2')).toMatchObject({ todoId: 'todo', state: 'error' });
    expect([...state.todos.values()]).toEqual([todo]);
    tell(admitted('c6', { todos: [] }), result('c6', []));
    expect([...state.todos.values()]).toEqual([{ ...todo, items: [] }]);
  });

  it('is not referred to by a call that failed or was interrupted before a list existed', () => {
    const { tell, state, call } = calling();
    tell(admitted('c1'), result('c1'), admitted('c2'), ended('cancelled'));
    expect([call('c1')?.state, call('c2')?.state]).toEqual(['error', 'error']);
    for (const id of ['c1', 'c2']) expect(call(id)).not.toHaveProperty('todoId');
    expect(state.todos.size).toBe(0);
  });
});

describe('subagents', () => {
  const spawned = (more: Partial<EventRecord<'subagent.spawned'>> = {}) =>
    event(MAIN, 'subagent.spawned', {
      subagentId: 'agent-1',
      subagentName: 'coder',
      parentToolCallId: 'c1',
      description: 'count words',
      runInBackground: false,
      taskId: 'agent-k1',
      ...more,
    } as never);
  const suspended = (reason: string) => event(MAIN, 'subagent.suspended', { subagentId: 'agent-1', reason });
  const usage = { inputOther: 1, output: 2, inputCacheRead: 3, inputCacheCreation: 4 };
  const task = {
    taskId: 'agent-k1',
    kind: 'subagent',
    state: 'running',
    detached: false,
    description: 'count words',
    agentId: 'agent-1',
    outputTail: '',
    startedAt: AT,
  };

  function calling() {
    const told = startFold();
    told.tell(turn(), step(), answer([], [{ id: 'c1', name: 'Agent' }]));
    return told;
  }

  it('that wait have the reason, also after they have ended', () => {
    const { tell, call } = calling();
    tell(spawned());
    expect(call('c1')).toMatchObject({ taskId: 'agent-k1', agentRefs: [{ agentId: 'agent-1', role: 'child' }] });
    const waiting = { ...task, stateReason: 'rate limited' };
    expect(tell(suspended('rate limited'))).toEqual([{ op: 'task.upsert', task: waiting }]);
    const completed = event(MAIN, 'subagent.completed', { subagentId: 'agent-1', resultSummary: 'Two.', usage });
    const over = { ...waiting, state: 'completed', endedAt: AT, resultSummary: 'Two.', usage };
    expect(tell(completed)).toEqual([{ op: 'task.upsert', task: over }]);
    expect(tell(suspended('again'))).toEqual([]);
  });

  it('that fail have the error; an abort marks them as killed', () => {
    const { tell } = calling();
    tell(spawned());
    const failed = { subagentId: 'agent-1', error: 'no luck' };
    expect(tell(event(MAIN, 'subagent.failed', failed))).toEqual([
      { op: 'task.upsert', task: { ...task, state: 'failed', endedAt: AT, error: 'no luck' } },
    ]);
    tell(spawned({ taskId: 'agent-k2' }));
    expect(tell(event(MAIN, 'subagent.failed', failed, { aborted: true }))).toEqual([
      {
        op: 'task.upsert',
        task: { ...task, taskId: 'agent-k2', state: 'killed', endedAt: AT, error: 'no luck' },
      },
    ]);
  });

  it('without a task have a row under their own id; a resumed one is referenced a single time', () => {
    const { tell, state, call } = calling();
    tell(spawned({ taskId: undefined }));
    expect([...state.tasks.keys()]).toEqual(['agent-1']);
    tell(spawned(), spawned({ taskId: 'agent-k2' }));
    expect([...state.tasks.keys()]).toEqual(['agent-1', 'agent-k1', 'agent-k2']);
    expect(call('c1')?.agentRefs).toEqual([{ agentId: 'agent-1', role: 'child' }]);
  });
});

it('the usage of a turn is the sum of its steps, with the cache separate', () => {
  const { tell, state } = startFold();
  const spent = (number: number, n: number) =>
    event(MAIN, 'turn.step.completed', {
      turnId: 0,
      step: number,
      stepId: `s${number}`,
      finishReason: 'tool_use',
      usage: { inputOther: n, output: 10 * n, inputCacheRead: 100 * n, inputCacheCreation: 1000 * n },
    });
  tell(turn(), step(1), spent(1, 1), step(2), spent(2, 2), step(3), ended('completed'));
  expect(state.items).toMatchObject([{ usage: { inputTokens: 3003, outputTokens: 30, cachedTokens: 300 } }]);
});

it('a turn without usage in its steps has no usage', () => {
  const { tell, state } = startFold();
  tell(turn(), step(1), ended('failed'));
  expect(state.items[0]).not.toHaveProperty('usage');
});
