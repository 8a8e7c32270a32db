/** REST calls of the view of the account. */
import type {
  CancelledLogin,
  LoggedOut,
  LoginFlow,
  StartedLogin,
  UsageResult,
  UserInfoResult,
} from '#schema/rest/oauth.ts';
import type { Rest } from '../../client/rest.ts';
import type { Config } from '../../client/types.ts';
import type { Region } from './login.ts';

type Calls = Pick<Rest, 'request'>;

/** Resolves when the code is known, or when a stored login was accepted. */
export const startLogin = (rest: Calls, region: Region | undefined) =>
  rest.request<StartedLogin>('POST', 'oauth/login', { body: region === undefined ? {} : { region } });

/** The last login of this server process; null if there was none, or it needed no code. */
export const readLogin = (rest: Calls) => rest.request<LoginFlow | null>('GET', 'oauth/login');

export const cancelLogin = (rest: Calls) => rest.request<CancelledLogin>('DELETE', 'oauth/login');

export const logOut = (rest: Calls) => rest.request<LoggedOut>('POST', 'oauth/logout', { body: {} });

export const readUsage = (rest: Calls) => rest.request<UsageResult>('GET', 'oauth/usage');

export const readUser = (rest: Calls) => rest.request<UserInfoResult>('GET', 'oauth/userinfo');

export const readRegion = async (rest: Calls) => (await rest.request<{ region: Region }>('GET', 'oauth/region')).region;

type Settings = Pick<Config, 'experimental' | 'auto_session_title'>;

export const changeSettings = (rest: Calls, patch: Settings) => rest.request<Config>('POST', 'config', { body: patch });
