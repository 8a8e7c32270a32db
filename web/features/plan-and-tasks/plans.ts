/** The plans that the agent has submitted for review. */
import { MAIN_AGENT, type Rest, type TranscriptState } from '@service-code/client';
import type { PlainKey } from '../../messages/messages.ts';
import type { Tone } from '../../ui/tones.ts';

export interface SubmittedPlan {
  tool_call_id: string;
  plan: string;
  /** The file in which it is stored. */
  path?: string | undefined;
  /** Absent if no person was asked. */
  review?: { state: string; selected_option?: string | undefined; feedback?: string | undefined } | undefined;
}

/** The newest plan first. */
export async function readPlans(rest: Pick<Rest, 'request'>, session_id: string): Promise<readonly SubmittedPlan[]> {
  const { plans } = await rest.request('GET /api/v1/sessions/{session_id}/transcript/plan', {
    path: { session_id },
    query: { agent_id: MAIN_AGENT },
  });
  return plans.toReversed();
}

/** Changes when a plan may have been submitted or answered. */
export const planChanges = ({ interactions, meta }: Pick<TranscriptState, 'interactions' | 'meta'>): string =>
  [meta.modes?.plan !== undefined, ...Array.from(interactions.values(), ({ state }) => state)].join(' ');

/** The first line, without the signs of a heading. */
export const headingOf = ({ plan }: Pick<SubmittedPlan, 'plan'>): string =>
  (plan.trim().split('\n')[0] ?? '').replace(/^#+\s*/, '');

type PlanState = { tone: Tone; label: PlainKey };

const unreviewed: PlanState = { tone: 'neutral', label: 'plans.unreviewed' };
const states: Partial<Record<string, PlanState>> = {
  pending: { tone: 'attention', label: 'plans.pending' },
  approved: { tone: 'good', label: 'plans.approved' },
  rejected: { tone: 'bad', label: 'plans.rejected' },
  cancelled: { tone: 'neutral', label: 'plans.cancelled' },
};

export const stateOf = ({ review }: Pick<SubmittedPlan, 'review'>): PlanState =>
  (review && states[review.state]) ?? unreviewed;
