/** The records that close what an exited process left open. */
import { describe, expect, it } from 'vitest';
import { INTERRUPTED_RESULT, isSettled, settleCrash } from '#server/journal/crash-recovery.ts';
import { applyBatch, type LogState } from '#server/journal/fold.ts';
import { event, internal, recordOf, type CompleteDraft } from '#server/journal/records.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';
import { iso } from '#schema/scalars.ts';
import { folded } from './projections/folded.ts';

const AT = iso(0);
const content = [{ type: 'text' as const, text: 'hello' }];
const created = (agent: string) => event(agent, 'agent.created', {});
const turn = (agent = 'main', promptId?: string) =>
  event(agent, 'turn.started', { turnId: 3, origin: { kind: 'user' }, ...(promptId ? { promptId } : {}) });
const step = (agent = 'main') => event(agent, 'turn.step.started', { turnId: 3, step: 2, stepId: 's' });
const response = (...ids: string[]) =>
  internal('main', 'step.response', {
    turnId: 3,
    step: 2,
    stepId: 's',
    parts: [],
    calls: ids.map((id) => ({ id, name: 'Bash', arguments: '{}' })),
    model: 'm',
  });
const callStarted = (toolCallId: string) =>
  event('main', 'tool.call.started', { turnId: 3, toolCallId, name: 'Bash', args: {} });
const result = (toolCallId: string) => event('main', 'tool.result', { turnId: 3, toolCallId, output: '' });
const submitted = (promptId: string) =>
  event('main', 'prompt.submitted', { promptId, userMessageId: promptId, status: 'running', content, createdAt: AT });
const queued = (promptId: string) => event('main', 'prompt.queued', { promptId, content, queueLength: 1 });
const approvalWanted = (approval_id: string, agent = 'main') =>
  event(agent, 'event.approval.requested', {
    approval_id,
    session_id: 's',
    agent_id: agent,
    tool_call_id: 'c',
    tool_name: 'Bash',
    action: '',
    tool_input_display: { kind: 'generic', summary: '' },
    created_at: AT,
    expires_at: AT,
  });
const asked = (question_id: string, x?: { taskId: string }) =>
  event('main', 'event.question.requested', { question_id, session_id: 's', questions: [], created_at: AT }, x);
const spawned = (subagentId: string, agent = 'main') =>
  event(agent, 'subagent.spawned', {
    subagentId,
    subagentName: 'coder',
    parentToolCallId: '',
    runInBackground: false,
  });
const base = { description: '', status: 'running' as const, startedAt: 0, endedAt: null };
const command: TaskInfo = { ...base, taskId: 'c1', kind: 'process', command: '', pid: 7, exitCode: null };
const started = (info: TaskInfo, agent = 'main') => event(agent, 'task.started', { info });
const published = (busy: boolean, pending: 'none' | 'approval' = 'none', last?: 'cancelled') =>
  event('main', 'event.session.work_changed', {
    busy,
    main_turn_active: busy,
    pending_interaction: pending,
    ...(last ? { last_turn_reason: last } : {}),
  });

const drafts = (...lines: CompleteDraft[]) => settleCrash(folded(...lines));
/** Agent and type of each draft, and whether it is sent. */
const shown = (settling: CompleteDraft[]) =>
  settling.map(({ agent, type, unsent }) => `${agent} ${type}${unsent ? ' (unsent)' : ''}`);

/** Settling leaves nothing open. */
function closed(state: LogState): LogState {
  const records = settleCrash(state).map((draft) => recordOf(draft, undefined));
  applyBatch(state, { t: state.lastTime, records });
  expect(settleCrash(state)).toEqual([]);
  return state;
}

it('a journal in which nothing is open needs none', () => {
  expect(drafts()).toEqual([]);
  expect(drafts(created('main'), turn(), event('main', 'turn.ended', { turnId: 3, reason: 'completed' }))).toEqual([]);
  expect(isSettled(folded())).toBe(true);
  expect(isSettled(folded(turn()))).toBe(false);
  // Nothing runs, but a question or a prompt waits.
  expect(isSettled(folded(asked('q')))).toBe(false);
  expect(isSettled(folded(submitted('a')))).toBe(false);
});

