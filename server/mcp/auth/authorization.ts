/** One OAuth authorization, from discovery to the stored tokens. Several flows may share it. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { listenForCallback, type CallbackListener, type CallbackOutcome } from './callback.ts';
import { oneLine } from '../server-text.ts';
import { askForChallenge, type Challenge } from './challenge.ts';
import type { CredentialReader, Stored } from './credentials.ts';
import { discover, type Discovered } from './discover.ts';
import type { NewGrant } from './grants.ts';
import { isAllowed, oauthRequests, type OAuthFetchDeps } from './oauth-fetch.ts';

/** A remote server as the client connects to it. */
export interface AuthTarget {
  name: string;
  url: string;
  transport: 'http' | 'sse';
  headers: Record<string, string>;
}

export interface Authorization {
  authorizationUrl: string;
  callbackUrl: string;
  /** Settles a single time; rejects with a reason for people. */
  result: Promise<void>;
  /** Whether the query of a callback carries the `state` of this authorization. */
  isAnswer(query: URLSearchParams): boolean;
  /** Handles the query of a callback; returns the progress of the sign-in. A foreign `state` is ignored. */
  arrive(query: URLSearchParams): CallbackOutcome;
  /** Stops the authorization; `result` rejects with the reason unless it is settled. */
  end(reason: string): void;
}

export interface AuthorizationDeps extends OAuthFetchDeps {
  id: string;
  target: AuthTarget;
  /** The challenge that the server sent when it refused a connection. */
  challenge: Challenge | undefined;
  store: CredentialReader;
  /** Stores the grant unless the signal is aborted. */
  save(grant: NewGrant, signal: AbortSignal): Promise<void>;
  clientName: string;
  now(): number;
}

const OFFLINE_ACCESS = 'offline_access';
const words = (scope: string | undefined) => (scope ?? '').split(' ').filter(Boolean);

const CLOSED = 'the sign-in is over';

function scopeOf({ scopesSupported, metadata }: Discovered, asked: string | undefined, meta?: Stored<'meta'>) {
  const extra = [...words(meta?.granted), ...words(meta?.missing)];
  const base = words(asked);
  const wanted = new Set([
    ...(base.length > 0 || meta?.missing !== undefined ? base : (scopesSupported ?? [])),
    ...extra,
  ]);
  // Without `offline_access` some servers issue no refresh token.
  if (wanted.size > 0 && metadata?.scopes_supported?.includes(OFFLINE_ACCESS)) wanted.add(OFFLINE_ACCESS);
  return wanted.size === 0 ? undefined : [...wanted].join(' ');
}

function usable(client: Stored<'client'> | undefined, issuer: string, now: number): client is Stored<'client'> {
  const expires = client?.client_secret_expires_at ?? 0;
  return client?.issuer === issuer && (expires === 0 || expires * 1000 > now);
}

