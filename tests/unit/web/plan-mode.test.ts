/** Plan mode on the page: whether it is on, the answers to a plan, the views of its calls. */
import { expect, it } from 'vitest';
import { approved, rejected, rejectedAndLeft, revised } from '../../../web/features/plan-mode/answers.ts';
import { planViews } from '../../../web/features/plan-mode/views.ts';
import { createToolViews } from '../../../web/render/tool-view.ts';
import { factsOf } from '../../../web/state/session-view.ts';
import type { TranscriptOp } from '@service-code/client';
import { viewOf } from './transcripts.ts';

it('is on or off by the transcript, or by default until the agent has started', () => {
  const on = (...meta: Extract<TranscriptOp, { op: 'meta.merge' }>['meta'][]) =>
    viewOf(meta.map((one) => ({ op: 'meta.merge', meta: one })));
  const planMode = (...args: Parameters<typeof on>) => factsOf(on(...args)).planMode;
  expect(planMode()).toBe(false);
  expect(planMode({ modes: { plan: {} } })).toBe(true);
  expect(planMode({ modes: { plan: {} } }, { agent: { contextTokens: 2 } })).toBe(true);
  expect(planMode({ modes: { plan: {} } }, { modes: { plan: null } })).toBe(false);
  const status = {
    busy: false,
    thinking_level: '',
    permission: 'manual' as const,
    swarm_mode: false,
    context_tokens: 0,
    plan_mode: true,
  };
  expect(factsOf({ ...on(), status }).planMode).toBe(true);
  expect(factsOf({ ...on({ agent: { model: 'm' } }), status }).planMode).toBe(false);
});

it('answers a plan with the labels that the server expects', () => {
  expect(approved(undefined)).toEqual({ decision: 'approved' });
  expect(approved('Fast')).toEqual({ decision: 'approved', selected_label: 'Fast' });
  expect(revised(' ')).toEqual({ decision: 'rejected', selected_label: 'Revise' });
  expect(revised(' more tests ')).toEqual({ decision: 'rejected', selected_label: 'Revise', feedback: 'more tests' });
  expect(rejected).toEqual({ decision: 'rejected', selected_label: 'Reject' });
  expect(rejectedAndLeft).toEqual({ decision: 'rejected', selected_label: 'Reject and Exit' });
});

it('draws the plan of a call: from its review, else from its result', () => {
  const views = createToolViews([planViews]);
  const text = '# Move the store\n1. Look\n';
  const display = { kind: 'plan_review' as const, plan: text };
  const drawn = { verb: 'Plan', subject: 'Move the store', effect: 'asks', prose: true, body: { kind: 'plan', text } };
  expect(views.ofDisplay('ExitPlanMode', display)).toEqual(drawn);
  const call = { name: 'ExitPlanMode', input: {} };
  expect(views.ofCall({ ...call, display })).toEqual(drawn);
  expect(views.ofCall({ ...call, output: `Approved.\nPlan saved to: /p.md\n\n## Approved Plan:\n${text}` })).toEqual(
    drawn,
  );
  expect(views.ofCall({ ...call, output: 'Plan mode is not on.' })).toEqual({ verb: 'Plan', subject: '', prose: true });
});