describe('a turn', () => {
  it('ends as cancelled, its step before it, at the time of the last line', () => {
    const [interrupted, ended, ...more] = drafts(turn(), step());
    expect(interrupted).toEqual(
      event('main', 'turn.step.interrupted', {
        turnId: 3,
        step: 2,
        stepId: 's',
        reason: 'aborted',
        message: 'server stopped',
      }),
    );
    const fields = { turnId: 3, reason: 'cancelled', durationMs: 1000, interruptReason: 'aborted' } as const;
    expect(ended).toEqual(event('main', 'turn.ended', fields, { cause: 'server_stopped' }));
    expect(more).toEqual([]);
    expect(shown(drafts(turn()))).toEqual(['main turn.ended']);
  });

  it('has a result for each call without one; those that had not started are not sent', () => {
    const settling = drafts(turn(), step(), response('a', 'b', 'c'), callStarted('a'), callStarted('b'), result('a'));
    expect(shown(settling)).toEqual([
      'main tool.result',
      'main tool.result (unsent)',
      'main turn.step.interrupted',
      'main turn.ended',
    ]);
    expect(settling.slice(0, 2)).toMatchObject(
      ['b', 'c'].map((toolCallId) => ({
        turnId: 3,
        toolCallId,
        output: INTERRUPTED_RESULT,
        isError: true,
        synthetic: true,
      })),
    );
  });

  it('of a subagent ends before that of the main agent, the newest first', () => {
    const settling = drafts(
      created('main'),
      created('agent-0'),
      created('agent-1'),
      turn(),
      turn('agent-0'),
      turn('agent-1'),
    );
    expect(shown(settling)).toEqual(['agent-1 turn.ended', 'agent-0 turn.ended', 'main turn.ended']);
  });
});

describe('prompts', () => {
  it('are aborted, first that of the turn, then those that wait in their order', () => {
    const settling = drafts(
      submitted('a'),
      turn('main', 'a'),
      submitted('b'),
      queued('b'),
      submitted('c'),
      event('main', 'prompt.steered', {
        activePromptId: 'a',
        promptIds: ['b'],
        messageId: 'b',
        content,
        steeredAt: AT,
      }),
    );
    const aborted = settling.flatMap((draft) => (draft.type === 'prompt.aborted' ? [draft] : []));
    expect(aborted).toEqual(
      ['a', 'c'].map((promptId) => event('main', 'prompt.aborted', { promptId, abortedAt: iso(6000) })),
    );
    expect(shown(drafts(submitted('a')))).toEqual(['main prompt.aborted']);
    expect(shown(drafts(submitted('a'), queued('a')))).toEqual(['main prompt.aborted']);
  });

  it('that were steered enter the context, reminders as such', () => {
    const message = { role: 'user' as const, content, toolCalls: [], id: 'b', origin: { kind: 'user' as const } };
    const reminder = {
      role: 'user' as const,
      content,
      toolCalls: [],
      origin: { kind: 'injection' as const, variant: 'x', ownerPromptId: 'b' },
    };
    const fields = { activePromptId: 'a', promptIds: ['b'], messageId: 'b', content, steeredAt: AT };
    const state = folded(
      submitted('a'),
      turn('main', 'a'),
      submitted('b'),
      event('main', 'prompt.steered', fields, { message, reminders: [reminder] }),
    );
    const splices = settleCrash(state).flatMap((draft) => (draft.type === 'context.spliced' ? [draft] : []));
    expect(splices).toMatchObject([
      { start: 0, deleteCount: 0, messages: [reminder], x: { cause: 'reminder' } },
      { start: 1, deleteCount: 0, messages: [message], x: { cause: 'input', enters: 'step' } },
    ]);
    closed(state);
  });
});

describe('interactions', () => {
  it('end with their agent: approvals are cancelled, questions dismissed', () => {
    const settling = drafts(
      created('main'),
      created('agent-0'),
      approvalWanted('a'),
      approvalWanted('b', 'agent-0'),
      asked('q'),
    );
    expect(shown(settling)).toEqual([
      'agent-0 event.approval.resolved',
      'main event.approval.resolved',
      'main event.question.dismissed',
    ]);
    const at = iso(5000);
    const resolved = { approval_id: 'a', decision: 'cancelled', resolved_at: at } as const;
    expect(settling.slice(1)).toEqual([
      event('main', 'event.approval.resolved', resolved, { cause: 'server_stopped' }),
      event('main', 'event.question.dismissed', { question_id: 'q', dismissed_at: at }, { cause: 'server_stopped' }),
    ]);
  });

  it('of a background task end with that task', () => {
    const info: TaskInfo = { ...base, taskId: 'q1', kind: 'question', questionCount: 1 };
    const settling = drafts(started(info), asked('q', { taskId: 'q1' }), asked('other'));
    expect(shown(settling).slice(0, 3)).toEqual([
      'main event.question.dismissed',
      'main event.question.dismissed',
      'main task.terminated',
    ]);
    expect(settling).toMatchObject([{ question_id: 'other' }, { question_id: 'q' }, {}, {}, {}, {}]);
  });
});

it('a compaction is cancelled', () => {
  const settling = drafts(event('agent-0', 'compaction.started', { trigger: 'auto' }));
  expect(settling).toEqual([event('agent-0', 'compaction.cancelled', {}, { cause: 'server_stopped' })]);
});

