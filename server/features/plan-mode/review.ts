/** Derives the result of a plan review from the user's answer. */
import type { ApprovalAnswer } from '#server/interactions/approvals.ts';
import type { ToolResult } from '#server/tools/tool.ts';

export interface ReviewedPlan {
  text: string;
  path: string;
}

export interface PlanOption {
  label: string;
  description?: string | undefined;
}

/** Answers that clients send as a label. */
const REVISE = 'Revise';
const REJECT_AND_EXIT = 'Reject and Exit';
/** Labels that no option may have. */
export const ANSWER_LABELS: readonly string[] = ['Approve', 'Reject', REVISE, REJECT_AND_EXIT];

export interface ReviewOutcome extends Pick<ToolResult, 'output' | 'isError' | 'stopTurn'> {
  /** How plan mode is left; undefined if it stays on. */
  leaves?: 'exit' | 'cancel';
}

const because = (feedback: string | undefined) => (feedback ? `\nThe user says: ${feedback}` : '');

/** `answer` is absent in auto mode, which requests no review. */
export function reviewOutcome(
  answer: ApprovalAnswer | undefined,
  { text, path }: ReviewedPlan,
  options: readonly PlanOption[],
): ReviewOutcome {
  const saved = `Plan saved to: ${path}`;
  if (!answer) {
    const head = 'Plan mode is off. Nobody reviewed the plan, as the permission mode is "auto"; carry it out.';
    return { output: `${head}\n${saved}\n\n## Plan (auto-approved, not user-reviewed):\n${text}`, leaves: 'exit' };
  }
  const { decision, feedback, selectedLabel } = answer;
  if (decision === 'approved') {
    const chosen = options.find(({ label }) => label === selectedLabel);
    const approach = chosen ? `\nSelected approach: ${chosen.label}. Carry out this one and none of the others.` : '';
    const head = `The user approved the plan. Plan mode is off; carry the plan out.${approach}`;
    return { output: `${head}\n${saved}\n\n## Approved Plan:\n${text}`, leaves: 'exit' };
  }
  if (decision === 'cancelled') {
    return {
      output: `The user dismissed the review without a decision. Plan mode is still on.${because(feedback)}`,
    };
  }
  if (selectedLabel === REJECT_AND_EXIT) {
    const output = `The user rejected the plan and ended plan mode. Do not carry the plan out.${because(feedback)}`;
    return { output, isError: true, stopTurn: true, leaves: 'cancel' };
  }
  if (selectedLabel === REVISE || feedback) {
    const output = `The user wants the plan revised. Plan mode is still on: change the plan file, then call ExitPlanMode again.`;
    return { output: output + because(feedback) };
  }
  return {
    output: 'The user rejected the plan. Plan mode is still on. Wait for what the user says next.',
    isError: true,
    stopTurn: true,
  };
}
