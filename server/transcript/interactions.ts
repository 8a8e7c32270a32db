/** Transcript operations of interactions, shared by all kinds. */
import { transcriptCaller, type Caller } from '#schema/rest/caller.ts';
import type { Interaction } from '#schema/rest/transcript.ts';
import { toolOps, type AgentTranscript } from './agent-transcript.ts';
import type { StoredOp } from './reducer/state.ts';

/** Adds a pending interaction and refers to it from its call, if it concerns one. */
export function askedOps(
  agent: AgentTranscript,
  asked: Pick<Interaction, 'interactionId' | 'interactionKind' | 'request'>,
  toolCallId: string | undefined,
): StoredOp[] {
  const { interactionId, interactionKind, request } = asked;
  const call = toolCallId === undefined ? {} : { toolCallId };
  return [
    { op: 'interaction.upsert', interaction: { interactionId, interactionKind, ...call, state: 'pending', request } },
    ...(toolCallId === undefined ? [] : toolOps(agent, toolCallId, { approvalId: interactionId })),
  ];
}

/** Ends a pending interaction; others remain unchanged. `by` is the client that answered. */
export function answeredOps(
  agent: AgentTranscript,
  interactionId: string,
  state: 'approved' | 'rejected' | 'cancelled' | 'answered' | 'dismissed',
  end: { response?: unknown },
  by?: Caller,
): StoredOp[] {
  const known = agent.state.interactions.get(interactionId);
  if (known?.state !== 'pending') return [];
  const { toolCallId } = known;
  const answered = by ? { answeredBy: transcriptCaller(by) } : {};
  return [
    { op: 'interaction.upsert', interaction: { ...known, state, ...end, ...answered } },
    ...(toolCallId === undefined ? [] : toolOps(agent, toolCallId, { approvalId: interactionId })),
  ];
}