describe('subagents', () => {
  it('of an agent fail, the newest first', () => {
    const settling = drafts(spawned('agent-0'), spawned('agent-1'), spawned('agent-2', 'agent-0'));
    const failed = (caller: string, subagentId: string) =>
      event(caller, 'subagent.failed', { subagentId, error: 'server stopped' }, { aborted: true });
    expect(settling).toEqual([failed('main', 'agent-1'), failed('main', 'agent-0')]);
    expect(drafts(created('agent-0'), spawned('agent-2', 'agent-0'))).toEqual([failed('agent-0', 'agent-2')]);
  });

  it('in the background fail with their task', () => {
    const info: TaskInfo = { ...base, taskId: 'a1', kind: 'agent', agentId: 'agent-0' };
    const settling = drafts(spawned('agent-0'), spawned('agent-1'), started(info));
    expect(settling).toMatchObject([
      { type: 'subagent.failed', subagentId: 'agent-1' },
      { type: 'subagent.failed', subagentId: 'agent-0', agent: 'main', x: { aborted: true } },
      { type: 'task.terminated' },
      { type: 'background.task.terminated' },
      { type: 'task.notified' },
      { type: 'context.spliced' },
    ]);
    expect(shown(drafts(started(info)))[0]).toBe('main task.terminated');
  });
});

describe('a background task', () => {
  it('is lost, and its agent is notified without a turn', () => {
    const state = folded(started(command, 'agent-0'));
    const settling = settleCrash(state);
    const lost: TaskInfo = { ...command, status: 'lost', endedAt: 1000 };
    expect(settling.slice(0, 2)).toEqual([
      event('agent-0', 'task.terminated', { info: lost }, { outputTail: '' }),
      event('agent-0', 'background.task.terminated', { info: lost }),
    ]);
    expect(shown(settling).slice(2)).toEqual(['agent-0 task.notified', 'agent-0 context.spliced']);
    expect(settling[3]).toMatchObject({ deleteCount: 0, x: { cause: 'input' } });
    expect(JSON.stringify(settling)).not.toContain('It may still run');
    closed(state);
  });

  it('whose process survives is reported as such', () => {
    const settling = settleCrash(folded(started(command)), new Set(['c1']));
    expect(JSON.stringify(settling[3])).toContain('It may still run, with pid 7');
    const other = settleCrash(folded(started(command)), new Set(['c2']));
    expect(JSON.stringify(other[3])).not.toContain('It may still run');
  });

  it('of which its agent must not hear is not reported', () => {
    const quiet = { ...command, terminalNotificationSuppressed: true };
    expect(shown(drafts(started(quiet)))).toEqual(['main task.terminated', 'main background.task.terminated']);
  });

  it('that had ended before is reported if its agent has not received it', () => {
    const state = folded(
      started(command),
      event('main', 'task.terminated', { info: { ...command, status: 'killed' } }),
    );
    expect(shown(settleCrash(state))).toEqual(['main task.notified', 'main context.spliced']);
    closed(state);
  });
});

it('a shell command of the user ends as failed', () => {
  const ids = { commandId: 'x', taskId: 't' };
  const settling = drafts(internal('main', 'shell.begun', { ...ids, command: 'ls' }));
  expect(settling).toEqual([internal('main', 'shell.ended', { ...ids, isError: true, outputTail: '' })]);
});

describe('clients that have the session as busy', () => {
  const work = (settling: CompleteDraft[]) =>
    settling.flatMap((draft) => (draft.type === 'event.session.work_changed' ? [draft] : []));
  const idle = { busy: false, main_turn_active: false, pending_interaction: 'none' } as const;

  it('receive that it is idle, last, with the outcome of the turn', () => {
    const settling = drafts(turn(), published(true));
    expect(settling.at(-1)).toEqual(
      event('main', 'event.session.work_changed', { ...idle, last_turn_reason: 'cancelled' }),
    );
    expect(work(settling)).toHaveLength(1);
  });

  it('receive the same of one that waits for an answer', () => {
    expect(work(drafts(asked('q'), published(false, 'approval')))).toEqual([
      event('main', 'event.session.work_changed', idle),
    ]);
    expect(work(drafts(published(true)))).toEqual([event('main', 'event.session.work_changed', idle)]);
  });

  it('receive the outcome of a turn that they do not know', () => {
    const cancelled = event('main', 'event.session.work_changed', { ...idle, last_turn_reason: 'cancelled' });
    expect(work(drafts(published(false), turn()))).toEqual([cancelled]);
    expect(work(drafts(published(false, 'none', 'cancelled'), turn()))).toEqual([]);
  });

  it('do not receive what they know', () => {
    expect(work(drafts(turn()))).toEqual([]);
    expect(work(drafts(published(true), published(false)))).toEqual([]);
    expect(work(drafts(published(false), event('agent-0', 'compaction.started', { trigger: 'auto' })))).toEqual([]);
  });
});
