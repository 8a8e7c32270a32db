/** Views of the calls of plan mode: the plan in the text that was reviewed. */
import { t } from '../../messages/messages.ts';
import { type DrawnCall, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';
import { outputText } from '../../state/tool-call.ts';

export type PlanBody = { kind: 'plan'; text: string };

/** In a result the plan follows one of these lines. */
const PLAN_IN_OUTPUT = /^## (?:Approved Plan:|Plan \(auto-approved, not user-reviewed\):)[ \t]*\n([\s\S]*)$/m;

/** The plan of a call; empty if neither display nor output contains one. */
function planOf({ display, output }: DrawnCall): string {
  if (display?.kind === 'plan_review') return display.plan;
  return PLAN_IN_OUTPUT.exec(outputText(output))?.[1] ?? '';
}

function plan(text: string): ToolSummary {
  const [heading = ''] = text.trim().split('\n');
  if (heading === '') return { verb: t('tools.plan'), subject: '', prose: true };
  const body: PlanBody = { kind: 'plan', text };
  return { verb: t('tools.plan'), subject: heading.replace(/^#+\s*/, ''), prose: true, body, effect: 'asks' };
}

export const planViews: ToolViews = {
  tools: {
    EnterPlanMode: () => ({ verb: t('tools.planMode'), subject: t('tools.on'), prose: true, output: 'on failure' }),
    ExitPlanMode: (_, call) => plan(planOf(call)),
  },
  displays: { plan_review: ({ plan: text }) => plan(text) },
};
