/** REST calls of the view of the account. */
import type { Config, Rest } from '@service-code/client';
import type { Region } from './login.ts';

type Calls = Pick<Rest, 'request'>;

/** Resolves when the code is known, or when a stored login was accepted. */
export const startLogin = (rest: Calls, region: Region | undefined) =>
  rest.request('POST /api/v1/oauth/login', { body: region === undefined ? {} : { region } });

/** The last login of this server process; null if there was none, or it needed no code. */
export const readLogin = (rest: Calls) => rest.request('GET /api/v1/oauth/login');

export const cancelLogin = (rest: Calls) => rest.request('DELETE /api/v1/oauth/login');

export const logOut = (rest: Calls) => rest.request('POST /api/v1/oauth/logout', { body: {} });

export const readUsage = (rest: Calls) => rest.request('GET /api/v1/oauth/usage');

export const readUser = (rest: Calls) => rest.request('GET /api/v1/oauth/userinfo');

export const readRegion = async (rest: Calls) => (await rest.request('GET /api/v1/oauth/region')).region;

type Settings = Pick<Config, 'experimental' | 'auto_session_title'>;

export const changeSettings = (rest: Calls, patch: Settings) => rest.request('POST /api/v1/config', { body: patch });
