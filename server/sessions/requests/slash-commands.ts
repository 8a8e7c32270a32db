/** The slash commands that apply to a directory: its skills, and after them the commands of plugins. */
import type { AgentServices } from '#server/agent/contract/services.ts';
import { commandDescriptors } from '#server/plugins/commands.ts';
import { skillDescriptors } from '#server/skills/descriptors.ts';
import type { SkillDescriptor } from '#schema/rest/skill.ts';

export async function slashCommands(
  { skills, commands }: Pick<AgentServices, 'skills' | 'commands'>,
  cwd: string,
): Promise<SkillDescriptor[]> {
  const [ofSkills, ofPlugins] = await Promise.all([skills.look(cwd), commands.look()]);
  return [...skillDescriptors(ofSkills), ...commandDescriptors(ofPlugins)];
}
