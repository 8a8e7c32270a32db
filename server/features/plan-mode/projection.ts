/** Each agent's plan mode, its newest plan, and the reminders that the model has received. */
import * as z from 'zod';
import { isUndoAnchor } from '#server/journal/projections/context.ts';
import { defineFeatureProjection } from '#server/journal/projections/feature-projection.ts';
import type { JournalRecord } from '#server/journal/records.ts';
import type { Origin } from '#schema/engine.ts';

/** Variant of the reminders' origin. */
export const PLAN_REMINDER = 'plan_mode';

export const reminderForms = ['full', 'reentry', 'short', 'exit'] as const;
export type ReminderForm = (typeof reminderForms)[number];

const disclosureSchema = z.object({ form: z.enum(reminderForms) });

export interface PlanState {
  active: boolean;
  /** Id of the newest plan; retained when plan mode is left, so that entering it again reuses the file. */
  id?: string;
  /** Content of the newest reminder in the context; undefined where there is none. */
  lastReminder?: 'on' | 'off' | undefined;
  /** Plan mode was entered after that reminder. */
  entered: boolean;
  /** A user message followed that reminder. */
  userSince: boolean;
  /** Answers of the model since the last reminder, and since the last one that was not short. */
  answersSinceReminder: number;
  answersSinceFull: number;
}

interface Plans {
  /** States of the agents that have planned, by id; they are replaced, never mutated. */
  agents: Map<string, PlanState>;
  /** Highest version number, by agent and plan. An undo does not revert it. */
  versions: Map<string, number>;
}

const never: PlanState = {
  active: false,
  entered: false,
  userSince: false,
  answersSinceReminder: 0,
  answersSinceFull: 0,
};

const versionKey = (agent: string, id: string) => `${agent}/${id}`;

/** The form of a plan mode reminder; undefined for other origins. */
function formOf(origin: Origin | undefined): ReminderForm | undefined {
  if (origin?.kind !== 'injection' || origin.variant !== PLAN_REMINDER) return undefined;
  return disclosureSchema.safeParse(origin.disclosure).data?.form;
}

function reminded(state: PlanState, form: ReminderForm): PlanState {
  const lastReminder = form === 'exit' ? 'off' : 'on';
  const answersSinceFull = form === 'short' ? state.answersSinceFull : 0;
  return { ...state, lastReminder, entered: false, userSince: false, answersSinceReminder: 0, answersSinceFull };
}

function spliced(state: PlanState, { messages, x }: Extract<JournalRecord, { type: 'context.spliced' }>): PlanState {
  // A summary replaces the reminders before it.
  const gone = x?.cause === 'compaction' && state.lastReminder !== undefined;
  let next: PlanState = gone ? { ...state, lastReminder: undefined } : state;
  for (const message of messages) {
    const form = formOf(message.origin);
    if (form) next = reminded(next, form);
    else if (next.active && !next.userSince && isUndoAnchor(message)) next = { ...next, userSince: true };
  }
  return next;
}

function after(state: PlanState, record: JournalRecord): PlanState {
  switch (record.type) {
    case 'plan.left':
      return { ...state, active: false, entered: false };
    case 'context.spliced':
      return spliced(state, record);
    case 'context.cleared':
      return { ...state, lastReminder: undefined };
    case 'step.response': {
      if (!state.active || record.partial) return state;
      const { answersSinceReminder, answersSinceFull } = state;
      return { ...state, answersSinceReminder: answersSinceReminder + 1, answersSinceFull: answersSinceFull + 1 };
    }
    default:
      return state;
  }
}

export const plans = defineFeatureProjection<Plans, PlanState>({
  name: 'plan-mode',
  initial: () => ({ agents: new Map(), versions: new Map() }),
  apply({ agents, versions }, record) {
    const { agent } = record;
    const state = agents.get(agent);
    if (record.type === 'plan.entered') {
      agents.set(agent, { ...(state ?? never), active: true, id: record.id, entered: true });
    } else if (record.type === 'plan.revision') versions.set(versionKey(agent, record.id), record.version);
    else if (state) agents.set(agent, after(state, record));
  },
  undo: {
    checkpoint: planOf,
    restore({ agents }, agent, saved) {
      if (agents.has(agent)) agents.set(agent, saved);
    },
  },
});

/** The agent's state; an agent that never planned has the initial one. */
export function planOf({ agents }: Plans, agent: string): PlanState {
  return agents.get(agent) ?? never;
}

/** The version number of a plan's next revision. */
export function nextVersion({ versions }: Plans, agent: string, id: string): number {
  return (versions.get(versionKey(agent, id)) ?? 0) + 1;
}
