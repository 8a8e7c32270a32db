/** Start of a prompt: the request of its turn, and the features' verdict before it. */
import { entering, event, type Draft } from '#server/journal/records.ts';
import type { Stored } from '#server/journal/texts.ts';
import type { ContextMessage, Origin } from '#schema/engine.ts';
import { iso } from '#schema/scalars.ts';
import type { TurnRequest } from '../contract/context.ts';
import type { PromptStart } from '../contract/feature.ts';
import type { QueuedPrompt } from '../contract/prompts.ts';

/** The reminder that precedes a prompt's message and is removed together with it. */
export function captionReminder({ input: { caption } }: QueuedPrompt, ownerPromptId: string): Stored<ContextMessage>[] {
  if (caption === undefined) return [];
  const origin: Origin = { kind: 'injection', variant: 'image_compression', ownerPromptId };
  return [{ role: 'user', content: [{ type: 'text', text: caption }], toolCalls: [], origin }];
}

/** The records with which reminders enter the context. */
export const reminderDrafts = (agentId: string, reminders: Stored<ContextMessage>[]): Draft[] =>
  reminders.length > 0 ? [entering(agentId, reminders, { cause: 'reminder' })] : [];

/** The request of a prompt's turn. */
export function promptRequest(agentId: string, prompt: QueuedPrompt): TurnRequest {
  const { id, origin, input } = prompt;
  const { text, typed, attachments, parts } = input;
  const opening: Stored<ContextMessage> = { role: 'user', content: parts, toolCalls: [], origin, id };
  const before = reminderDrafts(agentId, captionReminder(prompt, id));
  const shown = typed === undefined ? {} : { shown: typed };
  return { origin, promptId: id, prompt: text, ...shown, attachments, before, messages: [opening] };
}

export interface PromptVerdict {
  /** Outcome of the start; `aborted` if the signal fired. */
  outcome: 'begins' | 'refused' | 'aborted' | 'failed';
  records: Draft[];
  /** Present for `failed`. */
  error?: unknown;
}

/** Calls the features sequentially; the first refusal is final. */
export async function askOfPrompt(
  asked: readonly ((signal: AbortSignal) => Promise<PromptStart>)[],
  signal: AbortSignal,
): Promise<PromptVerdict> {
  const records: Draft[] = [];
  try {
    for (const ask of asked) {
      if (signal.aborted) break;
      const answer = await ask(signal);
      records.push(...(answer.records ?? []));
      if (answer.refused && !signal.aborted) return { outcome: 'refused', records };
    }
  } catch (error) {
    if (!signal.aborted) return { outcome: 'failed', records, error };
  }
  return { outcome: signal.aborted ? 'aborted' : 'begins', records };
}

/** The records that settle a prompt without a turn. `at` is in ms. */
export function promptWithoutTurn(
  agentId: string,
  prompt: QueuedPrompt,
  { outcome, records }: PromptVerdict,
  at: number,
): Draft[] {
  const { id: promptId } = prompt;
  const time = iso(at);
  if (outcome === 'aborted') return [event(agentId, 'prompt.aborted', { promptId, abortedAt: time })];
  const settled = (reason: 'failed' | 'blocked') =>
    event(agentId, 'prompt.completed', { promptId, finishedAt: time, reason });
  if (outcome === 'failed') return [settled('failed')];
  const { before = [], messages } = promptRequest(agentId, prompt);
  return [...before, entering(agentId, messages, { cause: 'input' }), ...records, settled('blocked')];
}
