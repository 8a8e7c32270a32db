/** Facts of the agent: what it is set to, how full its context is, what it has used. */
import { usageProjection } from '#server/journal/projections/usage.ts';
import type { InternalRecord, JournalRecord } from '#server/journal/records.ts';
import { transcriptCaller } from '#schema/caller.ts';
import type { TokenUsage } from '#schema/engine.ts';
import { agentFacts, type AgentFacts, type AgentTranscript } from '../agent-transcript.ts';
import type { TranscriptRows } from '../transcript-rows.ts';
import type { HeldOp } from '../reducer/state.ts';

function configured(agent: AgentTranscript, record: InternalRecord<'agent.config'>): HeldOp[] {
  const { model, thinkingEffort, maxContextTokens, permission, by } = record;
  if (maxContextTokens !== undefined) agent.limit = maxContextTokens;
  return agentFacts(agent, {
    ...(model === undefined ? {} : { model }),
    ...(thinkingEffort === undefined ? {} : { thinkingEffort }),
    ...(typeof maxContextTokens === 'number' ? { maxContextTokens } : {}),
    ...(permission === undefined ? {} : { permission }),
    // Facts are merged: one that no client set replaces that of the client before.
    ...(permission === undefined || (!by && !agent.state.meta.agent?.permissionBy)
      ? {}
      : { permissionBy: transcriptCaller(by ?? {}) }),
  });
}

/** What was spent; of the running turn only where somebody follows it. */
function spent(agent: AgentTranscript): AgentFacts {
  const own = agent.usage.get(agent.id);
  if (!own) return {};
  const { total, currentTurn } = own;
  const byModel: Record<string, TokenUsage> = {};
  for (const [model, usage] of Object.entries(own.byModel)) byModel[model] = { ...usage };
  const usage = { byModel, total: { ...total } };
  return { usage: agent.live ? { ...usage, currentTurn: { ...currentTurn } } : usage };
}

function booked(agent: AgentTranscript, record: JournalRecord, t: number): HeldOp[] {
  usageProjection.apply(agent.usage, record, t);
  const facts = 'usage' in record && record.usage ? spent(agent) : {};
  if (record.type === 'step.response' && record.contextTokens !== undefined) facts.contextTokens = record.contextTokens;
  return agentFacts(agent, facts);
}

export const agentRows: TranscriptRows = {
  'agent.config': configured,
  // What an undo leaves is told with the rest of it.
  'context.spliced': (agent, { tokens, x }) =>
    x?.cause === 'undo' ? [] : agentFacts(agent, { contextTokens: tokens }),
  'step.response': booked,
  'usage.recorded': booked,
  'turn.started'(agent, record, t) {
    usageProjection.apply(agent.usage, record, t);
    return [];
  },
};
