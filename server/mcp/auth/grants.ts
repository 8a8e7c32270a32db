/**
 * Stored grants and their renewal. A refresh token may be valid for a single use, and servers revoke a grant whose old
 * one is reused: so renewals are serialized, also across the processes of a home.
 */
import type { Clock } from '#server/clock.ts';
import type { Logger } from '#server/logging/log.ts';
import { createRenewals, type Renewal } from '#server/storage/renewals.ts';
import { causeText } from './causes.ts';
import type { ChangeCredential, CredentialWriter } from './credential-changes.ts';
import { KINDS, type CredentialReader, type Stored, type Tokens } from './credentials.ts';
import { oauthRequests, type OAuthFetchDeps } from './oauth-fetch.ts';

/** Upper limit of the time between the renewal of a token and its expiry. */
const MARGIN_MS = 120_000;
const SECOND_MS = 1000;
/** Time between attempts when the authorization server cannot be reached. */
const RETRY_MS = 60_000;
/** Lower limit of the time between renewals: a server may issue tokens that expire immediately. */
const MIN_GAP_MS = 10_000;
/** Refusals of requests that were sent before a renewal arrive for a while after it. */
const SETTLE_MS = 5000;

/** OAuth error codes after which the grant cannot be renewed any more. */
const FINAL = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);

export type GrantState = 'none' | 'valid' | 'expired';
export interface GrantChange {
  /** A result of `credentialId`. */
  id: string;
  kind: 'saved' | 'removed';
}

/** The documents that a sign-in stores together. */
export interface NewGrant {
  client: Stored<'client'>;
  discovery: Stored<'discovery'>;
  meta: Stored<'meta'>;
  tokens: Omit<Tokens, 'obtained_at'>;
}

export interface Grants {
  /** Returns the tokens, renewed if they are about to expire; undefined if the server would accept none. */
  current(id: string): Promise<Tokens | undefined>;
  /** Called after the server has refused this token; returns whether a different one is available now. */
  replaceRefused(id: string, accessToken: string | undefined): Promise<boolean>;
  /** Returns whether no sign-in is needed, after a silent renewal if necessary. */
  settle(id: string): Promise<boolean>;
  /** Reads the stored tokens only, without a renewal. */
  state(id: string): Promise<GrantState>;
  /** Stores the result of a sign-in. Throws the reason of the signal if it is aborted before the first write. */
  save(id: string, grant: NewGrant, signal: AbortSignal): Promise<void>;
  /** Removes all documents of a credential and cancels its running renewal. */
  remove(id: string): Promise<void>;
  /** Schedules the renewal of all stored grants. */
  start(): Promise<void>;
  /** Called when a sign-in or a renewal has stored tokens, and when tokens were removed. */
  onChanged(listener: (change: GrantChange) => void): () => void;
  close(): void;
}

export interface GrantsDeps extends OAuthFetchDeps {
  store: CredentialReader;
  change: ChangeCredential;
  /** The resource of a credential whose sign-in stored none; undefined until a caller has named the server. */
  resourceOf(id: string): string | undefined;
  clock: Clock;
  log: Logger;
}

/** Expiry in milliseconds since the epoch; undefined: never. */
function endOf({ expires_in: seconds, obtained_at: at }: Tokens): number | undefined {
  return seconds === undefined ? undefined : at + seconds * SECOND_MS;
}

function renewalAt(tokens: Tokens): number | undefined {
  const end = endOf(tokens);
  return end === undefined ? undefined : end - Math.min(MARGIN_MS, ((tokens.expires_in ?? 0) * SECOND_MS) / 2);
}

