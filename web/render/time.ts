import { message, type Message } from '../messages/messages.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The age of an ISO time, in its largest unit: `now`, `5m`, `3h`, `2d`, else the date. */
export function ageOf(time: string, now: number): Message {
  const age = now - Date.parse(time);
  if (age < MINUTE) return message('time.now');
  if (age < HOUR) return message('time.minutes', { count: Math.floor(age / MINUTE) });
  if (age < DAY) return message('time.hours', { count: Math.floor(age / HOUR) });
  if (age < 7 * DAY) return message('time.days', { count: Math.floor(age / DAY) });
  return message('time.date', { date: time.slice(0, 10) });
}
