/** Plan mode in the transcript, and its restore by an undo; `meta` has the main agent's plan mode only. */
import { eventFields, markerOp, type AgentTranscript } from '#server/transcript/agent-transcript.ts';
import { sameValue } from '#server/transcript/reducer/equal.ts';
import type { StoredValue, StoredOp } from '#server/transcript/reducer/state.ts';
import type { RecordMappers, TranscriptUndo } from '#server/transcript/transcript-rows.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { MetaPlan } from '#schema/rest/transcript.ts';

const setPlan = ({ id }: AgentTranscript, plan: MetaPlan | null): StoredOp[] =>
  id === MAIN_AGENT ? [{ op: 'meta.merge', meta: { modes: { plan } } }] : [];

export const planTranscript: RecordMappers = {
  'plan.entered': (agent, { id }, t) => [
    ...setPlan(agent, {}),
    markerOp(agent, 'plan.enter', { agentId: agent.id, id }, t),
  ],
  'plan.left': (agent, _record, t) => [...setPlan(agent, null), markerOp(agent, 'plan.exit', { agentId: agent.id }, t)],
  'plan.revision'(agent, record, t) {
    const { path, version } = record;
    const marker = markerOp(agent, 'plan.revision', eventFields(record), t);
    return [marker, ...(agent.state.meta.modes?.plan ? setPlan(agent, { reviewPath: path, version }) : [])];
  },
};

export const planUndo: TranscriptUndo<StoredValue<MetaPlan> | undefined> = {
  checkpoint: ({ meta }) => meta.modes?.plan,
  restore: ({ meta }, plan) =>
    sameValue(plan, meta.modes?.plan) ? [] : [{ op: 'meta.merge', meta: { modes: { plan: plan ?? null } } }],
};
