/** The plans that the agent has submitted for review. */
import { MAIN_AGENT, type Reply, type Rest, type TranscriptState } from '@service-code/client';
import type { PlainKey } from '../../messages/messages.ts';
import type { Tone } from '../../ui/tones.ts';

export type SubmittedPlan = Reply<'GET /api/v1/sessions/{session_id}/transcript/plan'>['plans'][number];

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

/** By the state of the review; a later server may have others. */
const states: Partial<Record<string, PlanState>> = {
  pending: { tone: 'attention', label: 'plans.pending' },
  approved: { tone: 'good', label: 'plans.approved' },
  rejected: { tone: 'bad', label: 'plans.rejected' },
  cancelled: { tone: 'neutral', label: 'plans.cancelled' },
};

export const stateOf = ({ review }: Pick<SubmittedPlan, 'review'>): PlanState =>
  (review && states[review.state]) ?? { tone: 'neutral', label: 'plans.unreviewed' };
