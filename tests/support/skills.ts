/** Skills and catalogs of tests. */
import { skillKey, type Skill, type SkillCatalog } from '#server/skills/skill.ts';

/** An inline skill of the project; its path follows from its name. */
export function testSkill(name: string, more: Partial<Skill> = {}): Skill {
  return {
    name,
    description: `About ${name}.`,
    kind: 'inline',
    arguments: [],
    nested: false,
    path: `/project/.service-code/skills/${name}/SKILL.md`,
    dir: `/project/.service-code/skills/${name}`,
    source: 'project',
    body: 'Do it.',
    ...more,
  };
}

export const testCatalog = (...skills: Skill[]): Pick<SkillCatalog, 'skills'> => ({
  skills: new Map(skills.map((skill) => [skillKey(skill.name), skill])),
});
