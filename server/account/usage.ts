/** The account's usage: the three layouts of a cloud's reply as one. */
import * as z from 'zod';
import { extraUsageSchema, type Quota } from '#schema/rest/oauth.ts';
import { asRecord } from '#server/text/json.ts';
import { decimal } from './decimal.ts';

type Windows = Quota['usages'];
type Window = NonNullable<Windows['limit5h']>;
type ExtraUsage = NonNullable<Quota['extraUsage']>;

const WINDOWS = ['limit5h', 'limit7d', 'monthTotal', 'monthCode'] as const;
const SNAKE_WINDOWS = {
  limit_5h: 'limit5h',
  limit_7d: 'limit7d',
  limit_month_total: 'monthTotal',
  limit_month_code: 'monthCode',
} as const;
const UNIT_MINUTES = new Map([
  ['TIME_UNIT_MINUTE', 1],
  ['TIME_UNIT_HOUR', 60],
  ['TIME_UNIT_DAY', 24 * 60],
  ['TIME_UNIT_WEEK', 7 * 24 * 60],
]);
const ROW_WINDOWS = new Map<number, keyof Windows>([
  [5 * 60, 'limit5h'],
  [7 * 24 * 60, 'limit7d'],
]);
/** Amounts of a wallet are millionths of a cent. */
const CENT = 1_000_000;

/** Numbers of the older layouts may be decimal strings. */
const numberOf = (value: unknown): number | undefined => decimal.safeParse(value).data;
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Returns undefined unless the reply is an object. Malformed members are treated as absent. */
export function readQuota(reply: unknown): Quota | undefined {
  const body = asRecord(reply);
  if (!body) return undefined;
  const { usages, extraUsage, boosterWallet } = body;
  return {
    usages: { ...rowWindows(body), ...namedWindows(asRecord(usages)) },
    extraUsage: extraUsageOf(extraUsage) ?? walletOf(asRecord(boosterWallet)) ?? null,
  };
}

function windowOf(ratio: number | undefined, resetAt: unknown): Window | undefined {
  if (ratio === undefined) return undefined;
  const reset = textOf(resetAt);
  return { usedRatio: Math.min(1, Math.max(0, ratio)), ...(reset !== undefined && { resetAt: reset }) };
}

/** The windows of the two layouts that name them. */
function namedWindows(usages: Record<string, unknown> | undefined): Windows {
  const windows: Windows = {};
  if (!usages) return windows;
  const put = (name: keyof Windows, window: Window | undefined) => {
    if (window) windows[name] = window;
  };
  for (const [snake, name] of Object.entries(SNAKE_WINDOWS)) {
    const entry = asRecord(usages[snake]);
    put(name, windowOf(numberOf(entry?.used_ratio), entry?.reset_time));
  }
  for (const name of WINDOWS) {
    const entry = asRecord(usages[name]);
    put(name, windowOf(z.number().safeParse(entry?.usedRatio).data, entry?.resetAt));
  }
  return windows;
}

/** The windows of the layout with rows. */
function rowWindows({ usage, limits }: Record<string, unknown>): Windows {
  const windows: Windows = {};
  const weekly = rowOf(asRecord(usage));
  if (weekly) windows.limit7d = weekly;
  for (const item of Array.isArray(limits) ? limits : []) {
    const row = asRecord(item);
    const length = asRecord(row?.window);
    const minutes = (numberOf(length?.duration) ?? 0) * (UNIT_MINUTES.get(textOf(length?.timeUnit) ?? '') ?? 0);
    const name = ROW_WINDOWS.get(minutes);
    const window = rowOf(asRecord(row?.detail));
    if (name !== undefined && window) windows[name] = window;
  }
  return windows;
}

function rowOf(row: Record<string, unknown> | undefined): Window | undefined {
  const used = numberOf(row?.used);
  const limit = numberOf(row?.limit);
  if (used === undefined || limit === undefined) return undefined;
  return windowOf(limit > 0 ? used / limit : 0, row?.resetTime);
}

const extraUsageOf = (value: unknown): ExtraUsage | undefined => extraUsageSchema.safeParse(value).data;

/** Undefined for a wallet without an amount. */
function walletOf(wallet: Record<string, unknown> | undefined): ExtraUsage | undefined {
  const balance = asRecord(wallet?.balance);
  const amount = numberOf(balance?.amount) ?? 0;
  if (!wallet || balance?.type !== 'BOOSTER' || amount <= 0) return undefined;
  const limit = asRecord(wallet.monthlyChargeLimit);
  const used = asRecord(wallet.monthlyUsed);
  const limitCents = whole(numberOf(limit?.priceInCents) ?? 0);
  return {
    balanceCents: centsOf(numberOf(balance.amountLeft) ?? 0),
    totalCents: centsOf(amount),
    // The oldest layout has no switch: a limit of 0 is none.
    monthlyChargeLimitEnabled:
      wallet.monthlyChargeLimitEnabled === true || (wallet.monthlyChargeLimitEnabled === undefined && limitCents > 0),
    monthlyChargeLimitCents: limitCents,
    monthlyUsedCents: whole(numberOf(used?.priceInCents) ?? 0),
    currency: textOf(limit?.currency) ?? textOf(used?.currency) ?? 'USD',
  };
}

function centsOf(amount: number): number {
  const cents = amount / CENT;
  return cents > 0 && cents < 1 ? 1 : whole(cents);
}

const whole = (cents: number): number =>
  Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, Math.round(cents)));
