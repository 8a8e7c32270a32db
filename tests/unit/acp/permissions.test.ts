/** Approvals and questions as requests to an editor, and the answers. */
import type { Approval, Question } from '@service-code/client';
import { describe, expect, it } from 'vitest';
import { choicesOf, requestedCall } from '../../../clients/acp/permissions.ts';
import { answersOf, formOf } from '../../../clients/acp/questions.ts';

const approval = (display: Approval['tool_input_display'], agent_id = 'main'): Approval => ({
  approval_id: 'approval_1',
  session_id: 's',
  agent_id,
  tool_call_id: 'call_1',
  tool_name: 'Bash',
  action: 'Running it',
  tool_input_display: display,
  created_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-02T00:00:00.000Z',
});
const answers = (display: Approval['tool_input_display']) =>
  choicesOf(approval(display)).map(({ option, answer }) => [option.name, option.kind, answer]);

describe('choicesOf', () => {
  it('offers once, for the session, and rejected', () => {
    expect(answers({ kind: 'command', command: 'ls' })).toEqual([
      ['Allow once', 'allow_once', { decision: 'approved' }],
      ['Allow for this session', 'allow_always', { decision: 'approved', scope: 'session' }],
      ['Reject', 'reject_once', { decision: 'rejected' }],
    ]);
  });

  it('offers the approaches of a plan, or approval without one', () => {
    const rejections = ['Revise', 'Reject', 'Reject and Exit'].map((label) => [
      label,
      'reject_once',
      { decision: 'rejected', selected_label: label },
    ]);
    expect(answers({ kind: 'plan_review', plan: 'x', options: [{ label: 'A' }, { label: 'B' }] })).toEqual([
      ['A', 'allow_once', { decision: 'approved', selected_label: 'A' }],
      ['B', 'allow_once', { decision: 'approved', selected_label: 'B' }],
      ...rejections,
    ]);
    expect(answers({ kind: 'plan_review', plan: 'x' })).toEqual([
      ['Approve', 'allow_once', { decision: 'approved' }],
      ...rejections,
    ]);
    const ids = choicesOf(approval({ kind: 'plan_review', plan: 'x' })).map(({ option }) => option.optionId);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('requestedCall', () => {
  it('has the whole command with its hidden characters', () => {
    const { title, content } = requestedCall(approval({ kind: 'command', command: 'a\u202Eb\nrm x' }), '/');
    expect(title).toBe('a<U+202E>b');
    expect(JSON.stringify(content)).toContain('a<U+202E>b\\nrm x');
  });

  it.each<[Approval['tool_input_display'], string]>([
    [{ kind: 'agent_call', agent_name: 'explore', prompt: 'Look.\nThen rm \u202Ex' }, 'Look.\nThen rm <U+202E>x'],
    [{ kind: 'skill_call', skill_name: 'deploy', args: 'to \u200Bprod' }, 'to <U+200B>prod'],
    [{ kind: 'goal_start', objective: 'Build', completionCriterion: 'no\u202E test', mode: 'yolo' }, 'no<U+202E> test'],
    [{ kind: 'plan_review', plan: '# A\n\n1. rm \u2067x' }, '1. rm <U+2067>x'],
  ])('has the whole text of %j', (display, text) => {
    const { content } = requestedCall(approval(display), '/');
    expect(content).toEqual([{ type: 'content', content: { type: 'text', text: expect.stringContaining(text) } }]);
  });

  it('has the arguments of a tool without a display, and an id of its own for a subagent', () => {
    const display = { kind: 'generic' as const, summary: 'Approve x', detail: { a: 'b' } };
    const call = requestedCall(approval(display, 'agent-1'), '/');
    expect(call.toolCallId).toBe('agent-1:call_1');
    expect(call.title).toBe('Running it');
    expect(JSON.stringify(call.content)).toContain('\\"a\\": \\"b\\"');
  });
});

describe('questions', () => {
  const item = (members: Partial<Question['questions'][number]>): Question => ({
    question_id: 'question_1',
    session_id: 's',
    created_at: '2026-01-01T00:00:00.000Z',
    questions: [
      {
        id: 'q_0',
        question: 'Which?',
        options: [
          { id: 'opt_0_0', label: 'A' },
          { id: 'opt_0_1', label: 'B', description: 'b' },
        ],
        allow_other: true,
        ...members,
      },
    ],
  });

  it('have a field for the options and one for another answer', () => {
    expect(formOf(item({}))).toEqual({
      type: 'object',
      properties: {
        q_0: {
          type: 'string',
          title: 'Which?',
          description: 'Which?',
          oneOf: [
            { const: 'opt_0_0', title: 'A' },
            { const: 'opt_0_1', title: 'B', description: 'b' },
          ],
        },
        q_0_other: { type: 'string', title: 'Other answer', description: 'Which?' },
      },
    });
    expect(formOf(item({ multi_select: true, header: 'H', allow_other: false })).properties).toMatchObject({
      q_0: { type: 'array', title: 'H', items: { anyOf: [{ const: 'opt_0_0' }, { const: 'opt_0_1' }] } },
    });
  });

  it.each<[Partial<Question['questions'][number]>, unknown, unknown]>([
    [{}, { q_0: 'opt_0_1' }, { q_0: { kind: 'single', option_id: 'opt_0_1' } }],
    [{}, { q_0: 'opt_0_1', q_0_other: 'mine' }, { q_0: { kind: 'other', text: 'mine' } }],
    [{}, { q_0: '', q_0_other: '' }, {}],
    [{}, undefined, {}],
    [{}, { q_0: 7 }, {}],
    [
      { multi_select: true },
      { q_0: ['opt_0_0', 'opt_0_1'] },
      { q_0: { kind: 'multi', option_ids: ['opt_0_0', 'opt_0_1'] } },
    ],
    [{ multi_select: true }, { q_0: [] }, {}],
    [
      { multi_select: true },
      { q_0: ['opt_0_0'], q_0_other: 'mine' },
      { q_0: { kind: 'multi_with_other', option_ids: ['opt_0_0'], other_text: 'mine' } },
    ],
  ])('%j with %j are answered by %j', (members, content, expected) => {
    expect(answersOf(item(members), content)).toEqual(expected);
  });
});
