/**
 * The transcripts of all agents of a session, folded from its records. A state is what the operations of its records make
 * and nothing else, so what is read of a file, what is read live and what a follower has cannot differ.
 */
import type { JournalHeader } from '#server/journal/header.ts';
import { defineFeatureProjection } from '#server/journal/projections/feature-projection.ts';
import type { JournalRecord } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { RosterEntry } from '#schema/transcript.ts';
import { newAgentTranscript, type AgentTranscript } from './agent-transcript.ts';
import type { Mapper } from './mapper.ts';
import type { HeldOp } from './reducer/state.ts';

export interface TranscriptFold {
  readonly sessionId: string;
  /** By id; an agent of which nothing was recorded has none. */
  readonly agents: Map<string, AgentTranscript>;
  /** Main first, then in the order of creation. */
  readonly roster: Map<string, RosterEntry>;
  /** Somebody follows. */
  live: boolean;
}

/** The fold at a journal's beginning. */
export function startTranscripts({ session_id }: Pick<JournalHeader, 'session_id'>): TranscriptFold {
  const main: RosterEntry = { agentId: MAIN_AGENT, type: 'main' };
  return { sessionId: session_id, agents: new Map(), roster: new Map([[MAIN_AGENT, main]]), live: false };
}

/** The agent's transcript, made when something is first told of it. */
export function transcriptOf(fold: TranscriptFold, id: string): AgentTranscript {
  const known = fold.agents.get(id);
  if (known) return known;
  const made = newAgentTranscript(fold, id);
  fold.agents.set(id, made);
  return made;
}

/** Folds a record; returns the operations that it made in the transcript of its agent. */
export function foldRecord(fold: TranscriptFold, mapper: Mapper, record: JournalRecord, t: number): HeldOp[] {
  const agent = transcriptOf(fold, record.agent);
  const ops = mapper(agent, record, t);
  if (ops.length > 0) agent.begun = true;
  // A prompt that has settled is never shown again.
  for (const op of ops) {
    if (op.op === 'prompt.upsert' && op.prompt.finishedAt !== undefined) agent.state.prompts.delete(op.prompt.promptId);
  }
  // Nothing waits or runs in a copy.
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
