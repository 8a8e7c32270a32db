/** Cron expressions: their syntax and their times in zones with daylight saving time; jitter and backlogs. */
import { describe, expect, it, test } from 'vitest';
import { createBacklog, MAX_COALESCED } from '#server/features/cron/backlog.ts';
import { delay, lead, MAX_DELAY_MS, MAX_LEAD_MS } from '#server/features/cron/jitter.ts';
import { ExpressionError, openSchedule, type Schedule } from '#server/features/cron/schedule.ts';
import { newUlid } from '#server/ids.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Calls `run` with this time zone set. */
function inZone<T>(zone: string, run: () => T): T {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    expect(Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(zone);
    return run();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

/** The next times, in UTC to the minute. */
function times(expression: string, after: string, count: number): string[] {
  const schedule = openSchedule(expression);
  const found: string[] = [];
  for (let at = Date.parse(after); found.length < count;) {
    const next = schedule.next(at);
    if (next === undefined) break;
    found.push(new Date(next).toISOString().slice(0, 16));
    at = next;
  }
  return found;
}

test.each([
  ['every minute', '* * * * *', '2026-01-01T00:00:30Z', ['2026-01-01T00:01', '2026-01-01T00:02']],
  ['a time is not its own successor', '5 0 * * *', '2026-01-01T00:05Z', ['2026-01-02T00:05']],
  ['steps', '*/25 * * * *', '2026-01-01T00:00Z', ['2026-01-01T00:25', '2026-01-01T00:50', '2026-01-01T01:00']],
  [
    'steps of a range',
    '10-20/5 * * * *',
    '2026-01-01T00:00Z',
    ['2026-01-01T00:10', '2026-01-01T00:15', '2026-01-01T00:20', '2026-01-01T01:10'],
  ],
  [
    'lists',
    '1,3-4 0 * * *',
    '2026-01-01T00:00Z',
    ['2026-01-01T00:01', '2026-01-01T00:03', '2026-01-01T00:04', '2026-01-02T00:01'],
  ],
  ['leading zeros', '05 09 * * *', '2026-01-01T00:00Z', ['2026-01-01T09:05']],
  ['Sunday as 0', '0 0 * * 0', '2026-01-01T00:00Z', ['2026-01-04T00:00', '2026-01-11T00:00']],
  ['Sunday as 7', '0 0 * * 7', '2026-01-01T00:00Z', ['2026-01-04T00:00', '2026-01-11T00:00']],
  ['a range up to 7', '0 0 * * 6-7', '2026-01-01T00:00Z', ['2026-01-03T00:00', '2026-01-04T00:00', '2026-01-10T00:00']],
  ['only the day of the month', '0 0 13 * *', '2026-01-01T00:00Z', ['2026-01-13T00:00', '2026-02-13T00:00']],
  [
    'either of both day fields',
    '0 0 13 * 5',
    '2026-01-01T00:00Z',
    ['2026-01-02T00:00', '2026-01-09T00:00', '2026-01-13T00:00', '2026-01-16T00:00'],
  ],
  ['the 29th of February', '0 0 29 2 *', '2026-01-01T00:00Z', ['2028-02-29T00:00', '2032-02-29T00:00']],
  ['a day that no month has', '0 0 31 2,4 *', '2026-01-01T00:00Z', []],
  ['the 31st', '0 0 31 * *', '2026-01-01T00:00Z', ['2026-01-31T00:00', '2026-03-31T00:00']],
  ['spaces around the fields', '  0\t0   1 1 * ', '2026-01-01T00:00Z', ['2027-01-01T00:00']],
])('%s', (_what, expression, after, expected) => {
  inZone('UTC', () => expect(times(expression, after, Math.max(1, expected.length))).toEqual(expected));
});

test.each([
  // The night when Berlin goes from 02:00 +01 to 03:00 +02.
  [
    'a time that is left out comes at the change',
    'Europe/Berlin',
    '30 2 * * *',
    '2026-03-28T00:00Z',
    ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30'],
  ],
  [
    'steps go on behind it',
    'Europe/Berlin',
    '*/30 * * * *',
    '2026-03-29T00:15Z',
    ['2026-03-29T00:30', '2026-03-29T01:00', '2026-03-29T01:30'],
  ],
  [
    'what is left out and what follows are one',
    'Europe/Berlin',
    '0 2,3 * * *',
    '2026-03-28T23:00Z',
    ['2026-03-29T01:00', '2026-03-30T00:00'],
  ],
  // The night when it goes from 03:00 +02 back to 02:00 +01.
  [
    'a time that is repeated comes once',
    'Europe/Berlin',
    '30 2 * * *',
    '2026-10-24T12:00Z',
    ['2026-10-25T00:30', '2026-10-26T01:30'],
  ],
  [
    'every hour comes in both',
    'Europe/Berlin',
    '0 * * * *',
    '2026-10-24T23:30Z',
    ['2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T02:00'],
  ],
  [
    'a day has its own length',
    'Europe/Berlin',
    '0 9 * * *',
    '2026-10-24T12:00Z',
    ['2026-10-25T08:00', '2026-10-26T08:00'],
  ],
  [
    'left out in New York',
    'America/New_York',
    '30 2 * * *',
    '2026-03-07T12:00Z',
    ['2026-03-08T07:00', '2026-03-09T06:30'],
  ],
  [
    'repeated in New York',
    'America/New_York',
    '30 1 * * *',
    '2026-10-31T12:00Z',
    ['2026-11-01T05:30', '2026-11-02T06:30'],
  ],
  [
    'half an hour of change',
    'Australia/Lord_Howe',
    '15 2 * * *',
    '2026-10-03T00:00Z',
    ['2026-10-03T15:30', '2026-10-04T15:15'],
  ],
])('where clocks change: %s', (_what, zone, expression, after, expected) => {
  inZone(zone, () => expect(times(expression, after, expected.length)).toEqual(expected));
});

test.each([
  ['', /1 fields instead of 5/],
  ['* * * *', /4 fields instead of 5/],
  ['* * * * * *', /6 fields instead of 5/],
  ['@daily', /1 fields instead of 5/],
  ['0 9 * * MON', /names are not known/],
  ['0 9 * jan *', /names are not known/],
  ['0 0 L * *', /day of the month "L"/],
  ['0 0 15W * *', /day of the month "15W"/],
  ['0 0 ? * *', /day of the month "\?"/],
  ['0 0 * * 5#2', /day of the week "5#2"/],
  ['0 0 * * +5', /day of the week "\+5"/],
  ['60 * * * *', /minute "60" is not between 0 and 59/],
  ['* 24 * * *', /hour "24" is not between 0 and 23/],
  ['* * 0 * *', /day of the month "0" is not between 1 and 31/],
  ['* * * 13 *', /month "13" is not between 1 and 12/],
  ['* * * * 8', /day of the week "8" is not between 0 and 7/],
  ['-1 * * * *', /minute "-1"/],
  ['1.5 * * * *', /minute "1.5"/],
  ['20-10 * * * *', /ends before it begins/],
  ['5/10 * * * *', /steps from a single number/],
  ['*/0 * * * *', /steps by what is not between 1 and 59/],
  ['*/60 * * * *', /steps by what is not between 1 and 59/],
  ['1,,2 * * * *', /minute ""/],
  [', * * * *', /minute ""/],
  ['* * * * 1-', /day of the week "1-"/],
  [`${'1,'.repeat(500)}1 * * * *`, /longer than 400 characters/],
  ['１ * * * *', /minute "１"/],
])('%j is no expression', (expression, problem) => {
  expect(() => openSchedule(expression)).toThrow(ExpressionError);
  expect(() => openSchedule(expression)).toThrow(problem);
});

describe('jitter', () => {
  const ids = Array.from({ length: 200 }, newUlid);

  it('delays by a tenth of the period at most, and by no more than a quarter of an hour, each id alike at all times', () => {
    for (const period of [MINUTE, HOUR, DAY, 365 * DAY]) {
      const most = Math.min(period / 10, MAX_DELAY_MS);
      const delays = ids.map((id) => delay(id, period));
      for (const one of delays) expect(one >= 0 && one < most).toBe(true);
      expect(delays).toEqual(ids.map((id) => delay(id, period)));
      // Spread over the whole range.
      expect(Math.min(...delays)).toBeLessThan(most * 0.1);
      expect(Math.max(...delays)).toBeGreaterThan(most * 0.9);
    }
  });

  it('leads on full and half hours alone, by a minute and a half at most', () => {
    inZone('Pacific/Chatham', () => {
      // 13:45 ahead of UTC: local time is decisive.
      const full = Date.parse('2026-01-01T00:15Z');
      const leads = ids.map((id) => lead(id, full));
      for (const one of leads) expect(one >= 0 && one < MAX_LEAD_MS).toBe(true);
      expect(Math.max(...leads)).toBeGreaterThan(MAX_LEAD_MS * 0.9);
      expect(leads).toEqual(ids.map((id) => lead(id, full + 30 * MINUTE)));
      for (const id of ids) expect(lead(id, full + 15 * MINUTE)).toBe(0);
    });
  });
});

describe('the backlog of a job', () => {
  const start = Date.parse('2026-01-01T10:00:00Z');
  const at = (time: string) => Date.parse(`2026-01-01T${time}Z`);
  const backlog = (
    cron: string,
    more: { recurring?: boolean; createdAt?: number; jitter?: boolean; id?: string } = {},
  ) => {
    const { jitter = false, id = 'j', createdAt = start, recurring = true } = more;
    return createBacklog({ id, createdAt, recurring }, openSchedule(cron), jitter);
  };

  it('counts the past times, from the oldest to the newest', () => {
    const hourly = backlog('5 * * * *');
    expect(hourly).toMatchObject({ count: 0, dueAt: at('10:05:00') });
    expect(hourly.countOn(at('10:04:59.999'))).toBe(true);
    expect(hourly.count).toBe(0);
    hourly.countOn(at('10:05:00'));
    expect(hourly).toMatchObject({ count: 1, dueAt: at('10:05:00'), last: at('10:05:00') });
    hourly.countOn(at('13:04:00'));
    expect(hourly).toMatchObject({ count: 3, dueAt: at('10:05:00'), last: at('12:05:00') });
  });

  it('continues from the position where a limited count has stopped', () => {
    const minutely = backlog('* * * * *');
    expect(minutely.countOn(at('10:10:00'), 4)).toBe(false);
    expect(minutely.count).toBe(4);
    expect(minutely.countOn(at('10:10:00'), 6)).toBe(true);
    expect(minutely.count).toBe(10);
  });

  it('of a one-time job is one, and no time follows', () => {
    const once = backlog('5 * * * *', { recurring: false });
    once.countOn(start + DAY);
    expect(once).toMatchObject({ count: 1, last: at('10:05:00') });
  });

  /** A schedule with this interval (ms), until `until`. */
  const every = (period: number, until = Infinity): Schedule => ({
    expression: '',
    next(after) {
      const next = start + Math.floor((after - start) / period + 1) * period;
      return next > until ? undefined : next;
    },
  });

  it('counts up to its limit, and loses no time that is still to come', () => {
    const job = { id: newUlid(), createdAt: start, recurring: true };
    const period = 5 * MINUTE;
    const late = createBacklog(job, every(period), true);
    // Just before the newest time is due, because of its delay.
    const newest = start + MAX_COALESCED * 2 * period;
    const now = newest + delay(job.id, period) - 1;
    expect(late.countOn(now)).toBe(true);
    expect(late).toMatchObject({ count: MAX_COALESCED, last: newest - period });
    const next = createBacklog({ ...job, lastFiredAt: late.last }, every(period), true);
    expect(next.dueAt).toBe(now + 1);
  });

  it('of the distant past is not iterated again', () => {
    const job = { id: 'j', createdAt: start, recurring: true };
    const over = every(MINUTE, start + (MAX_COALESCED + 100) * MINUTE);
    const all = createBacklog(job, over, false);
    expect(all.countOn(start + 365 * DAY, MAX_COALESCED + 1)).toBe(true);
    expect(all.count).toBe(MAX_COALESCED);
    const next = createBacklog({ ...job, lastFiredAt: all.last }, over, false);
    next.countOn(start + 365 * DAY);
    expect(next.count).toBe(0);
  });

  it('delays each time by its own period, in their order', () => {
    const id = newUlid();
    const uneven = backlog('0,10 * * * *', { jitter: true, id });
    expect(uneven.dueAt).toBe(at('10:10:00') + delay(id, 50 * MINUTE));
    uneven.countOn(at('11:00:00'));
    expect(uneven.count).toBe(1);
    uneven.countOn(at('11:00:00') + delay(id, 10 * MINUTE));
    expect(uneven.count).toBe(2);
  });

  it('of a job on the full hour is early, but never before the creation of the job', () => {
    const id = newUlid();
    const own = lead(id, at('11:00:00'));
    expect(backlog('0 11 * * *', { recurring: false, jitter: true, id }).dueAt).toBe(at('11:00:00') - own);
    expect(backlog('1 11 * * *', { recurring: false, jitter: true, id }).dueAt).toBe(at('11:01:00'));
    const createdAt = at('10:59:59.999');
    expect(backlog('0 11 * * *', { recurring: false, jitter: true, id, createdAt }).dueAt).toBe(
      Math.max(createdAt, at('11:00:00') - own),
    );
  });
});
