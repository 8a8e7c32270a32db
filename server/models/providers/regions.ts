/** Addresses of the managed service by region: placeholders, overridable by environment and `[cloud]`. */

export interface RegionProfile {
  oauth_host: string;
  base_url: string;
  cdn_base: string;
  site_base: string;
  remote_base: string;
  telemetry_endpoint: string;
}
export type Region = 'mainland-cn' | 'global';

export const REGIONS: Record<Region, RegionProfile> = {
  'mainland-cn': {
    oauth_host: 'https://auth.cn.example.com',
    base_url: 'https://api.cn.example.com/managed/v1',
    cdn_base: 'https://cdn.cn.example.com/service',
    site_base: 'https://www.cn.example.com',
    remote_base: 'https://remote.cn.example.com',
    telemetry_endpoint: 'https://t.cn.example.com/v1/event',
  },
  global: {
    oauth_host: 'https://auth.example.com',
    base_url: 'https://api.example.com/managed/v1',
    cdn_base: 'https://cdn.example.com/service',
    site_base: 'https://www.example.com',
    remote_base: 'https://remote.example.com',
    telemetry_endpoint: 'https://t.example.com/v1/event',
  },
};

/** The compiled-in addresses, regardless of an override: they determine credential slots. */
export const DEFAULT_OAUTH_HOST = REGIONS['mainland-cn'].oauth_host;
export const DEFAULT_BASE_URL = REGIONS['mainland-cn'].base_url;
