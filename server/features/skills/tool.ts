/** Skill: loads the instructions of a skill into the conversation. */
import * as z from 'zod';
import { defineTool, failed, type Tool, type ToolResult } from '#server/tools/tool.ts';

export const SKILL = 'Skill';

const parameters = z.object({
  skill: z.string().min(1).describe('Name of the skill, as listed.'),
  args: z.string().optional().describe('Arguments, as a user would write them after the name of the skill.'),
});

const DESCRIPTION = `Load a skill: instructions for one kind of task, which follow as the next message.

Use it before you start a task that fits the description of a skill. Only skills that are listed, or that the user names, can be loaded. One that is loaded in this conversation already needs no second call.`;

/** Loads a skill by name; the returned result is that of the call. */
export type LoadSkill = (name: string, args: string | undefined) => Promise<ToolResult>;

export function createSkillTool(load: LoadSkill): Tool {
  return defineTool({
    name: SKILL,
    permission: 'free',
    effects: 'none',
    description: DESCRIPTION,
    parameters,
    prepare({ skill, args }) {
      return {
        accesses: [],
        label: `Invoke skill ${skill}`,
        display: { kind: 'skill_call', skill_name: skill, ...(args === undefined ? {} : { args }) },
        subject: { text: skill, match: 'literal' },
        run: () => load(skill, args),
      };
    },
  });
}

export const unknownSkill = (name: string, similar: readonly string[]): ToolResult =>
  failed(
    similar.length === 0
      ? `There is no skill "${name}".`
      : `There is no skill "${name}". Skills with a similar name: ${similar.join(', ')}.`,
  );
