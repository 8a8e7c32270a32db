import { expect, it } from 'vitest';
import { openApprovals } from '../../../web/features/approvals/open.ts';
import { asked, tool, turn, viewOf } from './transcripts.ts';

const request = {
  id: 'a1',
  sessionId: 'session_1',
  agentId: 'agent-1',
  turnId: 0,
  toolCallId: 't1',
  toolName: 'Bash',
  action: 'Running: ls',
  display: { kind: 'command', command: 'ls' },
};
const approval = { interactionId: 'a1', interactionKind: 'approval' as const, toolCallId: 't1', request };

it('lists an approval of any agent until it is resolved', () => {
  expect(openApprovals(viewOf([turn(0)], { 'agent-1': [turn(0), asked(approval), asked(approval)] }))).toEqual([
    {
      approval_id: 'a1',
      session_id: 'session_1',
      agent_id: 'agent-1',
      tool_call_id: 't1',
      tool_name: 'Bash',
      action: 'Running: ls',
      tool_input_display: { kind: 'command', command: 'ls' },
    },
  ]);
  expect(openApprovals(viewOf([asked(approval), asked({ ...approval, state: 'approved' })]))).toEqual([]);
});

it('drops an approval whose turn was reverted, and ignores other requests', () => {
  const gone = [turn(0), tool('t0.1', 't1'), asked(approval), { op: 'items.remove' as const, ids: ['t0'] }];
  expect(openApprovals(viewOf(gone))).toEqual([]);
  const odd = [asked({ ...approval, request: 'x' }), asked({ ...approval, interactionId: 'a2', request: {} })];
  expect(openApprovals(viewOf([...odd, asked({ ...approval, interactionKind: 'question' })]))).toEqual([]);
});
