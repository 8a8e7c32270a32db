/**
 * Stored credentials: documents below `credentials/`, readable by their owner only. Each belongs to one name and one
 * address; a server that moves, or another one of the same name, does not get them.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Logger } from '#server/logging/log.ts';
import type { Documents } from '#server/storage/documents.ts';

const PREFIX = 'credentials:mcp';
const NAME_CHARS = 40;
const HASH_CHARS = 24;

/** Returns the address without its fragment, which is never sent. */
export function canonicalUrl(url: string): string {
  const canonical = new URL(url);
  canonical.hash = '';
  return canonical.href;
}

/**
 * The resource that tokens are requested for (RFC 8707) if the server names none: its address without fragment, user
 * name, password and query. Those may be secrets, and the authorization server and the browser's history record it.
 */
export function resourceOf(url: string): string {
  const resource = new URL(url);
  for (const part of ['username', 'password', 'search', 'hash'] as const) resource[part] = '';
  return resource.href;
}

/** Id of the credential of a server at an address. The address may contain a secret, so the id has only its hash. */
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
    /** Seconds from `obtained_at`; undefined: the token does not expire. */
    expires_in: z.number().optional(),
    /** Milliseconds since the epoch. */
    obtained_at: z.number(),
  }),
  /** The registration of this program with the authorization server. */
  client: z.object({
    issuer: z.string(),
    client_id: z.string(),
    client_secret: z.string().optional(),
    /** Seconds since the epoch; 0: never. */
    client_secret_expires_at: z.number().optional(),
    token_endpoint_auth_method: z.string().optional(),
    redirect_uri: z.string(),
  }),
  /** The endpoints that renew the tokens. */
  discovery: z.object({
    issuer: z.string(),
    authorization_server: z.string(),
    token_endpoint: z.string(),
    token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
    /** The resource of the tokens, spelled as its server does. */
    resource: z.string().optional(),
  }),
  /** Scopes that the next sign-in requests in addition to those that the server names. */
  meta: z.object({
    /** Granted by the last sign-in. */
    granted: z.string().optional(),
    /** Reported as missing by the server since then. */
    missing: z.string().optional(),
  }),
};

export type Kind = keyof typeof credentialSchemas;
/** All kinds; tokens first: a removal that stops half-way leaves no usable credential. */
export const KINDS: Kind[] = ['tokens', 'client', 'discovery', 'meta'];
export type Stored<K extends Kind> = z.output<(typeof credentialSchemas)[K]>;
export type Tokens = Stored<'tokens'>;

/** Reads credentials. All writes go through the lock of `credential-changes.ts`. */
export interface CredentialReader {
  /** Undefined also for a document that cannot be read. */
  read<K extends Kind>(id: string, kind: K): Promise<Stored<K> | undefined>;
  /** Ids of all credentials that have tokens. */
  ids(): Promise<string[]>;
}

const TOKENS_SUFFIX = '-tokens.json';

/** The key of a credential's document. */
export const documentKey = (id: string, kind: Kind) => `${PREFIX}:${id}-${kind}.json`;

/** Does not cache: the processes of a home share the documents. */
export function createCredentialReader({ documents, log }: { documents: Documents; log: Logger }): CredentialReader {
  return {
    async read<K extends Kind>(id: string, kind: K) {
      try {
        // TypeScript does not narrow the schema of a generic kind to that kind's output.
        return (await documents.get(documentKey(id, kind), credentialSchemas[kind])) as Stored<K> | undefined;
      } catch {
        // The error may quote the document's content, so it is not logged.
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
