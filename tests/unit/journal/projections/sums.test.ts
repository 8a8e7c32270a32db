/** Small projections: counters, usage, interactions, and the fields of the index row. */
import { describe, expect, it } from 'vitest';
import { countersOf } from '#server/journal/projections/counters.ts';
import { event, internal, type CompleteDraft } from '#server/journal/records.ts';
import { iso } from '#schema/scalars.ts';
import { folded, SESSION_ID } from './folded.ts';

const AT = iso(0);
const usage = { inputOther: 1, output: 20, inputCacheRead: 300, inputCacheCreation: 4000 };
const times = (count: number) =>
  Object.fromEntries(Object.entries(usage).map(([key, tokens]) => [key, count * tokens]));
const turn = (turnId: number, agent = 'main') => event(agent, 'turn.started', { turnId, origin: { kind: 'user' } });
const response = (calls: string[] = [], more: { model?: string; usage?: typeof usage } = {}, agent = 'main') =>
  internal(agent, 'step.response', {
    turnId: 0,
    step: 1,
    stepId: 's',
    parts: [],
    calls: calls.map((id) => ({ id, name: 'Bash', arguments: '{}' })),
    model: 'm',
    ...more,
  });

describe('counters', () => {
  it('turns are numbered on from the highest that was started or skipped', () => {
    const next = (...lines: CompleteDraft[]) => countersOf(folded(...lines).counters, 'main').nextTurnId;
    expect(next()).toBe(0);
    expect(next(turn(0))).toBe(1);
    expect(next(turn(4), turn(2))).toBe(5);
    expect(next(turn(0), internal('main', 'turn.skipped', { turnId: 7 }))).toBe(8);
    expect(next(turn(3, 'agent-0'))).toBe(0);
  });

  it('the highest agent is that of the numbered names', () => {
    const highest = (...agents: string[]) =>
      folded(...agents.map((agent) => event(agent, 'agent.created', {}))).counters.highestAgent;
    expect([highest(), highest('main'), highest('agent-x', 'my-agent-9', 'agent-9b')]).toEqual([-1, -1, -1]);
    expect([highest('agent-0'), highest('main', 'agent-12', 'agent-3')]).toEqual([0, 12]);
  });

  it('the ids of calls are those of the agent, and of the one whose context it copied', () => {
    const { counters } = folded(
      response(['a', 'b']),
      response(['c'], {}, 'agent-0'),
      event(
        'agent-1',
        'context.spliced',
        { start: 0, deleteCount: 0, messages: [], tokens: 0 },
        { cause: 'copy', copyOf: 'main' },
      ),
      event(
        'agent-2',
        'context.spliced',
        { start: 0, deleteCount: 0, messages: [], tokens: 0 },
        { cause: 'copy', copyOf: 'none' },
      ),
    );
    const ids = (agent: string) => [...countersOf(counters, agent).toolCallIds];
    expect(['main', 'agent-0', 'agent-1', 'agent-2', 'none'].map(ids)).toEqual([['a', 'b'], ['c'], ['a', 'b'], [], []]);
  });

  it('a splice that copies no context creates no counters', () => {
    const fields = { start: 0, deleteCount: 0, messages: [], tokens: 0 };
    const { counters } = folded(
      event('agent-0', 'context.spliced', fields, { cause: 'input' }),
      event('agent-0', 'context.spliced', fields),
    );
    expect(counters.agents.size).toBe(0);
  });

  it('lists of tools are known by their hashes', () => {
    const { counters } = folded(
      internal('main', 'agent.tools', { sha256: 'one', text: '[]' }),
      internal('main', 'mcp.tools', { serverName: 'x', hash: 'two', text: '[]', enabledNames: [] }),
    );
    expect([...counters.toolHashes]).toEqual(['one', 'two']);
  });
});

describe('usage', () => {
  it('is summed up for each agent and model, and for the running turn', () => {
    const { usage: sums } = folded(
      response([], { usage }),
      turn(0),
      response([], { usage }),
      response([], { usage, model: 'other' }),
      response(),
      internal('main', 'usage.recorded', { model: 'm', usage, scope: 'turn', purpose: 'x' }),
      internal('main', 'usage.recorded', { model: 'm', usage, scope: 'session', purpose: 'x' }),
      response([], { usage }, 'agent-0'),
      turn(0, 'agent-1'),
    );
    expect(sums.get('main')).toEqual({
      total: times(5),
      byModel: { m: times(4), other: times(1) },
      currentTurn: times(3),
    });
    expect(sums.get('agent-0')).toEqual({ total: times(1), byModel: { m: times(1) }, currentTurn: times(1) });
    expect(sums.has('agent-1')).toBe(false);
  });
});

