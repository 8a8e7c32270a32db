/** Skills of a directory that has none, no slash commands and no plugins. */
import type { PluginCommands } from '#server/plugins/commands.ts';
import type { SkillCatalog } from '#server/skills/skill.ts';
import type { Skills } from '#server/skills/skills.ts';

const empty: SkillCatalog = { skills: new Map(), sources: [], roots: [], skipped: 0, warnings: [], readable: [] };

export const noSkills: Skills = {
  look: () => Promise.resolve(empty),
  seen: () => empty,
  folders: () => Promise.resolve([]),
};

export const noCommands: PluginCommands = {
  look: () => Promise.resolve({ commands: [], warnings: [] }),
  seen: () => ({ commands: [], warnings: [] }),
};

/** No plugins. */
export const noPlugins = { enabled: () => [], problems: () => [], onChange: () => () => undefined };
