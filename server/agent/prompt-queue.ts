/** Prompts of one agent: which run, which wait, which ids are taken (turns.md §2.5, §2.7; engine.md §2.7). */
import { ServiceError } from '#server/errors/service-error.ts';
import type { Attachment } from '#server/journal/records.ts';
import type { ContentPart } from '#schema/content.ts';
import type { Part } from '#schema/engine.ts';
import type { Prompt } from '#schema/prompt.ts';
import { iso } from '#schema/scalars.ts';

/** Settled ids that an abort still recognizes. */
const REMEMBERED_IDS = 1000;

/** A prompt's content in its three forms (turns.md §2.2). */
export interface PromptInput {
  /** As replies and the queue show it. */
  content: ContentPart[];
  /** As events and the journal's prompt records show it: never bytes. */
  eventContent: ContentPart[];
  /** As the model sees it. */
  parts: Part[];
  /** Concatenated text parts: `turn.started.prompt`. */
  text: string;
  attachments: Attachment[];
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
  add(prompt: QueuedPrompt): void;
  /** The next waiting prompt becomes the active one. */
  activateNext(): QueuedPrompt | undefined;
  /** The active prompt has ended. */
  settle(id: string): void;
  active(): QueuedPrompt | undefined;
  waiting(): readonly QueuedPrompt[];
  /** What an abort of this id means; removes it when it waits. Throws 40402 and 40903. */
  abort(id: string): 'active' | 'removed';
  /** Empties the queue; the removed prompts in order. */
  drain(): QueuedPrompt[];
}

export const alreadyCompleted = (id: string) =>
  new ServiceError('prompt.already_completed', `prompt ${id} already completed`, { data: { aborted: false } });

/** `usedBefore` tells ids of this agent's history, which survive a restart. */
export function createPromptQueue(usedBefore: (id: string) => boolean): PromptQueue {
  const reserved = new Set<string>();
  const settled = new Set<string>();
  const queue: QueuedPrompt[] = [];
  let active: QueuedPrompt | undefined;

  const settle = (id: string) => {
    settled.add(id);
    const oldest = settled.values().next();
    if (settled.size > REMEMBERED_IDS && !oldest.done) settled.delete(oldest.value);
  };

  return {
    reserve(id) {
      if (reserved.has(id) || active?.id === id || queue.some((prompt) => prompt.id === id)) {
        throw new ServiceError('prompt.id_conflict', `prompt_id '${id}' is already in use`);
      }
      if (settled.has(id) || usedBefore(id)) throw alreadyCompleted(id);
      reserved.add(id);
    },
    release: (id) => void reserved.delete(id),
    add(prompt) {
      reserved.delete(prompt.id);
      queue.push(prompt);
    },
    activateNext() {
      active = queue.shift();
      return active;
    },
    settle(id) {
      if (active?.id === id) active = undefined;
      settle(id);
    },
    active: () => active,
    waiting: () => queue,
    abort(id) {
      if (active?.id === id) return 'active';
      const place = queue.findIndex((prompt) => prompt.id === id);
      if (place >= 0) {
        queue.splice(place, 1);
        settle(id);
        return 'removed';
      }
      if (settled.has(id)) throw alreadyCompleted(id);
      throw new ServiceError('prompt.not_found', `prompt ${id} not found`);
    },
    drain() {
      const removed = queue.splice(0);
      for (const prompt of removed) settle(prompt.id);
      return removed;
    },
  };
}

/** The Prompt object of replies and lists (turns.md §2.4). */
export function promptView(prompt: QueuedPrompt, status: Prompt['status']): Prompt {
  return {
    prompt_id: prompt.id,
    user_message_id: prompt.id,
    status,
    content: prompt.input.content,
    created_at: iso(prompt.createdAt),
  };
}
