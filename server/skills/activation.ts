/** A skill that enters a conversation: its text for the model, and the facts that its message and its event contain. */
import { randomUUID } from 'node:crypto';
import { ServiceError } from '#server/errors/service-error.ts';
import { event, type CompleteDraft } from '#server/journal/records.ts';
import type { BundledSkill } from '#schema/engine.ts';
import { expandSkill, type SkillTrigger, type SkillUse } from './expand.ts';
import { findSkill, type Skill, type SkillCatalog } from './skill.ts';

export interface SkillActivation {
  /** A sentence, and the block with the expanded body. */
  text: string;
  facts: BundledSkill;
  /** The record of the activation by an agent. */
  event(agentId: string): CompleteDraft;
}

/** Expands a skill for a conversation. */
export function activateSkill(skill: Skill, use: SkillUse): SkillActivation {
  const { name: skillName, type, path: skillPath, source: skillSource } = skill;
  const { trigger, args } = use;
  const activationId = randomUUID();
  const skillArgs = args === undefined ? {} : { skillArgs: args };
  return {
    text: skillText(skill, use),
    facts: {
      activationId,
      skillName,
      ...skillArgs,
      ...(type === undefined ? {} : { skillType: type }),
      skillPath,
      skillSource,
    },
    event: (agentId) =>
      event(agentId, 'skill.activated', { activationId, skillName, trigger, ...skillArgs, skillPath, skillSource }),
  };
}

const introduction = (name: string, trigger: SkillTrigger) =>
  trigger === 'user-slash' ? `The user has activated the skill "${name}".` : `The skill "${name}" is loaded.`;

/** The text part with which a skill enters a conversation. */
export const skillText = (skill: Skill, use: SkillUse): string =>
  `${introduction(skill.name, use.trigger)} Follow its instructions:\n\n${expandSkill(skill, use).text}`;

/** Activates the skill that a person has named. Throws `skill.not_found`, `skill.not_activatable`. */
export function activateByUser(
  catalog: Pick<SkillCatalog, 'skills'>,
  name: string,
  use: Omit<SkillUse, 'trigger'>,
): SkillActivation {
  const skill = findSkill(catalog, name);
  if (!skill) throw skillNotFound(name);
  if (skill.kind === 'reference') {
    throw new ServiceError('skill.not_activatable', `Skill "${skill.name}" cannot be activated by the user`);
  }
  return activateSkill(skill, { ...use, trigger: 'user-slash' });
}

export const skillNotFound = (name: string) => new ServiceError('skill.not_found', `Skill "${name}" was not found`);
