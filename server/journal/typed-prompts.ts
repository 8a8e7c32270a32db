/**
 * The prompts of users as people typed them: without the blocks of the skills that were sent with a prompt, and a slash
 * command as its line.
 */
import type { BundledSkill, Origin } from '#schema/engine.ts';

type UserOrigin = Extract<Origin, { kind: 'user' }>;

/** The skills that were sent with a prompt: that many of its first text parts are their blocks. */
export function bundledSkills(origin: Origin | undefined): readonly BundledSkill[] {
  return origin?.kind === 'user' ? (origin.skillActivations ?? []) : [];
}

/** Ids of the activations of skills and commands that a message is, or that were sent with it. */
export function activationIds(origin: Origin | undefined): readonly string[] {
  if (origin?.kind === 'skill_activation' || origin?.kind === 'plugin_command') return [origin.activationId];
  return bundledSkills(origin).map(({ activationId }) => activationId);
}

/** The origin of a user's message that begins with the blocks of these skills. */
export const userOrigin = (skills: readonly BundledSkill[]): UserOrigin =>
  skills.length > 0 ? { kind: 'user', skillActivations: [...skills] } : { kind: 'user' };

/** Divides a message's content into the blocks of skills that were sent with it and the rest. */
export function splitSkillBlocks<Content extends { type: string }>(
  content: readonly Content[],
  origin: Origin | undefined,
): { blocks: Content[]; rest: Content[] } {
  let left = bundledSkills(origin).length;
  const blocks: Content[] = [];
  const rest: Content[] = [];
  for (const part of content) {
    const isBlock = left > 0 && part.type === 'text';
    if (isBlock) left -= 1;
    (isBlock ? blocks : rest).push(part);
  }
  return { blocks, rest };
}

/** The content without the blocks of skills that were sent with it. */
export const withoutSkillBlocks = <Content extends { type: string }>(
  content: readonly Content[],
  origin: Origin | undefined,
): Content[] => splitSkillBlocks(content, origin).rest;

/** The line of a slash command; undefined for messages of other origins. */
export function slashLine(origin: Origin | undefined): string | undefined {
  if (origin?.kind === 'skill_activation') return line(origin.skillName, origin.skillArgs);
  if (origin?.kind === 'plugin_command') return line(`${origin.pluginId}:${origin.commandName}`, origin.commandArgs);
  return undefined;
}

const line = (name: string, args = '') => `/${name} ${args}`.trim();
