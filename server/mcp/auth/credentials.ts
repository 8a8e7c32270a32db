/**
 * What is kept of a sign-in: documents below `credentials/`, which only their owner may read. Each belongs to one name
 * and one address; a server that moves, or another of the same name, gets none of it.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Logger } from '#server/logging/log.ts';
import type { Documents } from '#server/storage/documents.ts';

const PREFIX = 'credentials:mcp';
const NAME_CHARS = 40;
const HASH_CHARS = 24;

/** Without its fragment, which is never sent. */
export function canonicalUrl(url: string): string {
  const canonical = new URL(url);
  canonical.hash = '';
  return canonical.href;
}

/**
 * The resource that tokens are requested for (RFC 8707) where the server names none: its address without fragment, user
 * name, password and query. The authorization server and the history of the browser get it, and these may be secrets.
 */
export function resourceOf(url: string): string {
  const resource = new URL(url);
  for (const part of ['username', 'password', 'search', 'hash'] as const) resource[part] = '';
  return resource.href;
}

/** Names the credentials of a server at an address, which may hold a secret and cannot be read from it. */
export function credentialId(name: string, url: string): string {
  const hash = createHash('sha256')
    .update(`${name}\0${canonicalUrl(url)}`)
    .digest('hex');
  const safe = name.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, NAME_CHARS) || '_';
  return `${safe}-${hash.slice(0, HASH_CHARS)}`;
}

/** The documents of a credential. */
export const credentialSchemas = {
  tokens: z.object({
    access_token: z.string().min(1),
    refresh_token: z.string().optional(),
    scope: z.string().optional(),
    /** Seconds from `obtained_at` on; absent: without end. */
    expires_in: z.number().optional(),
    /** Milliseconds since the epoch. */
    obtained_at: z.number(),
  }),
  /** The registration of this program with the authorization server. */
  client: z.object({
    issuer: z.string(),
    client_id: z.string(),
    client_secret: z.string().optional(),
    /** Seconds since the epoch; 0 is never. */
    client_secret_expires_at: z.number().optional(),
    token_endpoint_auth_method: z.string().optional(),
    redirect_uri: z.string(),
  }),
  /** Where tokens are renewed. */
  discovery: z.object({
    issuer: z.string(),
    authorization_server: z.string(),
    token_endpoint: z.string(),
    token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
    /** What the tokens are for, as its owner spells it. */
    resource: z.string().optional(),
  }),
  /** What the next sign-in asks for, beside what the server wants. */
  meta: z.object({
    /** Granted by the last sign-in. */
    granted: z.string().optional(),
    /** Named by the server since then. */
    missing: z.string().optional(),
  }),
};

export type Kind = keyof typeof credentialSchemas;
/** All kinds; tokens first, without which the others are of no use. */
export const KINDS: Kind[] = ['tokens', 'client', 'discovery', 'meta'];
export type Stored<K extends Kind> = z.output<(typeof credentialSchemas)[K]>;
export type Tokens = Stored<'tokens'>;

/** Reads credentials. They are written through their lock only: `credential-changes.ts`. */
export interface CredentialReader {
  /** What cannot be read counts as missing. */
  read<K extends Kind>(id: string, kind: K): Promise<Stored<K> | undefined>;
  /** All that have tokens. */
  ids(): Promise<string[]>;
}

const TOKENS_SUFFIX = '-tokens.json';

/** The key of a credential's document. */
export const documentKey = (id: string, kind: Kind) => `${PREFIX}:${id}-${kind}.json`;

/** Reads at every question; servers of one home share them. */
export function createCredentialReader({ documents, log }: { documents: Documents; log: Logger }): CredentialReader {
  return {
    async read<K extends Kind>(id: string, kind: K) {
      try {
        // The schema of a kind that is only known as one of them; its own output is what it gives.
        return (await documents.get(documentKey(id, kind), credentialSchemas[kind])) as Stored<K> | undefined;
      } catch {
        // The reason may quote what is in it.
        log.warn('a document of MCP credentials cannot be read and counts as missing', { id, kind });
        return undefined;
      }
    },
    async ids() {
      const start = `${PREFIX}:`;
      return (await documents.keys(PREFIX)).flatMap((key) =>
        key.startsWith(start) && key.endsWith(TOKENS_SUFFIX) ? [key.slice(start.length, -TOKENS_SUFFIX.length)] : [],
      );
    },
  };
}
