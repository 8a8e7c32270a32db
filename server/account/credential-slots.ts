/** Slots of logins: the key of a login's token file, which is separate for each pair of addresses. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { OAuthRef } from '#schema/rest/model.ts';
import { normalized } from './cloud-settings.ts';
import { DEFAULT_BASE_URL, DEFAULT_OAUTH_HOST } from './regions.ts';

export const MANAGED_PROVIDER = 'managed:service-code';
export const DEFAULT_KEY = 'oauth/service-code';

/** A login's token file and the host that renews its tokens. */
export interface Slot {
  key: string;
  oauthHost: string;
}

/**
 * Name of a key's token file: `oauth/x` and `x` name `x`; undefined for a key that names none. A colon separates
 * folders of the document store, so `oauth/mcp:x` would name the grant of an MCP server.
 */
export function slotName(key: string): string | undefined {
  const name = key.startsWith('oauth/') ? key.slice('oauth/'.length) : key;
  if (name === '' || name.startsWith('.') || /[:\\\0]/.test(name)) return undefined;
  return basename(name) === name ? name : undefined;
}

/** The key of one pair of addresses. */
export function slotKey(oauthHost: string, baseUrl: string): string {
  const pair = { oauthHost: normalized(oauthHost), baseUrl: normalized(baseUrl) };
  if (pair.oauthHost === DEFAULT_OAUTH_HOST && pair.baseUrl === DEFAULT_BASE_URL) return DEFAULT_KEY;
  const hash = createHash('sha256').update(JSON.stringify(pair)).digest('hex');
  return `oauth/service-code-env-${hash.slice(0, 16)}`;
}

/** The reference that a provider record stores for a pair of addresses. */
export function referenceOf(oauthHost: string, baseUrl: string): OAuthRef {
  const key = slotKey(oauthHost, baseUrl);
  return { storage: 'file', key, ...(key !== DEFAULT_KEY && { oauthHost: normalized(oauthHost) }) };
}
