/** Rows of turns, from start to end. */
import type { EventRecord } from '#server/journal/records.ts';
import { iso } from '#schema/scalars.ts';
import { markerOp, noStream, openStep, turnIdOf, turnUsage, type AgentTranscript } from '../agent-transcript.ts';
import type { RecordMappers } from '../transcript-rows.ts';
import { turnOrigin, turnPrompt } from '../origin.ts';
import type { StoredOp, StoredTurn } from '../reducer/state.ts';
import { attached } from './attachments.ts';
import { endedStep } from './steps.ts';

function started(agent: AgentTranscript, record: EventRecord<'turn.started'>, t: number): StoredOp[] {
  const turnId = turnIdOf(record.turnId);
  agent.attachments = 0;
  agent.stream = noStream();
  const { ops, ids } = attached(agent, turnId, record.x?.attachments ?? []);
  const prompt = turnPrompt(record);
  const turn: Omit<StoredTurn, 'steps'> = {
    kind: 'turn',
    turnId,
    ordinal: record.turnId,
    state: 'running',
    origin: turnOrigin(record.origin),
  };
  if (prompt !== undefined) turn.prompt = prompt;
  if (ids.length > 0) turn.attachmentIds = ids;
  turn.startedAt = iso(t);
  ops.push({ op: 'turn.upsert', turn });
  return ops;
}

/** The outcome of a turn that its user, or the stop of a server, interrupted. */
function interruption({ interruptReason, x }: EventRecord<'turn.ended'>): string | undefined {
  if (x?.cause === 'server_stopped') return 'server_stopped';
  return interruptReason === 'user_cancelled' ? 'user_cancelled' : undefined;
}

function ended(agent: AgentTranscript, record: EventRecord<'turn.ended'>, t: number): StoredOp[] {
  const turn = agent.state.byId.get(turnIdOf(record.turnId));
  if (turn?.kind !== 'turn' || turn.state !== 'running') return [];
  const { reason, durationMs, error } = record;
  const step = openStep(agent);
  const { kind, turnId, ordinal, origin, prompt, attachmentIds, startedAt } = turn;
  const usage = turnUsage(turn.steps);
  const state = reason === 'blocked' ? 'failed' : reason;
  const cut = interruption(record);
  const end: Omit<StoredTurn, 'steps'> = { kind, turnId, ordinal, state, origin };
  if (prompt !== undefined) end.prompt = prompt;
  if (attachmentIds !== undefined) end.attachmentIds = attachmentIds;
  if (startedAt !== undefined) end.startedAt = startedAt;
  end.endedAt = iso(t);
  if (durationMs !== undefined) end.durationMs = durationMs;
  if (usage) end.usage = usage;
  if (state === 'failed' && error) end.error = error.message;
  const ops: StoredOp[] = step ? endedStep(step, { state: 'interrupted' }, t) : [];
  ops.push({ op: 'turn.upsert', turn: end });
  if (cut) ops.push(markerOp(agent, 'interruption', { agentId: agent.id, turnId: record.turnId, reason: cut }, t));
  return ops;
}

export const turnRows: RecordMappers = { 'turn.started': started, 'turn.ended': ended };
