import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Draft } from '#server/journal/records.ts';
import { APPROVAL_LIFETIME_MS, createApprovals, type ApprovalQuestion } from '#server/agent/approvals.ts';
import { createWorkState } from '#server/agent/work-state.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

function registry() {
  const appended: Draft[] = [];
  const approvals = createApprovals({
    sessionId: 's',
    work: createWorkState(() => ({ busy: true, main_turn_active: true, pending_interaction: 'none' })),
    append: (drafts) => void appended.push(...drafts),
    now: Date.now,
    lifetimeMs: APPROVAL_LIFETIME_MS,
  });
  return { approvals, appended, types: () => appended.map(({ type }) => type) };
}

const question = (more: Partial<ApprovalQuestion> = {}): ApprovalQuestion => ({
  agentId: 'main',
  turnId: 0,
  toolCallId: 'c',
  toolName: 'Bash',
  action: 'Running: x',
  display: { kind: 'command', command: 'x' },
  toolInput: { command: 'x' },
  ...more,
});
const signal = () => new AbortController().signal;

describe('expiry', () => {
  it('comes after 24 hours, not before', async () => {
    const { approvals } = registry();
    const { id, answer } = approvals.ask(question(), signal());
    vi.advanceTimersByTime(24 * 60 * 60 * 1000 - 1);
    expect(approvals.pending()).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(await answer).toEqual({ decision: 'cancelled', feedback: 'approval timed out' });
    expect(() => approvals.resolve(id, { decision: 'approved' })).toThrow(expect.objectContaining({ code: 41001 }));
  });

  it('does not come for one that was answered', async () => {
    const { approvals, types } = registry();
    const { id, answer } = approvals.ask(question(), signal());
    approvals.resolve(id, { decision: 'approved' });
    vi.advanceTimersByTime(APPROVAL_LIFETIME_MS * 2);
    expect(await answer).toEqual({ decision: 'approved' });
    expect(types().filter((type) => type === 'event.approval.resolved')).toHaveLength(1);
  });
});

it('the end of a turn closes that agent’s approvals of that turn only', () => {
  const { approvals } = registry();
  const mine = approvals.ask(question(), signal());
  const other = approvals.ask(question({ agentId: 'agent-1' }), signal());
  const later = approvals.ask(question({ turnId: 1 }), signal());
  const drafts = approvals.endTurn('main', 0);
  expect(drafts.map(({ type }) => type)).toEqual(['event.approval.resolved']);
  expect(approvals.pending().map(({ approval_id }) => approval_id)).toEqual([other.id, later.id]);
  expect(() => approvals.resolve(mine.id, { decision: 'approved' })).toThrow(expect.objectContaining({ code: 40902 }));
});

it('several agents may wait; the session shows it until the last is answered', () => {
  const { approvals, appended } = registry();
  const first = approvals.ask(question(), signal());
  const second = approvals.ask(question({ agentId: 'agent-1' }), signal());
  approvals.resolve(first.id, { decision: 'approved' });
  approvals.resolve(second.id, { decision: 'rejected' });
  const pending = appended.flatMap((draft) => ('pending_interaction' in draft ? [draft.pending_interaction] : []));
  expect(pending).toEqual(['approval', 'none']);
});

it('the ends of the last 256 are remembered', () => {
  const { approvals } = registry();
  const ids = Array.from({ length: 257 }, () => {
    const { id } = approvals.ask(question(), signal());
    approvals.resolve(id, { decision: 'cancelled' });
    return id;
  });
  const again = (id = '') => approvals.resolve(id, { decision: 'approved' });
  expect(() => again(ids[0])).toThrow(expect.objectContaining({ code: 40404 }));
  expect(() => again(ids[1])).toThrow(expect.objectContaining({ code: 40902 }));
});

it('an abort rejects the wait; the approval stays until its turn ends', async () => {
  const { approvals } = registry();
  const controller = new AbortController();
  const { id, answer } = approvals.ask(question(), controller.signal);
  controller.abort(new Error('stop'));
  await expect(answer).rejects.toThrow('stop');
  expect(approvals.pending()).toHaveLength(1);
  // An answer that comes in between is too late: the call will not run.
  expect(() => approvals.resolve(id, { decision: 'approved' })).toThrow(expect.objectContaining({ code: 40902 }));
  expect(approvals.endTurn('main', 0)).toMatchObject([
    { type: 'event.session.work_changed' },
    { decision: 'cancelled' },
  ]);
  expect(() => approvals.ask(question(), controller.signal)).toThrow('stop');
});
