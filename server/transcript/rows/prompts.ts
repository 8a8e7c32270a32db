/** Rows of users' prompts: accepted, started, settled. */
import type { EventRecord } from '#server/journal/records.ts';
import type { AgentTranscript } from '../agent-transcript.ts';
import { isTyped } from '../origin.ts';
import type { RecordMappers } from '../transcript-rows.ts';
import type { StoredOp } from '../reducer/state.ts';

function settled(
  { state }: AgentTranscript,
  promptId: string,
  status: 'completed' | 'failed' | 'blocked' | 'aborted',
  finishedAt: string,
): StoredOp[] {
  // Instructions to other agents and internal prompts have no entity.
  const prompt = state.prompts.get(promptId);
  return prompt ? [{ op: 'prompt.upsert', prompt: { ...prompt, status, finishedAt } }] : [];
}

/** Marks a waiting prompt as running. */
function begun({ state }: AgentTranscript, { promptId }: EventRecord<'turn.started'>): StoredOp[] {
  const prompt = promptId === undefined ? undefined : state.prompts.get(promptId);
  return prompt && prompt.status !== 'running'
    ? [{ op: 'prompt.upsert', prompt: { ...prompt, status: 'running' } }]
    : [];
}

/** Merges prompts into the turn of another one, whose content includes theirs from then on. */
function steered(
  { state }: AgentTranscript,
  { activePromptId, promptIds, content, steeredAt }: EventRecord<'prompt.steered'>,
): StoredOp[] {
  const active = state.prompts.get(activePromptId);
  const absorbed = promptIds.flatMap((id) => (id === activePromptId ? [] : (state.prompts.get(id) ?? [])));
  const own = promptIds.includes(activePromptId) ? [] : (active?.content ?? []);
  return [
    ...(active
      ? [
          {
            op: 'prompt.upsert' as const,
            prompt: { ...active, status: 'running' as const, content: [...own, ...content], steeredAt },
          },
        ]
      : []),
    ...absorbed.map((prompt): StoredOp => ({
      op: 'prompt.upsert',
      prompt: { ...prompt, status: 'completed', steeredAt, finishedAt: steeredAt },
    })),
  ];
}

export const promptRows: RecordMappers = {
  'prompt.submitted'(_agent, { promptId, status, userMessageId, content, createdAt, x }) {
    if (!isTyped(x?.origin)) return [];
    return [{ op: 'prompt.upsert', prompt: { promptId, status, userMessageId, content, createdAt } }];
  },
  'turn.started': begun,
  'prompt.steered': steered,
  'prompt.completed': (agent, { promptId, reason, finishedAt }) => settled(agent, promptId, reason, finishedAt),
  'prompt.aborted': (agent, { promptId, abortedAt }) => settled(agent, promptId, 'aborted', abortedAt),
};
