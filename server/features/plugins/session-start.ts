/** The reminder with the skills that plugins render at the start of a conversation. */
import { reminder } from '#server/agent/prompt/reminders.ts';
import type { ContextState } from '#server/journal/projections/context.ts';
import type { EnabledPlugin } from '#server/plugins/installed-plugins.ts';
import { expandSkill } from '#server/skills/expand.ts';
import type { Skill, SkillCatalog } from '#server/skills/skill.ts';
import type { ContextMessage } from '#schema/engine.ts';

const VARIANT = 'plugin_session_start';

/** Whether no model request followed the start of the conversation or the last compaction, nor the reminder. */
export function isStartDue({ entries, barrier }: Pick<ContextState, 'entries' | 'barrier'>): boolean {
  for (let at = barrier; at < entries.length; at += 1) {
    const entry = entries[at];
    if (entry?.step !== undefined) return false;
    const origin = entry?.message.origin;
    if (origin?.kind === 'injection' && origin.variant === VARIANT) return false;
  }
  return true;
}

/** Returns the skill that a plugin names for the start; undefined if it names none of its own. */
function startSkill({ skills }: SkillCatalog, { id, manifest }: EnabledPlugin): Skill | undefined {
  const name = manifest.sessionStartSkill?.toLowerCase();
  const skill = name === undefined ? undefined : skills.get(name);
  return skill?.plugin?.id === id ? skill : undefined;
}

/** Returns the reminder; undefined if no plugin has such a skill. */
export function startReminder(
  plugins: readonly EnabledPlugin[],
  catalog: SkillCatalog,
  { sessionId, isRepeated }: { sessionId: string; isRepeated: boolean },
): ContextMessage | undefined {
  const blocks = plugins.flatMap((plugin) => {
    const skill = startSkill(catalog, plugin);
    return skill ? [expandSkill(skill, { args: undefined, sessionId, trigger: 'model-tool' }).text] : [];
  });
  if (blocks.length === 0) return undefined;
  const first = isRepeated
    ? 'Instructions of installed plugins for this conversation. They replace those that were given earlier.'
    : 'Instructions of installed plugins for this conversation.';
  return reminder(VARIANT, [first, ...blocks].join('\n\n'));
}