/** Throws with the reason; listener and requests are closed then. */
export async function startAuthorization(deps: AuthorizationDeps): Promise<Authorization> {
  const { id, target, store, now } = deps;
  const ended = new AbortController();
  const server = new URL(target.url);
  // Requests do not carry user name and password, and addresses derived from this one would send them to other hosts.
  server.username = '';
  server.password = '';
  const { fetch, fetchHead } = oauthRequests(deps, server, ended.signal);
  let listener: CallbackListener | undefined;
  let settled = false;
  let outcome: CallbackOutcome = 'failed';
  let settle: { resolve(): void; reject(error: Error): void } | undefined;
  const result = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
  // A rejection is handled by the flows that wait; without any it must not become an unhandled one.
  result.catch(() => undefined);

  function end(reason: string): void {
    settled = true;
    settle?.reject(new Error(reason));
    ended.abort(new Error(reason));
    listener?.close();
  }

  try {
    const library = await import('@modelcontextprotocol/client');
    const challenge =
      deps.challenge?.resourceMetadataUrl !== undefined || deps.challenge?.scope !== undefined
        ? deps.challenge
        : await askForChallenge({ ...target, url: server }, fetchHead);
    const found = await discover(server, challenge, fetch);
    const { issuer, metadata, resource, authorizationServerUrl } = found;
    const [known, meta] = await Promise.all([store.read(id, 'client'), store.read(id, 'meta')]);
    const before = usable(known, issuer, now()) ? known : undefined;

    const state = randomBytes(32).toString('base64url');
    let exchange: ((code: string, iss: string | undefined) => Promise<void>) | undefined;

    function isAnswer(query: URLSearchParams): boolean {
      const given = Buffer.from(query.get('state') ?? '');
      const expected = Buffer.from(state);
      return given.length === expected.length && timingSafeEqual(given, expected);
    }

    function arrive(query: URLSearchParams): CallbackOutcome {
      // The `state` is checked first: any page and any program of this machine can call, and must not end the flow.
      if (!isAnswer(query)) return 'failed';
      // A reload of the callback page returns the outcome of the first call.
      if (settled || !exchange) return outcome;
      settled = true;
      const fail = (reason: string) => {
        settle?.reject(new Error(reason));
        return outcome;
      };
      const error = query.get('error');
      if (error !== null) {
        const description = query.get('error_description');
        return fail(`OAuth error: ${oneLine(error)}${description ? ` — ${oneLine(description)}` : ''}`);
      }
      const code = query.get('code');
      if (code === null || code === '') return fail('the callback has no code');
      outcome = 'received';
      exchange(code, query.get('iss') ?? undefined).then(
        () => {
          outcome = 'succeeded';
          settle?.resolve();
        },
        (reason: unknown) => {
          outcome = 'failed';
          settle?.reject(reason instanceof Error ? reason : new Error(String(reason)));
        },
      );
      return outcome;
    }

    // A registration names its callback address, so its port is reused if it is free.
    listener = await listenForCallback(arrive, before ? Number(new URL(before.redirect_uri).port) : 0);
    const redirectUrl = listener.url;
    const scope = scopeOf(found, challenge.scope, meta);

    async function register(): Promise<Stored<'client'>> {
      const registered = await library.registerClient(authorizationServerUrl, {
        ...(metadata && { metadata }),
        clientMetadata: {
          client_name: deps.clientName,
          redirect_uris: [redirectUrl],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: 'none',
          application_type: 'native',
        },
        ...(scope !== undefined && { scope }),
        fetchFn: fetch,
      });
      const { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method } = registered;
      return {
        issuer,
        client_id,
        redirect_uri: redirectUrl,
        ...(client_secret !== undefined && { client_secret }),
        ...(client_secret_expires_at !== undefined && { client_secret_expires_at }),
        ...(token_endpoint_auth_method !== undefined && { token_endpoint_auth_method }),
      };
    }
    const client = before?.redirect_uri === redirectUrl ? before : await register();

    const { authorizationUrl, codeVerifier } = await library.startAuthorization(authorizationServerUrl, {
      ...(metadata && { metadata }),
      clientInformation: client,
      redirectUrl,
      state,
      ...(scope !== undefined && { scope }),
      resource,
    });
    // `https://accounts.example@evil.example/` reads as an address of accounts.example.
    if (authorizationUrl.username !== '' || authorizationUrl.password !== '') {
      throw new Error('the address of the sign-in page has a user name in it');
    }
    if (!isAllowed(authorizationUrl, server)) {
      throw new Error(`a sign-in does not go to ${authorizationUrl.protocol}//${authorizationUrl.host}`);
    }

    exchange = async (code, iss) => {
      const tokens = await library.exchangeAuthorization(authorizationServerUrl, {
        ...(metadata && { metadata }),
        clientInformation: client,
        authorizationCode: code,
        ...(iss !== undefined && { iss }),
        codeVerifier,
        redirectUri: redirectUrl,
        resource,
        fetchFn: fetch,
      });
      const { access_token, refresh_token, expires_in } = tokens;
      // A server may omit `scope` from its reply if it grants the requested one.
      const granted = tokens.scope ?? scope;
      const methods = metadata?.token_endpoint_auth_methods_supported;
      const grant: NewGrant = {
        client,
        discovery: {
          issuer,
          authorization_server: authorizationServerUrl,
          token_endpoint: metadata?.token_endpoint ?? new URL('/token', authorizationServerUrl).href,
          ...(methods && { token_endpoint_auth_methods_supported: methods }),
          resource,
        },
        meta: granted === undefined ? {} : { granted },
        tokens: {
          access_token,
          ...(refresh_token !== undefined && { refresh_token }),
          ...(granted !== undefined && { scope: granted }),
          ...(expires_in !== undefined && { expires_in }),
        },
      };
      await deps.save(grant, ended.signal);
    };
    return { authorizationUrl: authorizationUrl.href, callbackUrl: redirectUrl, result, isAnswer, arrive, end };
  } catch (error) {
    end(CLOSED);
    throw error;
  }
}
