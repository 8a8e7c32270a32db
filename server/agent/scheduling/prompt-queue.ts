/**
 * Prompt queue of one agent. Running and waiting prompts and used ids are read from the journal; only what it does not
 * have is stored here: ids of pending submits, and the content with which a waiting prompt enters the context.
 */
import { ServiceError } from '#server/errors/service-error.ts';
import type { OpenPrompt } from '#server/journal/projections/prompts.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import type { Stored } from '#server/journal/texts.ts';
import type { Prompt } from '#schema/rest/prompt.ts';
import type { QueuedPrompt, PromptQueue } from '../contract/prompts.ts';

/** `prompt.already_completed` for a prompt that has settled. */
export const alreadyCompleted = (id: string) =>
  new ServiceError('prompt.already_completed', `prompt ${id} already completed`, { data: { aborted: false } });

/** Creates the queue of an agent in a loaded session. */
export function createPromptQueue(log: SessionLog, agent: string): PromptQueue {
  const reserved = new Set<string>();
  const inputs = new Map<string, QueuedPrompt>();

  const prompts = () => log.state.prompts.get(agent);
  const waiting = () =>
    [...(prompts()?.open.values() ?? [])].filter(
      ({ state, promptId }) => state === 'queued' && promptId !== queue.starting?.id,
    );

  function view(prompt: OpenPrompt, status: Prompt['status']): Stored<Prompt> {
    return {
      prompt_id: prompt.promptId,
      user_message_id: prompt.promptId,
      status,
      content: inputs.get(prompt.promptId)?.input.content ?? prompt.content,
      created_at: prompt.createdAt,
    };
  }

  const queue: PromptQueue = {
    starting: undefined,
    reserve(id) {
      if (reserved.has(id) || prompts()?.open.has(id)) {
        throw new ServiceError('prompt.id_conflict', `prompt_id '${id}' is already in use`);
      }
      if (prompts()?.used.has(id)) throw alreadyCompleted(id);
      reserved.add(id);
    },
    release: (id) => void reserved.delete(id),
    keep(prompt) {
      reserved.delete(prompt.id);
      inputs.set(prompt.id, prompt);
    },
    forget: (id) => void inputs.delete(id),
    next() {
      const [first] = waiting();
      return first && inputs.get(first.promptId);
    },
    steerable(ids) {
      const wanted = new Set(ids);
      const [first, ...more] = waiting().flatMap(({ promptId }) => {
        const input = wanted.has(promptId) ? inputs.get(promptId) : undefined;
        return input ?? [];
      });
      if (!first || wanted.size !== ids.length || more.length + 1 !== ids.length) {
        throw new ServiceError('prompt.not_found', 'one or more prompts are not pending');
      }
      return [first, ...more];
    },
    active() {
      const own = prompts();
      const id = own?.active ?? queue.starting?.id;
      const prompt = id === undefined ? undefined : own?.open.get(id);
      return prompt ? view(prompt, 'running') : null;
    },
    waiting: () => waiting().map((prompt) => view(prompt, 'queued')),
    abortable(id) {
      const own = prompts();
      if (own?.active === id || queue.starting?.id === id) return 'active';
      const prompt = own?.open.get(id);
      if (prompt?.state === 'queued') return 'waiting';
      if (own?.used.has(id) && !prompt) throw alreadyCompleted(id);
      throw new ServiceError('prompt.not_found', `prompt ${id} not found`);
    },
  };
  return queue;
}
