/** The settings of the cloud's addresses: variables of the environment, and the table `[cloud]` of the file. */
import * as z from 'zod';
import { envText } from '#server/env.ts';
import type { Region } from './regions.ts';

type Env = NodeJS.ProcessEnv;

/** Trims an address and removes its trailing slashes. */
export const normalized = (address: string): string => address.trim().replace(/\/+$/, '');

/** Blank and malformed members are treated as not set. */
const text = z.string().trim().min(1).optional().catch(undefined);
const address = z.string().transform(normalized).pipe(z.string().min(1)).optional().catch(undefined);

const cloudSettingsSchema = z
  .object({
    /** A single origin for all addresses that are not set individually. */
    url: address,
    region: z.enum(['mainland-cn', 'global']).optional().catch(undefined),
    clientId: text,
    oauthHost: address,
    baseUrl: address,
    cdnBase: address,
    siteBase: address,
    remoteBase: address,
    telemetryEndpoint: text,
    modelDirectoryUrl: text,
  })
  .catch({});
export type CloudSettings = z.output<typeof cloudSettingsSchema> & { region?: Region | undefined };

/** Parses the table `[cloud]`, in wire spelling. */
export const readCloudSettings = (table: unknown): CloudSettings => cloudSettingsSchema.parse(table ?? {});

/** Addresses that variables set. `SERVICE_CODE_CLOUD_URL` sets all of them; the variable of one address wins. */
export interface PinnedAddresses {
  oauthHost?: string;
  baseUrl?: string;
  cdnBase?: string;
  siteBase?: string;
  remoteBase?: string;
  modelDirectoryUrl?: string;
  /** False: an origin for all addresses has no telemetry. */
  telemetry: boolean;
}

/** The addresses of a cloud that is served from a single origin. */
export const addressesOfOrigin = (origin: string) => ({
  oauthHost: origin,
  baseUrl: `${origin}/managed/v1`,
  cdnBase: `${origin}/cdn`,
  siteBase: origin,
  remoteBase: origin,
  modelDirectoryUrl: `${origin}/directory/api.json`,
});

export function readPinnedAddresses(env: Env): PinnedAddresses {
  const read = (name: string) => normalized(envText(env, name) ?? '') || undefined;
  const origin = read('SERVICE_CODE_CLOUD_URL');
  const host = read('SERVICE_CODE_OAUTH_HOST') ?? read('SERVICE_OAUTH_HOST');
  const base = read('SERVICE_CODE_BASE_URL');
  const remote = read('SERVICE_CODE_REMOTE_HOST');
  const directory = envText(env, 'SERVICE_CODE_MODEL_DIRECTORY_URL');
  return {
    ...(origin !== undefined && addressesOfOrigin(origin)),
    ...(host !== undefined && { oauthHost: host }),
    ...(base !== undefined && { baseUrl: base }),
    ...(remote !== undefined && { remoteBase: remote }),
    ...(directory !== undefined && { modelDirectoryUrl: directory }),
    telemetry: origin === undefined,
  };
}

/** Whether the variables name another cloud than the stored login may have: its OAuth host is ignored then. */
export const isPinned = ({ oauthHost, baseUrl }: PinnedAddresses): boolean =>
  oauthHost !== undefined || baseUrl !== undefined;

/** Whether the region's marker file of the home is ignored. */
export const ignoresMarker = (env: Env): boolean => envText(env, 'SERVICE_CODE_REGION_MARKER')?.toLowerCase() === 'off';

/** Whether renewals of tokens run without the lock that the servers of a home share. */
export const isOAuthLockDisabled = (env: Env): boolean => envText(env, 'SERVICE_DISABLE_OAUTH_LOCK') === '1';
