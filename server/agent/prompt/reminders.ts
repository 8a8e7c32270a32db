/** Reminders at the head of a step. They stay in the history, so that prompt caches stay valid. */
import * as z from 'zod';
import type { ContextMessage, Origin } from '#schema/engine.ts';
import type { PermissionMode } from '#schema/scalars.ts';

/** The member of a message that is read here. */
type WithOrigin = Pick<ContextMessage, 'origin'>;
type Injection = Extract<Origin, { kind: 'injection' }>;

/** Wraps the text of a reminder. */
export const reminderText = (text: string): string => `<system-reminder>\n${text}\n</system-reminder>`;

/** A reminder: a user-role message that clients hide by its origin. */
export function reminder(variant: string, text: string, disclosure?: unknown): ContextMessage {
  const origin: Injection = { kind: 'injection', variant, ...(disclosure === undefined ? {} : { disclosure }) };
  return { role: 'user', content: [{ type: 'text', text: reminderText(text) }], toolCalls: [], origin };
}

/** The `disclosure` of the newest reminder of a variant, which the model has received. */
function lastDisclosure(messages: readonly WithOrigin[], variant: string): unknown {
  const last = messages.findLast(
    (message) => message.origin?.kind === 'injection' && message.origin.variant === variant,
  );
  return last?.origin?.kind === 'injection' ? last.origin.disclosure : undefined;
}

const dateSchema = z.object({ date: z.string() });
const modeSchema = z.object({ mode: z.string() });

/** Local calendar date, `YYYY-MM-DD`. */
export function localDate(now: Date): string {
  const pad = (part: number) => String(part).padStart(2, '0');
  return `${now.getFullYear()}-${pad(now.getMonth() + 1)}-${pad(now.getDate())}`;
}

function dateReminder(messages: readonly WithOrigin[], now: Date): ContextMessage[] {
  const date = localDate(now);
  const disclosed = dateSchema.safeParse(lastDisclosure(messages, 'date_change')).data?.date;
  if (disclosed === date) return [];
  const text =
    disclosed === undefined ? `Today's date is ${date}.` : `The date has changed. Today's date is now ${date}.`;
  return [reminder('date_change', text, { date })];
}

function modeReminder(messages: readonly WithOrigin[], mode: PermissionMode): ContextMessage[] {
  const disclosed = modeSchema.safeParse(lastDisclosure(messages, 'permission_mode')).data?.mode;
  if (mode === 'auto') {
    if (disclosed === 'auto') return [];
    const text =
      'The permission mode is now "auto": tool calls run without asking the user, and nobody is there to answer questions. Decide yourself and stay within the task.';
    return [reminder('permission_mode', text, { mode })];
  }
  if (disclosed !== 'auto') return [];
  const text = `The permission mode is now "${mode}": the "auto" mode has ended, the user is there again and may be asked.`;
  return [reminder('permission_mode', text, { mode })];
}

/** The core's reminders before the next request. */
export function stepReminders(
  messages: readonly WithOrigin[],
  facts: { now: Date; mode: PermissionMode },
): ContextMessage[] {
  return [...dateReminder(messages, facts.now), ...modeReminder(messages, facts.mode)];
}

const INTERRUPTION =
  'The user interrupted the previous turn on purpose. Do not resume it by yourself; wait for what the user says next.';

/** The reminder after a user's abort; empty if the conversation already ends with one. */
export function interruptionReminder(messages: readonly WithOrigin[]): ContextMessage[] {
  const last = messages.at(-1);
  const already = last?.origin?.kind === 'injection' && last.origin.variant === 'interruption';
  return already ? [] : [reminder('interruption', INTERRUPTION)];
}
