/** Skills: instructions in Markdown files that the user or the model loads into a conversation. */
import type { SessionWarning } from '#schema/rest/session.ts';

export type SkillSource = 'project' | 'user' | 'extra' | 'builtin';

/** The use of a skill: instructions (`inline`), a flow that only the user starts, or text that cannot be activated. */
export type SkillKind = 'inline' | 'flow' | 'reference';

export interface Skill {
  /** In the spelling of the file; a nested skill is `parent.child`. */
  name: string;
  description: string;
  whenToUse?: string;
  /** The type as the file spells it; absent if it has none. */
  type?: string;
  kind: SkillKind;
  /** Absent if the file does not set it. */
  disableModelInvocation?: boolean;
  /** Names of the arguments that the skill declares. */
  arguments: readonly string[];
  /** Whether it is a skill within another skill. */
  nested: boolean;
  /** Absolute path of the file; `builtin://<name>` for a shipped skill. */
  path: string;
  /** Value of `${SERVICE_SKILL_DIR}`: the folder of the file; for a shipped skill its path. */
  dir: string;
  /** Skills of plugins are `extra`. */
  source: SkillSource;
  /** The plugin that has installed the skill; `instructions` precede the body. */
  plugin?: { id: string; instructions?: string };
  /** The text after the front matter. */
  body: string;
}

export interface SkillCatalog {
  /** By case-folded name (`skillKey`); of several with one name only the one with the highest priority. */
  skills: ReadonlyMap<string, Skill>;
  /** How many skills each source contributes; `plugin` for those of plugins. */
  sources: readonly { source: string; count: number }[];
  /** The existing folders that were searched. */
  roots: readonly string[];
  /** How many files are not used because they are invalid or their owner is not accepted. */
  skipped: number;
  /** For an unchanged file the same object at each check. */
  warnings: readonly SessionWarning[];
  /** Folders of SKILL.md files, and flat files, that may be read without approval. */
  readable: readonly string[];
}

/** Key of a skill's name in the catalog: names are compared case-insensitively. */
export const skillKey = (name: string): string => name.toLowerCase();

/** The skill with a name in any case; undefined if there is none. */
export const findSkill = ({ skills }: Pick<SkillCatalog, 'skills'>, name: string): Skill | undefined =>
  skills.get(skillKey(name));
