/** The plans that the agent has submitted for review. */
import { MAIN_AGENT, type Rest, type TranscriptState } from '@service-code/client';
import type { PlainKey } from '../../messages/messages.ts';
import type { Tone } from '../../ui/tones.ts';

export interface SubmittedPlan {
  tool_call_id: string;
  plan: string;
  /** Of the file in which it is stored. */
  path?: string;
  /** Absent if no person was asked. */
  review?: { state: 'pending' | 'approved' | 'rejected' | 'cancelled'; selected_option?: string; feedback?: string };
}

/** The newest plan first. */
export async function readPlans(rest: Pick<Rest, 'request'>, sessionId: string): Promise<readonly SubmittedPlan[]> {
  const path = `sessions/${encodeURIComponent(sessionId)}/transcript/plan`;
  const { plans } = await rest.request<{ plans: SubmittedPlan[] }>('GET', path, { query: { agent_id: MAIN_AGENT } });
  return plans.toReversed();
}

/** Changes when a plan may have been submitted or answered. */
export const planChanges = ({ interactions, meta }: Pick<TranscriptState, 'interactions' | 'meta'>): string =>
  [meta.modes?.plan !== undefined, ...Array.from(interactions.values(), ({ state }) => state)].join(' ');

/** The first line, without the signs of a heading. */
export const headingOf = ({ plan }: Pick<SubmittedPlan, 'plan'>): string =>
  (plan.trim().split('\n')[0] ?? '').replace(/^#+\s*/, '');

const states: Record<NonNullable<SubmittedPlan['review']>['state'], { tone: Tone; label: PlainKey }> = {
  pending: { tone: 'attention', label: 'plans.pending' },
  approved: { tone: 'good', label: 'plans.approved' },
  rejected: { tone: 'bad', label: 'plans.rejected' },
  cancelled: { tone: 'neutral', label: 'plans.cancelled' },
};

export const stateOf = ({ review }: Pick<SubmittedPlan, 'review'>): { tone: Tone; label: PlainKey } =>
  review ? states[review.state] : { tone: 'neutral', label: 'plans.unreviewed' };
