/** The list of slash commands, and the activation of the one that was typed. */
import type { Completion, TypedPrompt } from '../feature.ts';
import type { ActivateSkill } from '#schema/rest/skill.ts';
import { activateSkill, listSkills } from './requests.ts';
import { activationOf, matchingSkills, offeredSkills, slashAt } from './skills.ts';

export const skillCompletion: Omit<Completion, 'row'> = {
  label: 'Skills and commands',
  typedAt: slashAt,
  open({ rest, view }) {
    const reading = listSkills(rest, view.id).then(offeredSkills);
    return async (query) => matchingSkills(await reading, query);
  },
};

/** Activates the skill that the text names; an unknown name is the start of an ordinary prompt. */
export async function activateTyped({ rest, sessionId, text, attachments }: TypedPrompt): Promise<boolean> {
  if (!/^\/\S/.test(text)) return false;
  const activation = activationOf(text, offeredSkills(await listSkills(rest, sessionId)));
  if (!activation) return false;
  const { name, args } = activation;
  const media = attachments.filter(isAttachment);
  const body = { ...(args === undefined ? {} : { args }), ...(media.length > 0 && { attachments: media }) };
  await activateSkill(rest, sessionId, name, body);
  return true;
}

type Attachment = NonNullable<ActivateSkill['attachments']>[number];

const isAttachment = (part: TypedPrompt['attachments'][number]): part is Attachment =>
  part.type === 'image' || part.type === 'video' || part.type === 'file';
