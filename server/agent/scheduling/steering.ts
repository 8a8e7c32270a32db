/** Steering: waiting prompts enter the running turn as one message. */
import { event, type Draft } from '#server/journal/records.ts';
import type { Stored } from '#server/journal/texts.ts';
import { bundledSkills, splitSkillBlocks, userOrigin } from '#server/journal/typed-prompts.ts';
import type { BundledSkill, ContextMessage, Part } from '#schema/engine.ts';
import { iso } from '#schema/scalars.ts';
import type { TurnRequest } from '../contract/context.ts';
import { captionReminder, reminderDrafts } from './prompt-start.ts';
import type { PromptOrigin, QueuedPrompt } from '../contract/prompts.ts';

/** `prompts` in queue order, at least one; the message has the id of the first. `activeId` is the turn's prompt, if any. */
export function steering(
  agentId: string,
  [first, ...more]: [QueuedPrompt, ...QueuedPrompt[]],
  activeId: string | undefined,
  now: number,
): { record: Draft; request: TurnRequest } {
  const prompts = [first, ...more];
  const { origin, content } =
    more.length === 0 ? { origin: first.origin, content: first.input.parts } : merged(prompts);
  const attachments = prompts.flatMap(({ input }) => input.attachments);
  const message: Stored<ContextMessage> = { role: 'user', content, toolCalls: [], origin, id: first.id };
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
  return { record, request: { origin, before, messages: [message], attachments } };
}

/** The content of several prompts: the skill blocks of all of them, then the rest of all of them. */
function merged(prompts: readonly QueuedPrompt[]): { origin: PromptOrigin; content: Stored<Part>[] } {
  const divided = prompts.map(({ origin, input }) => {
    // The text of a slash skill is its block, so it is read like that of a skill that was sent with a prompt.
    const own = origin.kind === 'skill_activation' ? userOrigin([asBundled(origin)]) : origin;
    return { skills: bundledSkills(own), ...splitSkillBlocks(input.parts, own) };
  });
  return {
    origin: userOrigin(divided.flatMap(({ skills }) => skills)),
    content: [...divided.flatMap(({ blocks }) => blocks), ...divided.flatMap(({ rest }) => rest)],
  };
}

function asBundled(origin: Extract<PromptOrigin, { kind: 'skill_activation' }>): BundledSkill {
  const { kind: _kind, trigger: _trigger, ...skill } = origin;
  return skill;
}
