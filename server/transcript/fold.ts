/**
 * The transcripts of all agents of a session, folded from its records. A state results from the operations of its
 * records only, so reads of a file, live reads and followers cannot differ.
 */
import type { JournalHeader } from '#server/journal/header.ts';
import { defineFeatureProjection } from '#server/journal/projections/feature-projection.ts';
import type { JournalRecord } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { RosterEntry } from '#schema/rest/transcript.ts';
import { newAgentTranscript, type AgentTranscript } from './agent-transcript.ts';
import type { Mapper } from './mapper.ts';
import type { StoredOp } from './reducer/state.ts';

export interface TranscriptFold {
  readonly sessionId: string;
  /** Transcripts by agent id; an agent without records has no entry. */
  readonly agents: Map<string, AgentTranscript>;
  /** Main first, then in the order of creation. */
  readonly roster: Map<string, RosterEntry>;
  /** Whether the fold is kept up to date for readers. */
  live: boolean;
}

/** The fold at the start of a journal. */
export function startTranscripts({ session_id }: Pick<JournalHeader, 'session_id'>): TranscriptFold {
  const main: RosterEntry = { agentId: MAIN_AGENT, type: 'main' };
  return { sessionId: session_id, agents: new Map(), roster: new Map([[MAIN_AGENT, main]]), live: false };
}

/** The agent's transcript, created at its first record. */
export function transcriptOf(fold: TranscriptFold, id: string): AgentTranscript {
  const known = fold.agents.get(id);
  if (known) return known;
  const made = newAgentTranscript(fold, id);
  fold.agents.set(id, made);
  return made;
}

/** Folds a record; returns its operations on the transcript of its agent. */
export function foldRecord(fold: TranscriptFold, mapper: Mapper, record: JournalRecord, t: number): StoredOp[] {
  const agent = transcriptOf(fold, record.agent);
  const ops = mapper(agent, record, t);
  if (ops.length > 0) agent.begun = true;
  // A settled prompt is never displayed again.
  for (const op of ops) {
    if (op.op === 'prompt.upsert' && op.prompt.finishedAt !== undefined) agent.state.prompts.delete(op.prompt.promptId);
  }
  // Prompts of the original neither wait nor run in a copy.
  if (record.type === 'forked') for (const { state } of fold.agents.values()) state.prompts.clear();
  return ops;
}

/** The fold of a journal that is only read. */
export const transcriptProjection = (mapper: Mapper) =>
  defineFeatureProjection<TranscriptFold>({
    name: 'transcript',
    initial: startTranscripts,
    apply(fold, record, t) {
      foldRecord(fold, mapper, record, t);
    },
  });
export type TranscriptProjection = ReturnType<typeof transcriptProjection>;
