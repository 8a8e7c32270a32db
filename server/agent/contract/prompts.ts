/** Prompts of an agent before they enter its context. */
import type { ContentPart } from '#schema/rest/content.ts';
import type { Stored, Text } from '#server/journal/texts.ts';
import type { Origin, Part } from '#schema/engine.ts';
import type { Attachment } from '#server/journal/records.ts';
import type { Prompt } from '#schema/rest/prompt.ts';

/** A prompt's content in three forms; those that are journaled have their long texts stored. */
export interface PromptInput {
  /** Content for replies and the queue. */
  content: ContentPart[];
  /** Content for events and prompt records: never bytes. */
  eventContent: Stored<ContentPart>[];
  /** Content for the model. */
  parts: Stored<Part>[];
  /** `turn.started.prompt`: the joined text parts without the blocks of skills that were sent with the prompt. */
  text: Text;
  /** The line that was typed, of a slash command: its `text` is expanded from it. */
  typed?: string;
  /** Reminder about changes of its images, only for the model. */
  caption?: Text;
  attachments: Stored<Attachment>[];
}

/** Source of a prompt: a person's message, or a slash command. */
export type PromptOrigin = Extract<Origin, { kind: 'user' | 'skill_activation' | 'plugin_command' }>;

export interface QueuedPrompt {
  id: string;
  origin: PromptOrigin;
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
