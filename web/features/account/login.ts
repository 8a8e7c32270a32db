/** Summaries of a login: its countdown, its outcome, and the state of the stored one. */
import type { AuthSummary, LoginFlow } from '@service-code/client';
import { t, type PlainKey } from '../../messages/messages.ts';
import type { RowTone } from '../../render/row-tone.ts';

export type Region = 'mainland-cn' | 'global';

const regions = { 'mainland-cn': 'account.regionChina', global: 'account.regionGlobal' } as const;

export const regionName = (region: Region): string => t(regions[region]);

/**
 * The time at which a code ends, in ms by the clock of the browser. The code lasts `expires_in` seconds at most, which
 * bounds the error if the browser's clock is slow.
 */
export const deadlineOf = ({ expires_at, expires_in }: LoginFlow, now: number): number =>
  Math.min(Date.parse(expires_at), now + expires_in * 1000);

/** `14:05`; hours are counted as minutes. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

export interface Outcome {
  tone: RowTone;
  text: string;
}

/** The end of a login in words; undefined while it is pending. */
export function outcomeOf({ status, error_message: reason }: LoginFlow): Outcome | undefined {
  switch (status) {
    case 'pending':
      return undefined;
    case 'authenticated':
      return { tone: 'good', text: t('account.loggedInNow') };
    case 'denied':
      return { tone: 'bad', text: reason ?? t('account.denied') };
    case 'expired':
      return { tone: 'attention', text: reason ?? t('account.expired') };
    case 'cancelled':
      return { tone: 'idle', text: reason ?? t('account.cancelled') };
  }
}

type Status = NonNullable<AuthSummary['managed_provider']>['status'];

const states: Record<Status, { tone: RowTone; text: PlainKey }> = {
  authenticated: { tone: 'good', text: 'account.loggedIn' },
  expired: { tone: 'attention', text: 'account.loginExpired' },
  revoked: { tone: 'bad', text: 'account.loginRevoked' },
  unauthenticated: { tone: 'idle', text: 'account.notLoggedIn' },
};

export function accountState({ managed_provider: provider }: AuthSummary): Outcome {
  const { tone, text } = states[provider?.status ?? 'unauthenticated'];
  return { tone, text: t(text) };
}
