/** Reminders for the model that a user has switched swarm mode on, or that it has ended. */
import * as z from 'zod';
import { contextSize } from '#server/journal/context-size.ts';
import { reminder } from '#server/agent/prompt/reminders.ts';
import type { ContextEntry, ContextState } from '#server/journal/projections/context.ts';
import { event, type Draft, type SwarmTrigger } from '#server/journal/records.ts';
import type { ContextMessage } from '#schema/engine.ts';

/** Variant of the reminders' origin. */
const SWARM_REMINDER = 'swarm_mode';

type Reminded = 'on' | 'off';

const disclosureSchema = z.object({ swarm: z.enum(['on', 'off']) });

const texts: Record<Reminded, string> = {
  on: `Swarm mode is on: the user wants work to be spread over many subagents. Where a task can be taken apart into pieces that do not depend on each other, call AgentSwarm with a template and one item for each piece, as the only call of your response. Do yourself what cannot be taken apart, and what puts the pieces together.`,
  off: 'Swarm mode has ended: decide again by the task alone whether subagents are worth it.',
};

function reminderIn({ message: { origin } }: ContextEntry): Reminded | undefined {
  if (origin?.kind !== 'injection' || origin.variant !== SWARM_REMINDER) return undefined;
  return disclosureSchema.safeParse(origin.disclosure).data?.swarm;
}

/** Returns the state of the newest reminder that is still in the model's context. */
function visible({ entries }: Pick<ContextState, 'entries'>): Reminded | undefined {
  for (let at = entries.length - 1; at >= 0; at -= 1) {
    const entry = entries[at];
    const reminded = entry && reminderIn(entry);
    if (reminded) return reminded;
  }
  return undefined;
}

/** Returns the reminder that the next request needs, if any. */
export function swarmReminders(
  context: Pick<ContextState, 'entries'>,
  trigger: SwarmTrigger | undefined,
): ContextMessage[] {
  const reminded = visible(context);
  const now: Reminded = trigger === 'manual' ? 'on' : 'off';
  // The model needs the reminder that the mode is off only after the one that it is on.
  if (reminded === now || (reminded === undefined && now === 'off')) return [];
  return [reminder(SWARM_REMINDER, texts[now], { swarm: now })];
}

/** Empty entries of a failed step are omitted from requests. */
const isEmpty = ({ message: { role, content, toolCalls } }: ContextEntry) =>
  role === 'assistant' && content.length === 0 && toolCalls.length === 0;

/**
 * Removes the reminder that swarm mode is on from the end of the context, if no entry follows it; no turn may be
 * running.
 */
export function withoutTrailingReminder(agentId: string, context: ContextState): Draft[] {
  const { entries } = context;
  const at = entries.findLastIndex((entry) => !isEmpty(entry));
  const last = entries[at];
  if (!last || reminderIn(last) !== 'on') return [];
  const tokens = contextSize({ ...context, entries: entries.toSpliced(at, 1) });
  return [event(agentId, 'context.spliced', { start: at, deleteCount: 1, messages: [], tokens }, { cause: 'remove' })];
}
