/** The reply of `GET /meta`. */
import type { Meta } from '#schema/rest/meta.ts';
import { iso } from '#schema/scalars.ts';
import { SERVER_VERSION } from '#server/version.ts';

const FEATURES = ['btw', 'plan', 'externalHooks', 'swarm', 'goal', 'usage', 'dateChange', 'tokenCounting', 'todo'];

export interface MetaInputs {
  serverId: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  bypassAuth: boolean;
  webTitle: string | undefined;
  /** The resolved experimental flags, read at each call. */
  flags: () => Record<string, boolean>;
}

export function createMeta({ serverId, startedAt, bypassAuth, webTitle, flags }: MetaInputs): () => Meta {
  return () => ({
    server_version: SERVER_VERSION,
    capabilities: { websocket: true, file_upload: true, fs_query: true, mcp: true, tasks: true, terminal: true },
    server_id: serverId,
    started_at: iso(startedAt),
    open_in_apps: [],
    dangerous_bypass_auth: bypassAuth,
    backend: 'v2',
    web_title: webTitle,
    experimental_flags: flags(),
    features: FEATURES.map((name) => ({ name, state: 'Active' as const, meta: {} })),
  });
}
