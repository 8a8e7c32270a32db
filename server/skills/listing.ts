/** The list of skills in an agent's system prompt. */
import type { SessionWarning } from '#schema/rest/session.ts';
import { compareNames } from '#server/files/compare-names.ts';
import { inPathOrder } from '#server/files/markdown-folders.ts';
import { cutText } from '#server/text/truncate.ts';
import { priorityOf } from './roots.ts';
import type { Skill, SkillCatalog, SkillSource } from './skill.ts';

/** Limit for the whole list. */
export const LISTING_CHARS = 24_000;
const DESCRIPTION_CHARS = 250;

const GROUPS: readonly { source: SkillSource; title: string }[] = [
  { source: 'project', title: 'Project' },
  { source: 'user', title: 'User' },
  { source: 'extra', title: 'Extra' },
  { source: 'builtin', title: 'Built-in' },
];

/** A skill's part of the list. */
interface Entry {
  skill: Skill;
  /** Name and path, which are never shortened. */
  head: string;
  /** Description and when to use it. */
  text: string;
}

/** The list is one line per skill, in which a file must not begin another line. */
const oneLine = (text: string) => text.replaceAll(/\s+/gu, ' ').trim();

/** The text in at most `limit` characters, with `…` where it is shortened. */
const shortened = (text: string, limit: number): string =>
  text.length <= limit ? text : limit < 1 ? '' : `${cutText(text, limit - 1).trimEnd()}…`;

/** Whether the model may activate a skill. */
export const isForModel = ({ kind, disableModelInvocation }: Skill): boolean =>
  kind === 'inline' && disableModelInvocation !== true;

function entryOf(skill: Skill): Entry {
  const description = shortened(oneLine(skill.description), DESCRIPTION_CHARS);
  const whenToUse = skill.whenToUse === undefined ? '' : ` When to use: ${oneLine(skill.whenToUse)}`;
  return { skill, head: `- ${oneLine(skill.name)} (${oneLine(skill.path)})`, text: `${description}${whenToUse}` };
}

/** Renders the entries with texts of at most `limit` characters, and the number of omitted skills. */
function render(entries: readonly Entry[], limit: number, omitted: number): string {
  const groups = GROUPS.flatMap(({ source, title }) => {
    const lines = entries.flatMap(({ skill, head, text }) => {
      if (skill.source !== source) return [];
      const shown = shortened(text, limit);
      return shown === '' ? [head] : [`${head}: ${shown}`];
    });
    return lines.length === 0 ? [] : [[`### ${title}`, ...lines].join('\n')];
  });
  return [...groups, ...(omitted === 0 ? [] : [`(${omitted} more skills are not listed.)`])].join('\n\n');
}

const fits = (entries: readonly Entry[], limit: number, omitted: number) =>
  render(entries, limit, omitted).length <= LISTING_CHARS;

/** The greatest number from 0 to `most` for which the test holds; it holds for all smaller ones. */
function greatest(most: number, holds: (value: number) => boolean): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * The list of the skills that the model may activate, in groups by source; empty without any. It has at most
 * `LISTING_CHARS` characters: descriptions are shortened to one equal length; if that does not suffice, skills of the
 * lowest priority are omitted. The warning reports either.
 */
export function skillListing({ skills }: Pick<SkillCatalog, 'skills'>): { text: string; warning?: SessionWarning } {
  const listed = [...skills.values()].filter((skill) => isForModel(skill) && !skill.nested);
  const entries = listed.map(entryOf).toSorted((a, b) => compareNames(a.skill.name, b.skill.name));
  const longest = Math.max(0, ...entries.map(({ text }) => text.length));
  if (fits(entries, longest, 0)) return { text: render(entries, longest, 0) };

  // The skills that are omitted first are at the end.
  const byPriority = inPathOrder(listed, ({ path }) => path).toSorted((a, b) => priorityOf(b) - priorityOf(a));
  const first = (count: number) => {
    const kept = new Set(byPriority.slice(0, count));
    return entries.filter(({ skill }) => kept.has(skill));
  };
  const count = greatest(listed.length, (number) => fits(first(number), 0, listed.length - number));
  const [shown, omitted] = [first(count), listed.length - count];
  const limit = greatest(longest, (length) => fits(shown, length, omitted));
  return { text: render(shown, limit, omitted), warning: cutWarning(listed.length, limit, omitted) };
}

const cutWarning = (count: number, length: number, omitted: number): SessionWarning => ({
  code: 'skill-listing-cut',
  message:
    `The list of ${count} skills in the system prompt is too long: their descriptions are shortened to ${length} characters` +
    `${omitted === 0 ? '' : `, and ${omitted} skills are left out`}.`,
  severity: 'warning',
});