describe('interactions', () => {
  const approval = (approval_id: string) => ({
    approval_id,
    session_id: 's',
    agent_id: 'main',
    tool_call_id: 'c',
    tool_name: 'Bash',
    action: '',
    tool_input_display: { kind: 'generic' as const, summary: '' },
    created_at: AT,
    expires_at: AT,
  });
  const asked = (id: string, agent = 'main') => event(agent, 'event.approval.requested', approval(id));
  const resolved = (approval_id: string, cause?: 'timed_out' | 'disposed') =>
    event(
      'main',
      'event.approval.resolved',
      { approval_id, decision: 'cancelled', resolved_at: AT },
      ...(cause ? [{ cause }] : []),
    );
  const question = { question_id: 'q', session_id: 's', questions: [], created_at: AT };
  const requested = (x?: { taskId: string }) => event('agent-0', 'event.question.requested', question, x);

  it('wait as they were requested, for the agent that asks', () => {
    const { interactions } = folded(asked('a', 'agent-0'), requested());
    expect([...interactions.approvals]).toEqual([['a', { agent: 'agent-0', approval: approval('a') }]]);
    expect([...interactions.questions]).toStrictEqual([['q', { agent: 'agent-0', question }]]);
    expect(folded(requested({ taskId: 't' })).interactions.questions.get('q')).toMatchObject({ taskId: 't' });
  });

  it('end as resolved or expired', () => {
    const { interactions } = folded(
      ...['a', 'b', 'c'].map((id) => asked(id)),
      requested(),
      resolved('a'),
      resolved('b', 'timed_out'),
      resolved('c', 'disposed'),
      event('main', 'event.question.dismissed', { question_id: 'q', dismissed_at: AT }, { cause: 'timed_out' }),
    );
    expect(interactions.approvals.size + interactions.questions.size).toBe(0);
    expect(Object.fromEntries(interactions.ended)).toEqual({
      a: 'resolved',
      b: 'expired',
      c: 'resolved',
      q: 'expired',
    });
    const answered = event('main', 'event.question.answered', { question_id: 'q', answers: {}, resolved_at: AT });
    expect(Object.fromEntries(folded(requested(), answered).interactions.ended)).toEqual({ q: 'resolved' });
  });

  it('the last 256 ends are known', () => {
    const { interactions } = folded(...Array.from({ length: 258 }, (_, index) => resolved(`a${index}`)));
    expect(interactions.ended.size).toBe(256);
    expect([interactions.ended.has('a1'), interactions.ended.has('a2')]).toEqual([false, true]);
  });
});

describe('the fields of the index row', () => {
  const meta = (fields: { title?: string; lastPrompt?: string }, titleKind?: 'custom') => {
    const { title, lastPrompt } = fields;
    return event(
      'main',
      'session.meta.updated',
      { ...(title === undefined ? {} : { title }), patch: lastPrompt === undefined ? {} : { lastPrompt } },
      ...(titleKind ? [{ titleKind }] : []),
    );
  };
  const ended = (agent = 'main', x?: { cause: 'server_stopped' }) =>
    event(agent, 'turn.ended', { turnId: 0, reason: 'completed' }, x);
  const index = (...lines: CompleteDraft[]) => folded(...lines).index;

  it('are those of the header before any record', () => {
    expect(index()).toEqual({
      workspaceId: '',
      cwd: '',
      title: '',
      titleKind: 'replaceable',
      lastPrompt: undefined,
      createdAt: 0,
      updatedAt: 0,
      forkedFrom: undefined,
      custom: {},
    });
    expect(SESSION_ID).toBe(folded().messages.sessionId);
  });

  it('a title has a kind, which only another kind changes', () => {
    expect(index(meta({ title: 'a' }))).toMatchObject({ title: 'a', titleKind: 'replaceable', updatedAt: 0 });
    expect(index(meta({ title: 'a' }, 'custom'), meta({ title: 'b' }))).toMatchObject({
      title: 'b',
      titleKind: 'custom',
    });
    expect(index(meta({ title: 'a' }), meta({ lastPrompt: 'p' }))).toMatchObject({ title: 'a' });
  });

  it('a prompt and the end of a turn of the main agent are updates, other records are none', () => {
    expect(index(meta({ title: 'a' }), meta({ lastPrompt: 'p' }))).toMatchObject({ lastPrompt: 'p', updatedAt: 2000 });
    expect(index(meta({ lastPrompt: 'p' }), meta({ title: 'a' }))).toMatchObject({ lastPrompt: 'p', updatedAt: 1000 });
    expect(index(meta({ lastPrompt: 'p' }), meta({ lastPrompt: '' })).lastPrompt).toBeUndefined();
    expect(index(turn(0), ended()).updatedAt).toBe(2000);
    expect(index(turn(0), ended('agent-0')).updatedAt).toBe(0);
    expect(index(turn(0), ended('main', { cause: 'server_stopped' })).updatedAt).toBe(0);
  });
});
