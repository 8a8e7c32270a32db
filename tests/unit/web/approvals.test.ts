import { expect, it } from 'vitest';
import { approvalsPart } from '../../../web/features/approvals/part.ts';
import { partOf } from '../../../web/state/view-part.ts';
import { frameMaker, play, snapshot, type Draft } from './session-frames.ts';

const approval = {
  approval_id: 'a1',
  session_id: 'session_1',
  agent_id: 'agent-1',
  tool_call_id: 't1',
  tool_name: 'Bash',
  action: 'Running: ls',
  tool_input_display: { kind: 'command' as const, command: 'ls' },
  created_at: '',
  expires_at: '',
};
const requested: Draft = { type: 'event.approval.requested', agent: 'agent-1', payload: approval };
const resolved: Draft = {
  type: 'event.approval.resolved',
  agent: 'agent-1',
  payload: { approval_id: 'a1', decision: 'approved', resolved_at: '' },
};

it('shows an approval of any agent once, until it is resolved', () => {
  const asked = play([{ type: 'snapshot', snapshot: snapshot() }, requested, requested]);
  expect(partOf(asked, approvalsPart)).toEqual([expect.objectContaining(approval)]);
  expect(partOf(play([resolved, resolved], asked, frameMaker(10)), approvalsPart)).toEqual([]);
});

it('takes the open ones from a snapshot', () => {
  const view = play([requested, { type: 'snapshot', snapshot: snapshot() }]);
  expect(partOf(view, approvalsPart)).toEqual([]);
  const pending_approvals = [approval];
  expect(partOf(play([{ type: 'snapshot', snapshot: snapshot({ pending_approvals }) }], view), approvalsPart)).toEqual(
    pending_approvals,
  );
});
