/** Addresses of the managed service by region: placeholders, overridable by the environment and `[cloud]`. */

export interface RegionProfile {
  oauthHost: string;
  baseUrl: string;
  cdnBase: string;
  siteBase: string;
  remoteBase: string;
  telemetryEndpoint: string;
}
export type Region = 'mainland-cn' | 'global';

export const DEFAULT_REGION: Region = 'mainland-cn';

export const REGIONS: Record<Region, RegionProfile> = {
  'mainland-cn': {
    oauthHost: 'https://auth.cn.example.com',
    baseUrl: 'https://api.cn.example.com/managed/v1',
    cdnBase: 'https://cdn.cn.example.com/service',
    siteBase: 'https://www.cn.example.com',
    remoteBase: 'https://remote.cn.example.com',
    telemetryEndpoint: 'https://t.cn.example.com/v1/event',
  },
  global: {
    oauthHost: 'https://auth.example.com',
    baseUrl: 'https://api.example.com/managed/v1',
    cdnBase: 'https://cdn.example.com/service',
    siteBase: 'https://www.example.com',
    remoteBase: 'https://remote.example.com',
    telemetryEndpoint: 'https://t.example.com/v1/event',
  },
};

/** The compiled-in addresses, regardless of an override: they determine credential slots. */
export const DEFAULT_OAUTH_HOST = REGIONS[DEFAULT_REGION].oauthHost;
export const DEFAULT_BASE_URL = REGIONS[DEFAULT_REGION].baseUrl;

/** Address of the model directory if nothing sets another one. */
export const DEFAULT_MODEL_DIRECTORY_URL = 'https://models.dev/api.json';

/** Whether an address is a placeholder of this table, where no service is. */
export function isPlaceholder(address: string): boolean {
  return URL.canParse(address) && /(^|\.)example\.com\.?$/.test(new URL(address).hostname);
}