export function createGrants({ store, change, resourceOf, fetch, network, clock, log }: GrantsDeps): Grants {
  const listeners = new Set<(change: GrantChange) => void>();
  const renewals = createRenewals<Tokens, CredentialWriter, Tokens | undefined>({
    read: (id) => store.read(id, 'tokens'),
    write: (writer, _id, tokens) => writer.write('tokens', tokens),
    change,
    onUnsaved: (id, error) =>
      log.warn(`a renewed MCP grant could not be written, and will be written again: ${causeText(error)}`, { id }),
  });
  const { read } = renewals;
  const timers = new Map<string, () => void>();
  /** The access tokens that the server has refused, by grant id. */
  const refused = new Map<string, string>();
  const ended = new AbortController();

  const tell = (change: GrantChange) => {
    for (const listener of listeners) listener(change);
  };
  const isOver = (tokens: Tokens) => (endOf(tokens) ?? Infinity) <= clock.now();
  const isDue = (tokens: Tokens) => (renewalAt(tokens) ?? Infinity) <= clock.now();

  function arm(id: string, tokens: Tokens, earliest = 0): void {
    timers.get(id)?.();
    timers.delete(id);
    const at = renewalAt(tokens);
    if (at === undefined || tokens.refresh_token === undefined || ended.signal.aborted) return;
    const wait = Math.max(at - clock.now(), earliest);
    timers.set(
      id,
      clock.setTimeout(() => void renewInTime(id), wait),
    );
  }

  async function renewInTime(id: string): Promise<void> {
    try {
      if (await renew(id)) tell({ id, kind: 'saved' });
    } catch (error) {
      if (ended.signal.aborted) return;
      log.warn(`an MCP grant could not be renewed: ${causeText(error)}`, { id });
      const tokens = await read(id);
      if (tokens) arm(id, tokens, RETRY_MS);
    }
  }

  function adopt(id: string, tokens: Tokens): void {
    refused.delete(id);
    arm(id, tokens, MIN_GAP_MS);
  }

  async function ask(
    id: string,
    tokens: Tokens,
    refreshToken: string,
    signal: AbortSignal,
  ): Promise<Tokens | undefined> {
    const [client, discovery] = await Promise.all([store.read(id, 'client'), store.read(id, 'discovery')]);
    if (!client || !discovery) return undefined;
    const { issuer, token_endpoint, token_endpoint_auth_methods_supported } = discovery;
    const resource = discovery.resource ?? resourceOf(id);
    // The next connection to the server names the resource and renews the grant.
    if (resource === undefined) return undefined;
    const { refreshAuthorization } = await import('@modelcontextprotocol/client');
    const renewed = await refreshAuthorization(discovery.authorization_server, {
      metadata: {
        issuer,
        authorization_endpoint: token_endpoint,
        token_endpoint,
        response_types_supported: ['code'],
        token_endpoint_auth_methods_supported,
      },
      clientInformation: client,
      refreshToken,
      resource,
      fetchFn: oauthRequests({ fetch, network }, new URL(token_endpoint), signal).fetch,
    });
    return {
      access_token: renewed.access_token,
      refresh_token: renewed.refresh_token ?? refreshToken,
      scope: renewed.scope ?? tokens.scope,
      expires_in: renewed.expires_in,
      obtained_at: clock.now(),
    };
  }

  /** Runs under the lock. Undefined when the grant cannot be renewed. Throws if that cannot be decided. */
  async function renewAlone(
    id: string,
    seen: Tokens,
    { stored: tokens, writer, replace, cancelled }: Renewal<Tokens, CredentialWriter>,
  ): Promise<Tokens | undefined> {
    // Another process of the home has renewed it.
    if (tokens && tokens.access_token !== seen.access_token && !isOver(tokens)) {
      arm(id, tokens);
      return tokens;
    }
    if (tokens?.refresh_token === undefined || cancelled.aborted) return undefined;
    try {
      const signal = AbortSignal.any([ended.signal, cancelled]);
      const renewed = await ask(id, tokens, tokens.refresh_token, signal);
      if (!renewed || cancelled.aborted) return undefined;
      await replace(renewed);
      adopt(id, renewed);
      return renewed;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (cancelled.aborted) return undefined;
      if (typeof code !== 'string' || !FINAL.has(code)) throw error;
      log.info(`an MCP grant is over: ${causeText(error)}`, { id });
      await forget(writer, id, tokens, code !== 'invalid_grant');
      return undefined;
    }
  }

  async function forget(writer: CredentialWriter, id: string, { scope }: Tokens, client: boolean): Promise<void> {
    timers.get(id)?.();
    timers.delete(id);
    const meta = await store.read(id, 'meta');
    const granted = scope ?? meta?.granted;
    if (granted !== undefined) await writer.write('meta', { ...meta, granted });
    await writer.remove('tokens');
    if (client) await writer.remove('client');
    tell({ id, kind: 'removed' });
  }

  /** Undefined for a grant without a refresh token, and for one that is over. */
  async function renew(id: string): Promise<Tokens | undefined> {
    const seen = await read(id);
    if (seen?.refresh_token === undefined) return undefined;
    return renewals.run(id, (renewal) => renewAlone(id, seen, renewal));
  }

  async function current(id: string): Promise<Tokens | undefined> {
    const tokens = await read(id);
    if (!tokens || !isDue(tokens) || tokens.refresh_token === undefined) {
      return tokens && !isOver(tokens) ? tokens : undefined;
    }
    try {
      return await renew(id);
    } catch (error) {
      log.warn(`an MCP grant could not be renewed: ${causeText(error)}`, { id });
      return isOver(tokens) ? undefined : tokens;
    }
  }

  return {
    current,

    async replaceRefused(id, accessToken) {
      const tokens = await read(id);
      if (!tokens) return false;
      if (tokens.access_token !== accessToken) return !isOver(tokens);
      if (tokens.refresh_token !== undefined) {
        if (clock.now() - tokens.obtained_at < SETTLE_MS && refused.get(id) !== accessToken) {
          refused.set(id, tokens.access_token);
          return true;
        }
        try {
          if (await renew(id)) return true;
        } catch (error) {
          log.warn(`an MCP grant could not be renewed: ${causeText(error)}`, { id });
        }
      }
      refused.set(id, tokens.access_token);
      return false;
    },

    async settle(id) {
      const [tokens, meta] = await Promise.all([read(id), store.read(id, 'meta')]);
      // A renewal never widens a grant.
      if (!tokens || meta?.missing !== undefined) return false;
      const good = !isDue(tokens) && refused.get(id) !== tokens.access_token;
      if (!good && !(await renew(id).catch(() => undefined))) return false;
      tell({ id, kind: 'saved' });
      return true;
    },

    async state(id) {
      const tokens = await read(id);
      if (!tokens) return 'none';
      return !isOver(tokens) || tokens.refresh_token !== undefined ? 'valid' : 'expired';
    },

    async save(id, { client, discovery, meta, tokens }, signal) {
      const obtained = { ...tokens, obtained_at: clock.now() };
      await change(id, async (writer) => {
        // A reset that came first cancels the sign-in.
        signal.throwIfAborted();
        await writer.write('client', client);
        await writer.write('discovery', discovery);
        await writer.write('meta', meta);
        await writer.write('tokens', obtained);
        adopt(id, obtained);
      });
      tell({ id, kind: 'saved' });
    },

    async remove(id) {
      // The renewal holds the lock during its request, which may take longer than a person waits.
      renewals.cancel(id);
      await change(id, async (writer) => {
        timers.get(id)?.();
        timers.delete(id);
        refused.delete(id);
        for (const kind of KINDS) await writer.remove(kind);
        renewals.forget(id);
      });
      tell({ id, kind: 'removed' });
    },

    async start() {
      for (const id of await store.ids()) {
        const tokens = await read(id);
        if (tokens && !timers.has(id)) arm(id, tokens);
      }
    },

    onChanged(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    close() {
      ended.abort(new Error('the server is shutting down'));
      for (const cancelTimer of timers.values()) cancelTimer();
      timers.clear();
      listeners.clear();
    },
  };
}
