/** The reminders of plan mode, and when they are due. */
import { reminder } from '#server/agent/prompt/reminders.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { PLAN_REMINDER, type PlanState, type ReminderForm } from './projection.ts';

/** Answers of the model after which the full reminder is repeated, and after which the short one is. */
export const FULL_AFTER_ANSWERS = 5;
export const SHORT_AFTER_ANSWERS = 2;

const rules = (
  path: string,
) => `Plan mode is on: find out what has to be done and write a plan; do not carry it out yet.
- Write and Edit take only the plan file: ${path}
- Do not change anything else, by commands neither: no edits, no installs, no commits, no settings.
- Read, search and run what only looks. Ask the user with AskUserQuestion where a decision is theirs.
- The plan says what will be changed, where, in which order, and how it will be checked; short, and without alternatives that were ruled out.
- When the plan is written, call ExitPlanMode: the user then reviews what stands in the file. Do not ask for approval in any other way. End your turn only with a question or with ExitPlanMode.`;

const texts: Record<ReminderForm, (path: string) => string> = {
  full: rules,
  reentry: (path) =>
    `${rules(path)}\nThe plan file already holds a plan from before. Read it first: if the task is the same, revise it; if it is another, replace it.`,
  short: (path) =>
    `Plan mode is still on: change nothing but the plan file ${path}. End with a question or with ExitPlanMode.`,
  exit: (path) =>
    `Plan mode has ended: you may change files and run commands again, as permissions allow. The plan is in ${path}.`,
};

/** The reminder that is due before the next request; `entry` is `full`, or `reentry` if the plan file has content. */
export function dueReminder(state: PlanState): 'entry' | 'full' | 'short' | 'exit' | undefined {
  const { active, lastReminder, entered, userSince, answersSinceFull, answersSinceReminder } = state;
  if (!active) return lastReminder === 'on' ? 'exit' : undefined;
  if (entered || lastReminder !== 'on') return 'entry';
  if (userSince || answersSinceFull >= FULL_AFTER_ANSWERS) return 'full';
  return answersSinceReminder >= SHORT_AFTER_ANSWERS ? 'short' : undefined;
}

export const planReminder = (form: ReminderForm, path: string): ContextMessage =>
  reminder(PLAN_REMINDER, texts[form](path), { form });
