/** Summaries of a login: its countdown, its outcome, and the state of the stored one. */
import type { AuthSummary, LoginFlow } from '@service-code/client';
import type { RowTone } from '../../render/row-tone.ts';

export type Region = 'mainland-cn' | 'global';

export const regionNames: Record<Region, string> = { 'mainland-cn': 'Mainland China', global: 'Global' };

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
      return { tone: 'good', text: 'You are logged in.' };
    case 'denied':
      return { tone: 'bad', text: reason ?? 'The login was denied.' };
    case 'expired':
      return { tone: 'attention', text: reason ?? 'The code has expired.' };
    case 'cancelled':
      return { tone: 'idle', text: reason ?? 'The login was cancelled.' };
  }
}

type Status = NonNullable<AuthSummary['managed_provider']>['status'];

const states: Record<Status, Outcome> = {
  authenticated: { tone: 'good', text: 'Logged in' },
  expired: { tone: 'attention', text: 'The login has expired. Log in again to use its models.' },
  revoked: { tone: 'bad', text: 'The service has withdrawn the login. Log in again to use its models.' },
  unauthenticated: { tone: 'idle', text: 'Not logged in' },
};

export const accountState = ({ managed_provider: provider }: AuthSummary): Outcome =>
  states[provider?.status ?? 'unauthenticated'];
