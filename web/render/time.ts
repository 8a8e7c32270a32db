const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The age of an ISO time, in its largest unit: `now`, `5m`, `3h`, `2d`, else the date. */
export function timeAgo(time: string, now = Date.now()): string {
  const age = now - Date.parse(time);
  if (age < MINUTE) return 'now';
  if (age < HOUR) return `${Math.floor(age / MINUTE)}m`;
  if (age < DAY) return `${Math.floor(age / HOUR)}h`;
  if (age < 7 * DAY) return `${Math.floor(age / DAY)}d`;
  return time.slice(0, 10);
}
