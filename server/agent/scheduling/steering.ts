/** Steering: waiting prompts enter the running turn as one message. */
import { event, type Draft } from '#server/journal/records.ts';
import type { Stored } from '#server/journal/texts.ts';
import type { ContextMessage, Origin } from '#schema/engine.ts';
import { iso } from '#schema/scalars.ts';
import type { TurnRequest } from '../contract/context.ts';
import { captionReminder, reminderDrafts } from './prompt-start.ts';
import type { QueuedPrompt } from '../contract/prompts.ts';

const ORIGIN: Origin = { kind: 'user' };

/** `prompts` in queue order, at least one; the message has the id of the first. `activeId` is the turn's prompt, if any. */
export function steering(
  agentId: string,
  [first, ...more]: [QueuedPrompt, ...QueuedPrompt[]],
  activeId: string | undefined,
  now: number,
): { record: Draft; request: TurnRequest } {
  const prompts = [first, ...more];
  const content = prompts.flatMap(({ input }) => input.parts);
  const attachments = prompts.flatMap(({ input }) => input.attachments);
  const message: Stored<ContextMessage> = { role: 'user', content, toolCalls: [], origin: ORIGIN, id: first.id };
  const reminders = prompts.flatMap((prompt) => captionReminder(prompt, first.id));
  const record = event(
    agentId,
    'prompt.steered',
    {
      activePromptId: activeId ?? first.id,
      promptIds: prompts.map(({ id }) => id),
      messageId: first.id,
      content: prompts.flatMap(({ input }) => input.eventContent),
      steeredAt: iso(now),
    },
    { message, ...(reminders.length > 0 ? { reminders } : {}) },
  );
  const before = reminderDrafts(agentId, reminders);
  return { record, request: { origin: ORIGIN, before, messages: [message], attachments } };
}
