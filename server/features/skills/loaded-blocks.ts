/** The blocks of skills in an agent's context: which are there, and how deep the next call of Skill is nested. */
import { createHash } from 'node:crypto';
import type { ContextEntry, ContextState } from '#server/journal/projections/context.ts';
import { BlobText, type Stored, type Text } from '#server/journal/texts.ts';
import { bundledSkills } from '#server/journal/typed-prompts.ts';
import { skillText } from '#server/skills/activation.ts';
import type { SkillUse } from '#server/skills/expand.ts';
import { skillKey, type Skill } from '#server/skills/skill.ts';
import { cutText } from '#server/text/truncate.ts';
import type { BundledSkill, ContextMessage } from '#schema/engine.ts';

type Entries = readonly Pick<ContextEntry, 'message'>[];

interface Block {
  skill: BundledSkill;
  trigger: SkillUse['trigger'];
  text: Text;
}

/** The blocks of a message, in order. */
function blocksOf({ origin, content }: Stored<ContextMessage>): Block[] {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const [first] = texts;
  if (origin?.kind === 'skill_activation') {
    return first === undefined ? [] : [{ skill: origin, trigger: origin.trigger, text: first }];
  }
  return bundledSkills(origin).flatMap((skill, index) => {
    const text = texts[index];
    return text === undefined ? [] : [{ skill, trigger: 'user-slash' as const, text }];
  });
}

/** The blocks that entered the context after the last compaction, oldest first. */
const recentBlocks = ({ entries, barrier }: Pick<ContextState, 'entries' | 'barrier'>): Block[] =>
  entries.slice(barrier).flatMap(({ message }) => blocksOf(message));

/** Whether a block with these arguments and the skill's present text entered the context after the last compaction. */
export function isLoaded(context: Pick<ContextState, 'entries' | 'barrier'>, skill: Skill, use: SkillUse): boolean {
  return recentBlocks(context).some(
    ({ skill: { skillName, skillArgs }, trigger, text }) =>
      skillKey(skillName) === skillKey(skill.name) &&
      skillArgs === use.args &&
      isSameText(text, skillText(skill, { ...use, trigger })),
  );
}

const isSameText = (stored: Text, text: string) =>
  stored instanceof BlobText ? stored.blob === createHash('sha256').update(text).digest('hex') : stored === text;

/** Bounds of the lines for a summary, which would otherwise grow with every compaction. */
const MAX_LINES = 50;
const LINE_CHARS = 200;

/**
 * One line for each skill that entered the context after the last compaction: its name and its arguments, cut to 200
 * characters. Only the newest 50.
 */
export function loadedSkills(context: Pick<ContextState, 'entries' | 'barrier'>): string[] {
  const lines = recentBlocks(context).map(({ skill: { skillName, skillArgs = '' } }) =>
    cutText(`${skillName} ${skillArgs}`.replaceAll(/\s+/gu, ' ').trim(), LINE_CHARS),
  );
  return [...new Set(lines)].slice(-MAX_LINES);
}

/**
 * Depth of a call of Skill in the newest response: one more than that of the block directly before the response,
 * reminders aside; 0 without one. Blocks that no nested call has loaded have depth 0.
 */
export function nextDepth(entries: Entries): number {
  const depth = depthBefore(entries, lastResponse(entries, entries.length));
  return depth === undefined ? 0 : depth + 1;
}

/** Depth of the block directly before the response at an index; undefined if there is none. */
function depthBefore(entries: Entries, response: number): number | undefined {
  let depth = 0;
  for (let at = response; ; depth += 1) {
    const block = skippingReminders(entries, at - 1);
    const origin = entries[block]?.message.origin;
    if (origin?.kind === 'skill_activation' && origin.trigger === 'nested-skill') {
      at = lastResponse(entries, block);
      continue;
    }
    if (origin?.kind === 'skill_activation' || bundledSkills(origin).length > 0) return depth;
    return depth === 0 ? undefined : depth;
  }
}

function lastResponse(entries: Entries, before: number): number {
  let at = before - 1;
  while (at >= 0 && entries[at]?.message.role !== 'assistant') at -= 1;
  return at;
}

function skippingReminders(entries: Entries, from: number): number {
  let at = from;
  while (entries[at]?.message.origin?.kind === 'injection') at -= 1;
  return at;
}
