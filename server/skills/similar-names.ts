/** Suggestions for a name without a skill. */
import { compareNames } from '#server/files/compare-names.ts';
import { skillKey, type SkillCatalog } from './skill.ts';

const MAX_SUGGESTIONS = 5;
/** Longer names are not compared by distance, whose cost is the product of the lengths. */
const MAX_COMPARED_CHARS = 100;

/** Names of skills that a mistyped or shortened name may mean, the most similar first. */
export function similarNames({ skills }: Pick<SkillCatalog, 'skills'>, name: string): string[] {
  const wanted = skillKey(name.trim());
  if (wanted === '' || wanted.length > MAX_COMPARED_CHARS) return [];
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return [...skills]
    .map(([key, skill]) => ({ name: skill.name, distance: difference(key, wanted) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance || compareNames(a.name, b.name))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name: similar }) => similar);
}

/** Edit distance; 1 at most if one name is part of the other. */
function difference(key: string, wanted: string): number {
  if (key.includes(wanted) || (key.length > 2 && wanted.includes(key))) return 1;
  return key.length > MAX_COMPARED_CHARS ? Number.POSITIVE_INFINITY : editDistance(key, wanted);
}

/** Levenshtein distance: the smallest number of inserted, removed and replaced characters. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [line, character] of [...one].entries()) {
    const next = [line + 1];
    for (const [column, counterpart] of [...other].entries()) {
      const replaced = (row[column] ?? 0) + (character === counterpart ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
