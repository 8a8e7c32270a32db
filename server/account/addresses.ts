/** Resolution of the region, the cloud's addresses and the slots of logins. Pure functions; no request is made. */
import type { ProviderRecord } from '#schema/config/provider-record.ts';
import type { OAuthRef } from '#schema/rest/model.ts';
import {
  addressesOfOrigin,
  ignoresMarker,
  isPinned,
  normalized,
  readPinnedAddresses,
  type CloudSettings,
} from './cloud-settings.ts';
import { DEFAULT_KEY, MANAGED_PROVIDER, referenceOf, type Slot } from './credential-slots.ts';
import {
  DEFAULT_BASE_URL,
  DEFAULT_MODEL_DIRECTORY_URL,
  DEFAULT_OAUTH_HOST,
  DEFAULT_REGION,
  REGIONS,
  type Region,
  type RegionProfile,
} from './regions.ts';

/** The inputs of each resolution. */
export interface AddressInputs {
  env: NodeJS.ProcessEnv;
  cloud: CloudSettings;
  /** The providers of the file. */
  providers: Record<string, ProviderRecord> | undefined;
  /** Content of the home's file `region`, which an installer may write. */
  marker: string | undefined;
}

/** Addresses that do not depend on a login. */
export interface CloudAddresses {
  cdnBase: string;
  siteBase: string;
  remoteBase: string;
  modelDirectoryUrl: string;
  /** Undefined: no telemetry. */
  telemetryEndpoint: string | undefined;
}

/** The addresses of a login, and the reference that its provider record stores. */
export interface LoginAddresses {
  oauthHost: string;
  baseUrl: string;
  reference: OAuthRef;
}

const IDS: readonly Region[] = ['mainland-cn', 'global'];

type EffectiveProfile = Omit<RegionProfile, 'telemetryEndpoint'> & {
  telemetryEndpoint: string | undefined;
  modelDirectoryUrl: string;
};

/** A region's row of the table with the members of `[cloud]` replaced. */
function profileOf(region: Region, cloud: CloudSettings): EffectiveProfile {
  const { url } = cloud;
  const row = { ...REGIONS[region], modelDirectoryUrl: DEFAULT_MODEL_DIRECTORY_URL };
  const base = url === undefined ? row : addressesOfOrigin(url);
  return {
    oauthHost: cloud.oauthHost ?? base.oauthHost,
    baseUrl: cloud.baseUrl ?? base.baseUrl,
    cdnBase: cloud.cdnBase ?? base.cdnBase,
    siteBase: cloud.siteBase ?? base.siteBase,
    remoteBase: cloud.remoteBase ?? base.remoteBase,
    modelDirectoryUrl: cloud.modelDirectoryUrl ?? base.modelDirectoryUrl,
    telemetryEndpoint: cloud.telemetryEndpoint ?? (url === undefined ? row.telemetryEndpoint : undefined),
  };
}

/** The region that has this OAuth host; undefined for an unknown host. */
function regionOfHost(host: string, cloud: CloudSettings): Region | undefined {
  const found = IDS.filter((region) => profileOf(region, cloud).oauthHost === normalized(host));
  return found.length > 1 ? (cloud.region ?? DEFAULT_REGION) : found[0];
}

const managedOf = (providers: AddressInputs['providers']): ProviderRecord | undefined =>
  providers && Object.hasOwn(providers, MANAGED_PROVIDER) ? providers[MANAGED_PROVIDER] : undefined;

/** The current region: by a pinned host, the stored login, the marker file, `[cloud]`. */
export function regionOf(inputs: AddressInputs): Region {
  const { env, cloud, marker } = inputs;
  const pinned = readPinnedAddresses(env).oauthHost;
  if (pinned !== undefined) return regionOfHost(pinned, cloud) ?? DEFAULT_REGION;
  const oauth = managedOf(inputs.providers)?.oauth;
  const stored = oauth?.oauthHost?.trim() ? regionOfHost(oauth.oauthHost, cloud) : undefined;
  if (stored !== undefined) return stored;
  // A login in the default slot stores no host.
  if (oauth?.key === DEFAULT_KEY) return DEFAULT_REGION;
  const marked = ignoresMarker(env) ? undefined : IDS.find((region) => region === marker?.trim());
  return marked ?? cloud.region ?? DEFAULT_REGION;
}

export function addressesOf(inputs: AddressInputs): CloudAddresses {
  const pinned = readPinnedAddresses(inputs.env);
  const profile = profileOf(regionOf(inputs), inputs.cloud);
  return {
    cdnBase: pinned.cdnBase ?? profile.cdnBase,
    siteBase: pinned.siteBase ?? profile.siteBase,
    remoteBase: pinned.remoteBase ?? profile.remoteBase,
    modelDirectoryUrl: pinned.modelDirectoryUrl ?? profile.modelDirectoryUrl,
    telemetryEndpoint: pinned.telemetry ? profile.telemetryEndpoint : undefined,
  };
}

/** The managed base URL at run time; undefined unless a managed login is stored. */
export function managedBaseUrl({ env, providers }: Pick<AddressInputs, 'env' | 'providers'>): string | undefined {
  const managed = managedOf(providers);
  if (!managed?.oauth) return undefined;
  return readPinnedAddresses(env).baseUrl ?? (normalized(managed.baseUrl ?? '') || DEFAULT_BASE_URL);
}

/**
 * The addresses of the managed login; `region` is the one that a user requests for a new login. Without it they are
 * those of requests at run time, so that login and run time have one slot.
 */
export function loginAddressesOf(inputs: AddressInputs, region?: Region): LoginAddresses {
  const pinned = readPinnedAddresses(inputs.env);
  const managed = managedOf(inputs.providers);
  const overridden = isPinned(pinned);
  const requested = overridden || region === undefined ? undefined : profileOf(region, inputs.cloud);
  const standard = profileOf(regionOf(inputs), inputs.cloud);
  // A reference without a host belongs to the compiled-in one.
  const storedHost = managed?.oauth && (normalized(managed.oauth.oauthHost ?? '') || DEFAULT_OAUTH_HOST);
  const storedBase = normalized(managed?.baseUrl ?? '') || (managed?.oauth && DEFAULT_BASE_URL);
  const baseUrl = requested?.baseUrl ?? pinned.baseUrl ?? storedBase ?? standard.baseUrl;
  const oauthHost =
    requested?.oauthHost ?? pinned.oauthHost ?? (overridden ? undefined : storedHost) ?? standard.oauthHost;
  const reference = referenceOf(oauthHost, baseUrl);
  const stored = managed?.oauth;
  const reused = !overridden && !requested && stored?.key === reference.key;
  return { oauthHost, baseUrl, reference: reused ? stored : reference };
}

/**
 * The slot of a login, found by its key: a reload of the file changes the objects, but not the keys. The slot of the
 * managed login follows addresses that the environment pins.
 */
export function slotOfReference({ key, oauthHost }: OAuthRef, inputs: AddressInputs): Slot {
  if (managedOf(inputs.providers)?.oauth?.key === key) {
    const login = loginAddressesOf(inputs);
    return { key: login.reference.key, oauthHost: login.oauthHost };
  }
  const record = Object.values(inputs.providers ?? {}).find(({ oauth }) => oauth?.key === key);
  const host = normalized(record?.oauth?.oauthHost ?? oauthHost ?? '');
  return { key, oauthHost: host || DEFAULT_OAUTH_HOST };
}
