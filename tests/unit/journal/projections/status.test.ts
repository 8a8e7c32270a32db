/** Running operations, as status, snapshot and crash recovery read them. */
import { describe, expect, it } from 'vitest';
import { event, internal, type CompleteDraft } from '#server/journal/records.ts';
import { folded } from './folded.ts';

const MAIN = 'main';
const turn = (promptId?: string) =>
  event(MAIN, 'turn.started', {
    turnId: 3,
    origin: { kind: 'user' },
    ...(promptId === undefined ? {} : { promptId }),
  });
const step = event(MAIN, 'turn.step.started', { turnId: 3, step: 2, stepId: 's' });
const response = (...ids: string[]) =>
  internal(MAIN, 'step.response', {
    turnId: 3,
    step: 2,
    stepId: 's',
    parts: [],
    calls: ids.map((id) => ({ id, name: 'Bash', arguments: '{}' })),
    model: 'm',
  });
const callStarted = (
  toolCallId: string,
  more: { description?: string; display?: { kind: 'generic'; summary: string } } = {},
) => event(MAIN, 'tool.call.started', { turnId: 3, toolCallId, name: 'Bash', args: { command: 'ls' }, ...more });
const result = (toolCallId: string) => event(MAIN, 'tool.result', { turnId: 3, toolCallId, output: '' });
const turnEnded = event(MAIN, 'turn.ended', { turnId: 3, reason: 'completed' });

const status = (...lines: CompleteDraft[]) => folded(...lines).status;
const main = (...lines: CompleteDraft[]) => status(...lines).agents.get(MAIN);

describe('the turn of an agent', () => {
  it('has its start, its prompt and its step until it ends', () => {
    expect(main(turn())?.turn).toStrictEqual({ turnId: 3, startedAt: 1000 });
    expect(main(turn('p'))?.turn).toStrictEqual({ turnId: 3, startedAt: 1000, promptId: 'p' });
    expect(main(turn(), step)?.turn?.step).toStrictEqual({ step: 2, stepId: 's', calls: new Map() });
    expect(main(turn(), step, turnEnded)?.turn).toBeUndefined();
    expect(main(step)?.turn).toBeUndefined();
  });

  it.each([
    event(MAIN, 'turn.step.completed', { turnId: 3, step: 2, stepId: 's', finishReason: 'end_turn' }),
    event(MAIN, 'turn.step.interrupted', { turnId: 3, step: 2, stepId: 's', reason: 'aborted' }),
  ])('has no step after its $type', (end) => {
    expect(main(turn(), step, end)?.turn).toMatchObject({ turnId: 3, step: undefined });
    expect(main(end)?.turn).toBeUndefined();
  });

  it('has the calls without a result, and whether they started', () => {
    const calls = (...lines: CompleteDraft[]) =>
      Object.fromEntries(main(turn(), step, ...lines)?.turn?.step?.calls ?? []);
    expect(calls(response('a', 'b'), callStarted('b'))).toEqual({ a: { started: false }, b: { started: true } });
    expect(calls(response('a', 'b'), callStarted('a'), result('a'))).toEqual({ b: { started: false } });
    expect(calls(response('a'), result('a'))).toEqual({});
    // A response without a step has none.
    expect(main(turn(), response('a'))?.turn).toStrictEqual({ turnId: 3, startedAt: 1000 });
  });
});

describe('running tools', () => {
  it('are those between start and result, as clients receive them', () => {
    const display = { kind: 'generic' as const, summary: 'lists' };
    const { runningTools } =
      main(turn(), step, response('a', 'b'), callStarted('b', { description: 'd', display }), callStarted('a')) ?? {};
    const tool = { name: 'Bash', args: { command: 'ls' } };
    expect([...(runningTools ?? [])]).toStrictEqual([
      ['b', { tool_call_id: 'b', ...tool, description: 'd', display }],
      ['a', { tool_call_id: 'a', ...tool }],
    ]);
  });

  it('end with their result or their turn', () => {
    const left = (...lines: CompleteDraft[]) => [...(main(turn(), step, ...lines)?.runningTools.keys() ?? [])];
    expect(left(callStarted('a'), callStarted('b'), result('a'))).toEqual(['b']);
    expect(left(callStarted('a'), turnEnded)).toEqual([]);
    // A call of a step without a turn is running all the same.
    expect([...(main(callStarted('a'))?.runningTools.keys() ?? [])]).toEqual(['a']);
  });
});

it('a compaction runs from its start to its end', () => {
  const begun = event(MAIN, 'compaction.started', { trigger: 'auto' });
  expect(main(turn(), begun)?.compaction).toEqual({ startedAt: 2000 });
  const result = { summary: '', compactedCount: 0, tokensBefore: 0, tokensAfter: 0 };
  for (const end of [event(MAIN, 'compaction.completed', { result }), event(MAIN, 'compaction.cancelled', {})]) {
    expect([end.type, main(begun, end)]).toStrictEqual([end.type, { runningTools: new Map() }]);
  }
});

it('agents are listed as they were created, with their internal members', () => {
  const created = (agent: string, x?: Parameters<typeof event<'agent.created'>>[3]) =>
    event(agent, 'agent.created', {}, x);
  const { agents } = status(
    created(MAIN),
    created('agent-1', { kind: 'sub', label: 'l' }),
    created('agent-0'),
    created('agent-1'),
  );
  expect([...agents]).toStrictEqual([
    [MAIN, { runningTools: new Map() }],
    ['agent-1', { runningTools: new Map(), birth: { kind: 'sub', label: 'l' } }],
    ['agent-0', { runningTools: new Map() }],
  ]);
});

it('subagents run until they complete or fail', () => {
  const spawned = (subagentId: string, agent = MAIN) =>
    event(agent, 'subagent.spawned', {
      subagentId,
      subagentName: 'coder',
      parentToolCallId: '',
      runInBackground: false,
    });
  const { subagents } = status(
    spawned('a'),
    spawned('b', 'a'),
    spawned('c'),
    spawned('d'),
    event(MAIN, 'subagent.completed', { subagentId: 'a', resultSummary: '' }),
    event(MAIN, 'subagent.failed', { subagentId: 'c', error: '' }),
  );
  expect([...subagents]).toEqual([
    ['b', { caller: 'a' }],
    ['d', { caller: MAIN }],
  ]);
});

it('shell commands of the user run until they end', () => {
  const begun = (commandId: string) => internal(MAIN, 'shell.begun', { commandId, taskId: 't', command: 'ls' });
  const ended = internal(MAIN, 'shell.ended', { commandId: 'a', taskId: 't', isError: false, outputTail: '' });
  const { shells } = status(begun('a'), begun('b'), ended);
  expect([...shells]).toMatchObject([['b', { agent: MAIN, commandId: 'b', taskId: 't', command: 'ls' }]]);
});

it('a copy of a copy has both originals as ancestors, the oldest first', () => {
  const forked = (source: string) => internal(MAIN, 'forked', { source, kind: 'fork' });
  expect(status(forked('a'), forked('b')).ancestors).toEqual(['a', 'b']);
});
