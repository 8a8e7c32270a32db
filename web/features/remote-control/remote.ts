/** Summaries of remote control, of its failures and of devices. */
import { ApiError, type RemoteConflict, type RemoteDevice, type RemoteStatus } from '@service-code/client';
import { t, textOf } from '../../messages/messages.ts';
import type { RowTone } from '../../render/row-tone.ts';
import { ageOf } from '../../render/time.ts';
import { isObject } from '../../state/is-object.ts';

export interface ShownState {
  tone: RowTone;
  text: string;
  /** Whether the state will change without another action. */
  isChanging: boolean;
}

/** The state in words; a tunnel that had an address reconnects. */
export function stateOf({ state, url }: Pick<RemoteStatus, 'state' | 'url'>): ShownState {
  switch (state) {
    case 'off':
      return { tone: 'idle', text: t('remote.off'), isChanging: false };
    case 'on':
      return { tone: 'good', text: t('remote.on'), isChanging: false };
    case 'starting':
      return {
        tone: 'attention',
        text: t(url === undefined ? 'remote.turningOn' : 'remote.reconnecting'),
        isChanging: true,
      };
    case 'stopping':
      return { tone: 'attention', text: t('remote.turningOff'), isChanging: true };
  }
}

/** Why a call has failed. `login`: a login is needed; `conflict`: another server hosts the tunnel. */
export type Failure =
  { kind: 'login'; text: string } | { kind: 'conflict'; holder: RemoteConflict } | { kind: 'other'; error: unknown };

const NO_LOGIN = 40111;
const REFUSED_LOGIN = 40112;
const RUNS_ELSEWHERE = 40928;

export function failureOf(error: unknown): Failure {
  const code = error instanceof ApiError ? error.code : undefined;
  if (code === NO_LOGIN) return { kind: 'login', text: t('remote.needsLogin') };
  if (code === REFUSED_LOGIN) return { kind: 'login', text: t('remote.loginRefused') };
  if (error instanceof ApiError && code === RUNS_ELSEWHERE && isConflict(error.details)) {
    return { kind: 'conflict', holder: error.details };
  }
  return { kind: 'other', error };
}

const isConflict = (value: unknown): value is RemoteConflict =>
  isObject(value) &&
  typeof value['pid'] === 'number' &&
  ['local_origin', 'url', 'started_at'].every((key) => typeof value[key] === 'string');

/** The server that hosts the tunnel, in sentences. */
export function holderLines({ pid, local_origin: origin, url, started_at: time }: RemoteConflict, now: number) {
  const age = Number.isNaN(Date.parse(time)) ? undefined : ageOf(time, now);
  const since = age === undefined || age.key === 'time.now' ? undefined : textOf(age);
  return [
    t('remote.hostedElsewhere', { pid, origin: origin || undefined, since }),
    url === '' ? t('remote.tryLater') : t('remote.turnOffThere', { url }),
  ];
}

/** The address that opens the page with the token. */
export function addressWithToken(url: string, token: string | undefined): string {
  const address = new URL(url);
  if (token !== undefined) address.hash = `token=${encodeURIComponent(token)}`;
  return address.href;
}

/** Whether the page was opened through the tunnel with this address. */
export function isThroughTunnel(url: string | undefined, page: string): boolean {
  if (url === undefined || !URL.canParse(url)) return false;
  const [address, own] = [new URL(url), new URL(page)];
  const base = address.pathname.replace(/\/?$/, '/');
  return address.origin === own.origin && own.pathname.replace(/\/?$/, '/').startsWith(base);
}

/** The dark modules of a QR code as the path of an SVG whose unit is a module. */
export function modulesPath(rows: readonly (readonly boolean[])[]): string {
  let path = '';
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length;) {
      const start = x;
      while (row[x] === true) x += 1;
      if (x > start) path += `M${start} ${y}h${x - start}v1h${start - x}z`;
      else x += 1;
    }
  }
  return path;
}

/** Platform, version and last use, as far as the cloud knows them. */
export function deviceFacts(device: RemoteDevice, now: number): string {
  const { platform, client_version: version, last_remote_access_at: used } = device;
  const age = used === null ? t('remote.neverUsed') : t('remote.used', { when: agoText(used, now) });
  return [platform, version, age].filter(Boolean).join(' · ');
}

function agoText(time: string, now: number): string {
  const age = ageOf(time, now);
  if (age.key === 'time.now') return t('remote.justNow');
  return t(age.key === 'time.date' ? 'remote.onDay' : 'remote.ago', { time: textOf(age) });
}
