/** The goal in the transcript. */
import { eventFields, markerOp } from '#server/transcript/agent-transcript.ts';
import { sameValue } from '#server/transcript/reducer/equal.ts';
import type { RecordMappers } from '#server/transcript/transcript-rows.ts';
import type { Goal } from '#schema/events/modes.ts';
import type { Meta } from '#schema/rest/transcript.ts';

const shown = ({ objective, status, completionCriterion, tokensUsed, budget }: Goal): NonNullable<Meta['goal']> => ({
  objective,
  status,
  ...(completionCriterion === undefined ? {} : { completionCriterion }),
  budgetUsed: tokensUsed,
  ...(budget.tokenBudget === null ? {} : { budgetLimit: budget.tokenBudget }),
});

export const goalTranscript: RecordMappers = {
  'goal.updated'(agent, record, t) {
    const { snapshot, change, x } = record;
    const goal = snapshot && shown(snapshot);
    const known = agent.state.meta.goal;
    const changed = goal ? !sameValue(goal, known) : known !== undefined;
    // A change of counters only is no marker in the timeline.
    const isShown = snapshot === null || change !== undefined || x?.cause === 'created';
    return [
      ...(changed ? [{ op: 'meta.merge' as const, meta: { goal } }] : []),
      ...(isShown ? [markerOp(agent, 'goal', eventFields(record), t)] : []),
    ];
  },
  forked: ({ state }) => (state.meta.goal ? [{ op: 'meta.merge', meta: { goal: null } }] : []),
};
