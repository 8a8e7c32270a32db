/** Skills of a directory that has none. */
import type { SkillCatalog } from '#server/skills/skill.ts';
import type { Skills } from '#server/skills/skills.ts';

const empty: SkillCatalog = { skills: new Map(), sources: [], roots: [], skipped: 0, warnings: [], readable: [] };

export const noSkills: Skills = { look: () => Promise.resolve(empty), seen: () => empty };
