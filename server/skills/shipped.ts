/** The skills that are shipped with the server; `shipped/` has their texts. */
import consolidate from './shipped/sub-skill-consolidate.md?raw';
import importFromOtherAgents from './shipped/import-from-other-agents.md?raw';
import mcpConfig from './shipped/mcp-config.md?raw';
import review from './shipped/sub-skill-review.md?raw';
import subSkill from './shipped/sub-skill.md?raw';
import updateConfig from './shipped/update-config.md?raw';
import writeGoal from './shipped/write-goal.md?raw';
import type { Skill } from './skill.ts';

interface Shipped {
  name: string;
  description: string;
  whenToUse?: string;
  /** Only the user activates it. */
  isUserOnly?: true;
  body: string;
}

/** Metadata is not part of the texts: front matter would have to be parsed before the first prompt. */
const SHIPPED: readonly Shipped[] = [
  {
    name: 'import-from-other-agents',
    description:
      'Imports instructions, skills, agents, MCP servers and permission rules that you have written for other coding assistants.',
    isUserOnly: true,
    body: importFromOtherAgents,
  },
  {
    name: 'mcp-config',
    description: 'Adds, changes, checks and removes MCP servers of this product.',
    isUserOnly: true,
    body: mcpConfig,
  },
  {
    name: 'sub-skill',
    description: 'Writes a skill with skills inside it, or turns related skills into one.',
    isUserOnly: true,
    body: subSkill,
  },
  {
    name: 'sub-skill.consolidate',
    description: 'Finds skills that overlap and merges them into one skill with nested ones.',
    isUserOnly: true,
    body: consolidate,
  },
  {
    name: 'sub-skill.review',
    description: 'Checks a skill with nested skills against the rules for names, descriptions and sizes.',
    isUserOnly: true,
    body: review,
  },
  {
    name: 'update-config',
    description: 'Reads and changes the configuration of this product: models, permissions, hooks, limits, folders.',
    whenToUse:
      'The user asks to change a setting of Service Code, a permission rule, a hook, a model or a provider, or asks why a setting has no effect.',
    body: updateConfig,
  },
  {
    name: 'write-goal',
    description: 'Turns a request into a goal with a condition that can be checked, and a budget.',
    whenToUse: 'The user wants to set a goal, or asks for long autonomous work whose end has to be verifiable.',
    body: writeGoal,
  },
];

/** `builtin://<name>`, for a nested skill `builtin://<parent>/<child>`. */
const pathOf = (name: string) => `builtin://${name.replaceAll('.', '/')}`;

/** The shipped skills, in order of their names. */
export const shippedSkills: readonly Skill[] = SHIPPED.map(({ name, isUserOnly, body, ...texts }) => ({
  name,
  ...texts,
  type: 'inline',
  kind: 'inline',
  ...(isUserOnly ? { disableModelInvocation: true } : {}),
  arguments: [],
  nested: name.includes('.'),
  path: pathOf(name),
  dir: pathOf(name),
  source: 'builtin',
  body: body.trim(),
}));
