/** The three layouts of a cloud's usage. */
import { describe, expect, it, test } from 'vitest';
import { readQuota } from '#server/account/usage.ts';

const extra = {
  balanceCents: 5,
  totalCents: 10,
  monthlyChargeLimitEnabled: true,
  monthlyChargeLimitCents: 100,
  monthlyUsedCents: 3,
  currency: 'EUR',
};
const wallet = {
  balance: { type: 'BOOSTER', amount: '1000000000', amountLeft: 250_000_000 },
  monthlyChargeLimitEnabled: true,
  monthlyChargeLimit: { priceInCents: '2000', currency: 'CNY' },
  monthlyUsed: { priceInCents: 150, currency: 'EUR' },
};

test.each([undefined, null, 'text', 1, []])('%j is no usage', (reply) => {
  expect(readQuota(reply)).toBeUndefined();
});

it('has no window and no extra usage where a reply has none', () => {
  expect(readQuota({})).toEqual({ usages: {}, extraUsage: null });
});

describe('the present layout', () => {
  it('is returned with ratios between 0 and 1', () => {
    const usages = {
      limit5h: { usedRatio: 1.5, resetAt: '2026-01-01T00:00:00Z', more: 1 },
      limit7d: { usedRatio: -1 },
      monthTotal: { usedRatio: 0.25, resetAt: 5 },
      monthCode: { usedRatio: 0 },
      unknown: { usedRatio: 1 },
    };
    expect(readQuota({ usages, extraUsage: extra })).toEqual({
      usages: {
        limit5h: { usedRatio: 1, resetAt: '2026-01-01T00:00:00Z' },
        limit7d: { usedRatio: 0 },
        monthTotal: { usedRatio: 0.25 },
        monthCode: { usedRatio: 0 },
      },
      extraUsage: extra,
    });
  });

  it('drops malformed windows', () => {
    const usages = { limit5h: { usedRatio: '0.5' }, limit7d: null, monthTotal: [], monthCode: { usedRatio: 0.5 } };
    expect(readQuota({ usages })?.usages).toEqual({ monthCode: { usedRatio: 0.5 } });
  });

  test.each([{ ...extra, currency: undefined }, { ...extra, balanceCents: 1.5 }, 'x', { ...extra, totalCents: '1' }])(
    'has no extra usage if that is malformed: %j',
    (extraUsage) => expect(readQuota({ usages: {}, extraUsage })?.extraUsage).toBeNull(),
  );
});

describe('the layout with snake_case', () => {
  it('is read with decimal strings', () => {
    const usages = {
      limit_5h: { used_ratio: '0.5', reset_time: 'later' },
      limit_7d: { used_ratio: 0.1 },
      limit_month_total: { used_ratio: 'x' },
      limit_month_code: { used_ratio: 2 },
    };
    expect(readQuota({ usages, boosterWallet: { ...wallet, monthlyChargeLimitEnabled: false } })).toEqual({
      usages: {
        limit5h: { usedRatio: 0.5, resetAt: 'later' },
        limit7d: { usedRatio: 0.1 },
        monthCode: { usedRatio: 1 },
      },
      extraUsage: {
        balanceCents: 250,
        totalCents: 1000,
        monthlyChargeLimitEnabled: false,
        monthlyChargeLimitCents: 2000,
        monthlyUsedCents: 150,
        currency: 'CNY',
      },
    });
  });
});

describe('the layout with rows', () => {
  const row = (duration: unknown, timeUnit: string, used: unknown = 1) => ({
    window: { duration, timeUnit },
    detail: { used, limit: '4', resetTime: 'then' },
  });

  test.each([
    [300, 'TIME_UNIT_MINUTE', 'limit5h'],
    ['5', 'TIME_UNIT_HOUR', 'limit5h'],
    [7, 'TIME_UNIT_DAY', 'limit7d'],
    [1, 'TIME_UNIT_WEEK', 'limit7d'],
    [168, 'TIME_UNIT_HOUR', 'limit7d'],
  ])('%s of %s are the window %s', (duration, unit, name) => {
    expect(readQuota({ limits: [row(duration, unit)] })?.usages).toEqual({
      [name]: { usedRatio: 0.25, resetAt: 'then' },
    });
  });

  it('ignores other windows and rows without numbers', () => {
    const limits = [row(1, 'TIME_UNIT_HOUR'), row(5, 'TIME_UNIT_YEAR'), row(5, 'TIME_UNIT_HOUR', 'x'), null, {}];
    expect(readQuota({ limits })?.usages).toEqual({});
    expect(readQuota({ limits: {} })?.usages).toEqual({});
  });

  it('has the week in a member of its own, and no ratio without a limit', () => {
    expect(readQuota({ usage: { used: '3', limit: '4', resetTime: 't' } })?.usages).toEqual({
      limit7d: { usedRatio: 0.75, resetAt: 't' },
    });
    expect(readQuota({ usage: { used: 3, limit: 0 } })?.usages).toEqual({ limit7d: { usedRatio: 0 } });
  });
});

describe('a wallet', () => {
  const extraOf = (change: object) => readQuota({ boosterWallet: { ...wallet, ...change } })?.extraUsage;

  test.each([
    ['of another type', { balance: { ...wallet.balance, type: 'OTHER' } }],
    ['without an amount', { balance: { type: 'BOOSTER', amountLeft: 5 } }],
    ['with nothing bought', { balance: { type: 'BOOSTER', amount: 0 } }],
  ])('%s is no extra usage', (_what, change) => expect(extraOf(change)).toBeNull());

  test.each([
    [1, 1],
    [999_999, 1],
    [1_499_999, 1],
    [1_500_000, 2],
    [0, 0],
  ])('has %s millionths of a cent as %s cents', (amountLeft, balanceCents) => {
    expect(extraOf({ balance: { ...wallet.balance, amountLeft } })).toMatchObject({ balanceCents });
  });

  it('has the currency of its limit, else of its use, else dollars', () => {
    expect(extraOf({ monthlyChargeLimit: { priceInCents: 1 } })).toMatchObject({ currency: 'EUR' });
    expect(extraOf({ monthlyChargeLimit: undefined, monthlyUsed: undefined })).toMatchObject({
      currency: 'USD',
      monthlyChargeLimitCents: 0,
      monthlyUsedCents: 0,
    });
  });

  it('without a switch has a limit if that is not 0', () => {
    expect(extraOf({ monthlyChargeLimitEnabled: undefined })).toMatchObject({ monthlyChargeLimitEnabled: true });
    const none = { monthlyChargeLimitEnabled: undefined, monthlyChargeLimit: { priceInCents: 0 } };
    expect(extraOf(none)).toMatchObject({ monthlyChargeLimitEnabled: false });
  });

  it('has amounts that are exact integers', () => {
    expect(extraOf({ balance: { ...wallet.balance, amount: 1e300 } })?.totalCents).toBe(Number.MAX_SAFE_INTEGER);
  });
});
