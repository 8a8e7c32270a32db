/** The view of the account: countdown and outcome of a login, usage, user. */
import { describe, expect, it } from 'vitest';
import type { LoginFlow, Quota, UserInfo } from '#schema/rest/oauth.ts';
import { accountState, countdown, deadlineOf, outcomeOf } from '../../../web/features/account/login.ts';
import { extraLines, money, usageBars } from '../../../web/features/account/usage.ts';
import { userRows } from '../../../web/features/account/user.ts';

const NOW = Date.parse('2027-01-15T10:00:00.000Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const flow = (over: Partial<LoginFlow> = {}): LoginFlow => ({
  flow_id: 'oauth_1',
  provider: 'managed:service-code',
  status: 'pending',
  verification_uri: 'https://cloud.test/device',
  verification_uri_complete: 'https://cloud.test/device?user_code=ABCD-EFGH',
  user_code: 'ABCD-EFGH',
  expires_in: 900,
  interval: 5,
  expires_at: new Date(NOW + 600_000).toISOString(),
  ...over,
});

describe('the end of a code', () => {
  it('is the time that the server names', () => {
    expect(deadlineOf(flow(), NOW)).toBe(NOW + 600_000);
  });

  it('is at most the whole duration away if the clock of the browser is slow', () => {
    expect(deadlineOf(flow(), NOW - HOUR)).toBe(NOW - HOUR + 900_000);
  });
});

it.each([
  [900_000, '15:00'],
  [59_001, '1:00'],
  [9_000, '0:09'],
  [1, '0:01'],
  [0, '0:00'],
  [-5_000, '0:00'],
  [2 * HOUR, '120:00'],
])('%d ms are counted down as %s', (ms, text) => {
  expect(countdown(ms)).toBe(text);
});

it.each([
  [{ status: 'pending' }, undefined],
  [{ status: 'authenticated' }, 'You are logged in.'],
  [{ status: 'denied' }, 'The login was denied.'],
  [{ status: 'denied', error_message: 'Authorization denied: no' }, 'Authorization denied: no'],
  [{ status: 'expired' }, 'The code has expired.'],
  [{ status: 'cancelled' }, 'The login was cancelled.'],
  [
    { status: 'cancelled', error_message: 'Provider configuration changed during login.' },
    'Provider configuration changed during login.',
  ],
] as const)('a login with %j ends as: %s', (over, text) => {
  expect(outcomeOf(flow(over))?.text).toBe(text);
});

it.each([
  [null, 'idle', 'Not logged in'],
  ['unauthenticated', 'idle', 'Not logged in'],
  ['authenticated', 'good', 'Logged in'],
  ['expired', 'attention', 'has expired'],
  ['revoked', 'bad', 'has withdrawn'],
] as const)('an account that is %s is %s: %s', (status, tone, text) => {
  const managed_provider = status && { name: 'managed:service-code', status };
  const state = accountState({ models_ready: true, providers_count: 1, managed_provider });
  expect(state.tone).toBe(tone);
  expect(state.text).toContain(text);
});

const quota = (over: Partial<Quota> = {}): Quota => ({ usages: {}, extraUsage: null, ...over });
const resetIn = (ms: number) => new Date(NOW + ms).toISOString();

describe('usage', () => {
  it('has a bar for each window of the account, the shortest first', () => {
    const usages = {
      monthCode: { usedRatio: 0.5 },
      limit7d: { usedRatio: 0.9, resetAt: resetIn(3 * 24 * HOUR) },
      limit5h: { usedRatio: 0.421, resetAt: resetIn(2 * HOUR + 10 * MINUTE) },
    };
    expect(usageBars(quota({ usages }), NOW)).toEqual([
      { label: '5 hours', percent: 42, isLow: false, reset: 'resets in 2 h 10 min' },
      { label: '7 days', percent: 90, isLow: true, reset: 'resets in 3 d' },
      { label: 'This month, coding', percent: 50, isLow: false, reset: undefined },
    ]);
    expect(usageBars(quota(), NOW)).toEqual([]);
  });

  it.each([
    [0.999, 99],
    [1, 100],
    [1.7, 100],
    [-1, 0],
    [0, 0],
  ])('a ratio of %d is %d %%', (usedRatio, percent) => {
    expect(usageBars(quota({ usages: { monthTotal: { usedRatio } } }), NOW)[0]?.percent).toBe(percent);
  });

  it.each([
    [resetIn(-1), 'resets now'],
    [resetIn(1), 'resets in 1 min'],
    [resetIn(59 * MINUTE), 'resets in 59 min'],
    [resetIn(23 * HOUR), 'resets in 23 h 0 min'],
    [resetIn(30 * 24 * HOUR), 'resets in 30 d'],
    ['soon', undefined],
  ])('a reset at %s is: %s', (resetAt, text) => {
    expect(usageBars(quota({ usages: { limit5h: { usedRatio: 0, resetAt } } }), NOW)[0]?.reset).toBe(text);
  });

  it('names the extra usage with and without a limit', () => {
    const extraUsage = {
      balanceCents: 1234,
      totalCents: 5000,
      monthlyChargeLimitEnabled: true,
      monthlyChargeLimitCents: 10_000,
      monthlyUsedCents: 7,
      currency: 'USD',
    };
    expect(extraLines(quota({ extraUsage }))).toEqual([
      'Balance $12.34 of $50.00',
      'Used this month $0.07 of at most $100.00',
    ]);
    const unlimited = { ...extraUsage, monthlyChargeLimitEnabled: false };
    expect(extraLines(quota({ extraUsage: unlimited }))[1]).toBe('Used this month $0.07, no monthly limit');
    expect(extraLines(quota())).toEqual([]);
  });

  it('displays the code of a currency that is none', () => {
    expect([money(150, 'points'), money(150, '')]).toEqual(['1.50 points', '1.50']);
  });
});

it('displays what the service knows about the user, and no picture', () => {
  const user: UserInfo = {
    userId: 'u1',
    nickname: 'Ada',
    status: 'normal',
    region: 'REGION_GLOBAL',
    userLevel: 2,
    userLevelName: 'Pro',
    domain: 0,
    domainName: ' ',
    avatar: 'https://cloud.test/a.png',
    phone: { countryCode: '+1', number: '555' },
    createdTime: '2026-05-06T07:08:09Z',
    lastLoginTime: 'yesterday',
  };
  expect(userRows(user).map(({ label, text }) => `${label}: ${text}`)).toEqual([
    'Name: Ada',
    'Phone: +1 555',
    'Plan: Pro',
    'Region: Global',
    'Created: 2026-05-06',
    'Last login: yesterday',
  ]);
});
