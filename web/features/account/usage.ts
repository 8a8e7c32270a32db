/** The account's usage as bars and lines. */
import type { Quota } from '@service-code/client';
import { t, type PlainKey } from '../../messages/messages.ts';

export interface UsageBar {
  label: string;
  /** 0 to 100, an integer. */
  percent: number;
  /** Whether little or nothing is left. */
  isLow: boolean;
  /** When the window ends; undefined if the service names no time. */
  reset: string | undefined;
}

type Window = keyof Quota['usages'];

const labels: Record<Window, PlainKey> = {
  limit5h: 'account.limit5h',
  limit7d: 'account.limit7d',
  monthTotal: 'account.limitMonth',
  monthCode: 'account.limitMonthCoding',
};
const order: readonly Window[] = ['limit5h', 'limit7d', 'monthTotal', 'monthCode'];

const LOW_FROM = 0.9;

/** Only the windows that the account has, the shortest first. */
export const usageBars = ({ usages }: Quota, now: number): UsageBar[] =>
  order.flatMap((window) => {
    const usage = usages[window];
    if (!usage) return [];
    const ratio = Math.min(1, Math.max(0, usage.usedRatio));
    // Something that is left is not rounded to nothing.
    const percent = ratio < 1 ? Math.min(99, Math.round(ratio * 100)) : 100;
    return [{ label: t(labels[window]), percent, isLow: ratio >= LOW_FROM, reset: resetText(usage.resetAt, now) }];
  });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function resetText(time: string | undefined, now: number): string | undefined {
  const left = time === undefined ? Number.NaN : Date.parse(time) - now;
  if (Number.isNaN(left)) return undefined;
  if (left <= 0) return t('account.resetsNow');
  const minutes = Math.ceil(left / MINUTE);
  if (left < HOUR) return t('account.resetsInMinutes', { minutes });
  if (left < DAY) return t('account.resetsInHours', { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
  return t('account.resetsInDays', { days: Math.round(left / DAY) });
}

/** An amount in a currency; the code is displayed verbatim if the browser does not know it. */
export function money(cents: number, currency: string): string {
  const amount = cents / 100;
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount);
  } catch {
    return `${amount.toFixed(2)} ${currency}`.trim();
  }
}

/** The paid usage beyond the windows, in lines. */
export function extraLines({ extraUsage: extra }: Quota): string[] {
  if (!extra) return [];
  const of = (cents: number) => money(cents, extra.currency);
  const used = of(extra.monthlyUsedCents);
  return [
    t('account.balance', { left: of(extra.balanceCents), whole: of(extra.totalCents) }),
    extra.monthlyChargeLimitEnabled
      ? t('account.usedOfLimit', { used, limit: of(extra.monthlyChargeLimitCents) })
      : t('account.usedUnlimited', { used }),
  ];
}
