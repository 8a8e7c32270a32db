import { describe, expect, it } from 'vitest';
import { interruptionReminder, localDate, reminder, stepReminders } from '#server/agent/prompt/reminders.ts';
import type { ContextMessage } from '#schema/engine.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import { user } from '#support/model-requests.ts';

const day = (n: number) => new Date(2030, 0, n, 12);
const variants = (messages: ContextMessage[]) =>
  messages.map(({ origin }) => (origin?.kind === 'injection' ? origin.variant : undefined));

it('is a user message that clients distinguish by its origin', () => {
  expect(reminder('goal', 'Go.', { a: 1 })).toEqual({
    role: 'user',
    content: [{ type: 'text', text: '<system-reminder>\nGo.\n</system-reminder>' }],
    toolCalls: [],
    origin: { kind: 'injection', variant: 'goal', disclosure: { a: 1 } },
  });
  expect(reminder('goal', 'Go.').origin).toEqual({ kind: 'injection', variant: 'goal' });
});

describe('the date', () => {
  it('is the local one', () => {
    expect(localDate(new Date(2030, 0, 5, 23, 59, 59))).toBe('2030-01-05');
    expect(localDate(new Date(2030, 10, 25, 0, 0, 0))).toBe('2030-11-25');
  });

  it('is disclosed first, then when it changes, and again when the reminder was removed', () => {
    const history: ContextMessage[] = [user('Hi')];
    const step = (n: number) => {
      const said = stepReminders(history, { now: day(n), mode: 'manual' });
      history.push(...said);
      return variants(said);
    };
    expect([step(1), step(1), step(2), step(2)]).toEqual([['date_change'], [], ['date_change'], []]);
    history.splice(1);
    expect(step(2)).toEqual(['date_change']);
  });
});

describe('the permission mode', () => {
  it('is disclosed when auto starts and when it ends', () => {
    const history = stepReminders([], { now: day(1), mode: 'manual' });
    const modes: PermissionMode[] = ['manual', 'yolo', 'auto', 'auto', 'yolo', 'manual', 'auto', 'manual'];
    const said = modes.map((mode) => {
      const reminders = stepReminders(history, { now: day(1), mode });
      history.push(...reminders);
      return reminders.length;
    });
    expect(said).toEqual([0, 0, 1, 0, 1, 0, 1, 1]);
  });
});

describe('an interruption', () => {
  it('is disclosed a single time, unless another message came after it', () => {
    const [said] = interruptionReminder([user('Hi')]);
    if (!said) throw new Error('no reminder');
    expect(interruptionReminder([user('Hi'), said])).toEqual([]);
    expect(interruptionReminder([said, user('Go on')])).toHaveLength(1);
    expect(interruptionReminder([])).toHaveLength(1);
  });
});
