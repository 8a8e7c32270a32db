/**
 * Prompt queue of one agent. Running and waiting prompts and used ids are read from the journal; only what it does not
 * have is stored here: ids of pending submits, and the content with which a waiting prompt enters the context.
 */
import { ServiceError } from '#server/errors/service-error.ts';
import type { OpenPrompt } from '#server/journal/projections/prompts.ts';
import type { Attachment } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import type { Stored, Text } from '#server/journal/texts.ts';
import type { ContentPart } from '#schema/content.ts';
import type { Part } from '#schema/engine.ts';
import type { Prompt } from '#schema/prompt.ts';

/** A prompt's content in three forms; those that are journaled have their long texts stored. */
export interface PromptInput {
  /** Content for replies and the queue. */
  content: ContentPart[];
  /** Content for events and prompt records: never bytes. */
  eventContent: Stored<ContentPart>[];
  /** Content for the model. */
  parts: Stored<Part>[];
  /** Joined text parts: `turn.started.prompt`. */
  text: Text;
  /** Reminder about changes of its images, only for the model. */
  caption?: Text;
  attachments: Stored<Attachment>[];
}

export interface QueuedPrompt {
  id: string;
  input: PromptInput;
  createdAt: number;
}

export interface PromptQueue {
  /** Reserves an id. Throws `prompt.id_conflict` while it is in use, `prompt.already_completed` when it has settled. */
  reserve(id: string): void;
  release(id: string): void;
  /** Stores the content of a prompt that is about to be accepted. */
  keep(prompt: QueuedPrompt): void;
  /** Removes the content of a prompt that has settled. */
  forget(id: string): void;
  /** The prompt whose turn is about to start: it no longer waits, though there may be no record of that. */
  starting: QueuedPrompt | undefined;
  /** The oldest waiting prompt. */
  next(): QueuedPrompt | undefined;
  /** The waiting prompts with these ids, in queue order. Throws `prompt.not_found` unless ids are distinct and wait. */
  steerable(ids: readonly string[]): [QueuedPrompt, ...QueuedPrompt[]];
  /** The running prompt, and the waiting ones, as clients receive them. */
  active(): Stored<Prompt> | null;
  waiting(): Stored<Prompt>[];
  /** State of the prompt that an abort would end. Throws `prompt.not_found` and `prompt.already_completed`. */
  abortable(id: string): 'active' | 'waiting';
}

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
