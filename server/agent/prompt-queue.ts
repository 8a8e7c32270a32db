/**
 * Prompts of one agent: which runs, which wait, which ids are taken. All that is the journal's to say; here is only
 * what it does not hold: ids of submits under way, and the content that a waiting prompt will enter the context with.
 */
import { ServiceError } from '#server/errors/service-error.ts';
import type { OpenPrompt } from '#server/journal/projections/prompts.ts';
import type { Attachment } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import type { Stored, Text } from '#server/journal/texts.ts';
import type { ContentPart } from '#schema/content.ts';
import type { Part } from '#schema/engine.ts';
import type { Prompt } from '#schema/prompt.ts';

/** A prompt's content in its three forms; what goes into the journal has its long texts stored. */
export interface PromptInput {
  /** As replies and the queue show it. */
  content: ContentPart[];
  /** As events and the journal's prompt records show it: never bytes. */
  eventContent: Stored<ContentPart>[];
  /** As the model sees it. */
  parts: Stored<Part>[];
  /** Concatenated text parts: `turn.started.prompt`. */
  text: Text;
  /** Reminder of what became of its images, for the model alone. */
  caption?: Text;
  attachments: Stored<Attachment>[];
}

export interface QueuedPrompt {
  id: string;
  input: PromptInput;
  createdAt: number;
}

export interface PromptQueue {
  /** Takes an id for a submit: 40927 while it is in use, 40903 once it has settled. */
  reserve(id: string): void;
  release(id: string): void;
  /** Keeps the content of a prompt that is about to be accepted. */
  keep(prompt: QueuedPrompt): void;
  /** Forgets the content of a prompt that has settled. */
  forget(id: string): void;
  /** The prompt whose turn is about to begin: it waits no more, and there may be no record of that. */
  starting: QueuedPrompt | undefined;
  /** The oldest waiting prompt. */
  next(): QueuedPrompt | undefined;
  /** The waiting prompts of these ids, in the order of the queue. Throws 40402 unless each waits and is named once. */
  steerable(ids: readonly string[]): [QueuedPrompt, ...QueuedPrompt[]];
  /** As clients see them. */
  active(): Stored<Prompt> | null;
  waiting(): Stored<Prompt>[];
  /** What an abort of this id means. Throws 40402 and 40903. */
  abortable(id: string): 'active' | 'waiting';
}

/** 40903 of a prompt that has settled. */
export const alreadyCompleted = (id: string) =>
  new ServiceError('prompt.already_completed', `prompt ${id} already completed`, { data: { aborted: false } });

/** The queue of an agent of a loaded session. */
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
