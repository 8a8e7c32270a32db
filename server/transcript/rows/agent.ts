/** Rows of an agent's facts: configuration, context size, token usage. */
import { usageProjection } from '#server/journal/projections/usage.ts';
import type { InternalRecord, JournalRecord } from '#server/journal/records.ts';
import { transcriptCaller } from '#schema/rest/caller.ts';
import type { TokenUsage } from '#schema/engine.ts';
import { agentMeta, type AgentMeta, type AgentTranscript } from '../agent-transcript.ts';
import type { RecordMappers } from '../transcript-rows.ts';
import type { StoredOp } from '../reducer/state.ts';

function configured(agent: AgentTranscript, record: InternalRecord<'agent.config'>): StoredOp[] {
  const { model, thinkingEffort, maxContextTokens, permission, by } = record;
  if (maxContextTokens !== undefined) agent.limit = maxContextTokens;
  return agentMeta(agent, {
    ...(model === undefined ? {} : { model }),
    ...(thinkingEffort === undefined ? {} : { thinkingEffort }),
    ...(typeof maxContextTokens === 'number' ? { maxContextTokens } : {}),
    ...(permission === undefined ? {} : { permission }),
    // Facts are merged, so a change without a client must replace the previous client.
    ...(permission === undefined || (!by && !agent.state.meta.agent?.permissionBy)
      ? {}
      : { permissionBy: transcriptCaller(by ?? {}) }),
  });
}

/** Token usage; that of the running turn only while it is kept up to date. */
function spent(agent: AgentTranscript): AgentMeta {
  const own = agent.usage.get(agent.id);
  if (!own) return {};
  const { total, currentTurn } = own;
  const byModel: Record<string, TokenUsage> = {};
  for (const [model, usage] of Object.entries(own.byModel)) byModel[model] = { ...usage };
  const usage = { byModel, total: { ...total } };
  return { usage: agent.live ? { ...usage, currentTurn: { ...currentTurn } } : usage };
}

function booked(agent: AgentTranscript, record: JournalRecord, t: number): StoredOp[] {
  usageProjection.apply(agent.usage, record, t);
  const facts = 'usage' in record && record.usage ? spent(agent) : {};
  if (record.type === 'step.response' && record.contextTokens !== undefined) facts.contextTokens = record.contextTokens;
  return agentMeta(agent, facts);
}

export const agentRows: RecordMappers = {
  'agent.config': configured,
  // After an undo the undo's own rows send the facts.
  'context.spliced': (agent, { tokens, x }) => (x?.cause === 'undo' ? [] : agentMeta(agent, { contextTokens: tokens })),
  'step.response': booked,
  'usage.recorded': booked,
  'turn.started'(agent, record, t) {
    usageProjection.apply(agent.usage, record, t);
    return [];
  },
};
