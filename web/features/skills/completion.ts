/** The list of slash commands, and the activation of the one that was typed. */
import { ConnectionError, type ActivateSkill } from '@service-code/client';
import { t } from '../../messages/messages.ts';
import type { Completion, TypedPrompt } from '../feature.ts';
import { activateSkill, listSkills, promptWithSkills } from './requests.ts';
import { matchingCommands } from './commands.ts';
import { activationOf, matchingSkills, offeredSkills, severalSkillsOf, slashAt } from './skills.ts';

export const skillCompletion: Omit<Completion, 'row'> = {
  label: t('skills.label'),
  typedAt: slashAt,
  open({ rest, view, commands }) {
    const reading = listSkills(rest, view.id).then(offeredSkills);
    return async (query) => [...matchingSkills(await reading, query), ...matchingCommands(commands, query)];
  },
};

/**
 * Activates the skill that the text names, or sends a prompt with several; an unknown name is the start of an ordinary
 * prompt. Neither request has an id, so the person has to check whether one whose reply was lost has arrived.
 */
export async function activateTyped({ rest, sessionId, text, attachments }: TypedPrompt): Promise<boolean> {
  if (!/^\/\S/.test(text)) return false;
  const skills = offeredSkills(await listSkills(rest, sessionId));
  const several = severalSkillsOf(text, skills);
  const activation = activationOf(text, skills);
  if (!several && !activation) return false;
  try {
    if (several) {
      const { names, prompt } = several;
      await promptWithSkills(rest, sessionId, {
        names,
        content: [...attachments, { type: 'text', text: prompt || text }],
      });
    } else if (activation) {
      const { name, args } = activation;
      const media = attachments.filter(isAttachment);
      const body = { ...(args === undefined ? {} : { args }), ...(media.length > 0 && { attachments: media }) };
      await activateSkill(rest, sessionId, name, body);
    }
  } catch (error) {
    throw error instanceof ConnectionError ? new ConnectionError(t('composer.check-first'), { cause: error }) : error;
  }
  return true;
}

type Attachment = NonNullable<ActivateSkill['attachments']>[number];

const isAttachment = (part: TypedPrompt['attachments'][number]): part is Attachment =>
  part.type === 'image' || part.type === 'video' || part.type === 'file';
