/** Slots: location and state of a login's stored token. Reads only; no request is made. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { z } from 'zod';
import { envText } from '#server/env.ts';
import type { Documents } from '#server/storage/documents.ts';
import type { ProviderRecord } from '#schema/config/provider-record.ts';
import { DEFAULT_BASE_URL, DEFAULT_OAUTH_HOST } from './regions.ts';

export const MANAGED_PROVIDER = 'managed:service-code';
const DEFAULT_KEY = 'oauth/service-code';

const text = z.string().catch('');
const seconds = z.number().catch(0);
const tokenSchema = z.object({
  access_token: text,
  refresh_token: text,
  /** Unix seconds; 0: unknown. */
  expires_at: seconds,
});

/** `revoked` is a tombstone: the grant was refused. */
export type SlotState =
  | { state: 'missing' }
  | { state: 'revoked' }
  | { state: 'valid'; refreshable: boolean; /** Unix seconds, 0 = unknown. */ expiresAt: number };

/** Reads the slot of a key; an unreadable document or an invalid key is treated as missing. */
export async function readSlot(documents: Documents, key: string): Promise<SlotState> {
  const name = slotName(key);
  if (name === undefined) return { state: 'missing' };
  const token = await documents.get(`credentials:${name}.json`, tokenSchema).catch(() => undefined);
  if (!token) return { state: 'missing' };
  if (token.access_token === '') return { state: 'revoked' };
  return { state: 'valid', refreshable: token.refresh_token !== '', expiresAt: token.expires_at };
}

/** `oauth/x` and `x` name slot `x`; undefined for keys that could leave the folder. */
function slotName(key: string): string | undefined {
  const name = key.startsWith('oauth/') ? key.slice('oauth/'.length) : key;
  return name !== '' && !name.startsWith('.') && basename(name) === name ? name : undefined;
}

const normalized = (address: string) => address.trim().replace(/\/+$/, '');

/** The slot of one pair of addresses. */
export function slotKey(oauthHost: string, baseUrl: string): string {
  const pair = { oauthHost: normalized(oauthHost), baseUrl: normalized(baseUrl) };
  if (pair.oauthHost === DEFAULT_OAUTH_HOST && pair.baseUrl === DEFAULT_BASE_URL) return DEFAULT_KEY;
  const hash = createHash('sha256').update(JSON.stringify(pair)).digest('hex');
  return `oauth/service-code-env-${hash.slice(0, 16)}`;
}

/** Returns the managed provider's current slot; addresses pinned by the environment override the stored ones. */
export function runtimeSlot(record: ProviderRecord, env: NodeJS.ProcessEnv): string {
  const cloud = envText(env, 'SERVICE_CODE_CLOUD_URL');
  const origin = cloud && normalized(cloud);
  const host = envText(env, 'SERVICE_CODE_OAUTH_HOST') ?? envText(env, 'SERVICE_OAUTH_HOST') ?? origin;
  const base = envText(env, 'SERVICE_CODE_BASE_URL') ?? (origin && `${origin}/managed/v1`);
  const pinned = host !== undefined || base !== undefined;
  const oauthHost = pinned ? host : record.oauth?.oauthHost;
  return slotKey(oauthHost ?? DEFAULT_OAUTH_HOST, base ?? (record.baseUrl?.trim() || DEFAULT_BASE_URL));
}
