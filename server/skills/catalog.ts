/** Merges the skills of all roots into the catalog of a directory. */
import { dirname } from 'node:path';
import type { SessionWarning } from '#schema/rest/session.ts';
import { isInside } from '#server/files/paths.ts';
import { kindOf, type RootKind, type SkillRoot } from './roots.ts';
import type { SkillFile } from './skill-file.ts';
import { isSkillFile, type Reading } from './skill-files.ts';
import { skillKey, type Skill, type SkillCatalog } from './skill.ts';

/** A root with the results of its files. */
export interface CheckedRoot {
  root: SkillRoot;
  exists: boolean;
  /** In path order. */
  readings: readonly Reading[];
  /** For each reading the warning if its file is ignored because of its owner. */
  ignored: readonly (SessionWarning | undefined)[];
  /** Warning that a limit omitted files. */
  cut?: SessionWarning;
}

/** Order of the sources in the catalog. */
const KINDS: readonly RootKind[] = ['project', 'user', 'extra', 'plugin', 'builtin'];

/** Merges the skills; of equal names the first wins. `roots` are ordered from the highest priority to the lowest. */
export function buildCatalog(shipped: readonly Skill[], roots: readonly CheckedRoot[]): SkillCatalog {
  const skills = new Map<string, Skill>();
  const readable = new Set<string>();
  for (const found of roots.flatMap(skillsOfRoot)) {
    const key = skillKey(found.skill.name);
    if (skills.has(key)) continue;
    skills.set(key, found.skill);
    readable.add(found.readable);
  }
  for (const skill of shipped) if (!skills.has(skillKey(skill.name))) skills.set(skillKey(skill.name), skill);
  const winners = [...skills.values()];
  const counted = KINDS.map((source) => ({
    source,
    count: winners.filter((skill) => kindOf(skill) === source).length,
  }));
  // Two roots may name the same folder.
  const broken = new Map(
    roots.flatMap(({ readings, ignored }) =>
      readings.flatMap((reading, index) => {
        const warning = 'warning' in reading ? reading.warning : ignored[index];
        return warning ? [[reading.path, warning] as const] : [];
      }),
    ),
  );
  return {
    skills,
    sources: counted.filter(({ count }) => count > 0),
    roots: roots.flatMap(({ root, exists }) => (exists ? root.path : [])),
    skipped: broken.size,
    warnings: [...broken.values(), ...roots.flatMap(({ cut }) => cut ?? [])],
    readable: [...readable],
  };
}

/** A skill, and what may be read of it without approval. */
interface Found {
  skill: Skill;
  readable: string;
}

function skillsOfRoot({ root, readings, ignored }: CheckedRoot): Found[] {
  const used = readings.flatMap((reading, index) => ('file' in reading && !ignored[index] ? [reading] : []));
  const withSubSkills = used.filter(({ path, file }) => isSkillFile(path) && file.hasSubSkills);
  const parents = new Map(withSubSkills.map(({ path, file }) => [dirname(path), file.name]));
  return used.map(({ path, file }) => {
    const above = isSkillFile(path) ? parentNames(dirname(path), root.path, parents) : [];
    const name = [...above, file.name].join('.');
    const skill = skillOf({ ...file, name }, { path, root, nested: above.length > 0 });
    // A root is never readable as a whole: it may be the user's home.
    return { skill, readable: isSkillFile(path) && skill.dir !== root.path ? skill.dir : path };
  });
}

/** Names of the skills whose folders contain a folder, the outermost first. */
function parentNames(folder: string, root: string, parents: ReadonlyMap<string, string>): string[] {
  const names: string[] = [];
  for (let above = folder; isInside(dirname(above), root) && above !== dirname(above);) {
    above = dirname(above);
    const name = parents.get(above);
    if (name !== undefined) names.unshift(name);
  }
  return names;
}

function skillOf(
  { hasSubSkills: _only, ...file }: SkillFile,
  { path, root, nested }: { path: string; root: SkillRoot; nested: boolean },
): Skill {
  const { kind, plugin } = root;
  const source = kind === 'plugin' ? 'extra' : kind;
  return { ...file, nested, path, dir: dirname(path), source, ...(plugin ? { plugin } : {}) };
}
