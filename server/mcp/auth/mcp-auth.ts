/** Sign-in to remote MCP servers: the grants that authenticate connections, and the flows that obtain them. */
import type { AuthProvider } from '@modelcontextprotocol/client';
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Documents } from '#server/storage/documents.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import { startAuthorization, type AuthTarget } from './authorization.ts';
import { causeText } from './causes.ts';
import { challengeOf, type Challenge } from './challenge.ts';
import { createCredentialChanges } from './credential-changes.ts';
import { createCredentialReader, credentialId, resourceOf } from './credentials.ts';
import { createFlows, WAIT_MS, type CompleteOptions, type OpenFlow } from './flows.ts';
import { createGrants, type GrantChange, type GrantState } from './grants.ts';
import type { OAuthFetchDeps } from './oauth-fetch.ts';

/** A server by its name and its address, placeholders replaced. */
export type AuthServer = Pick<AuthTarget, 'name' | 'url'>;

export type BeginOutcome =
  | { status: 'already-authorized' }
  | ({ status: 'authorization-required' } & Pick<OpenFlow, 'flowId' | 'authorizationUrl'>);

export interface McpAuth {
  /** The provider for connections of a server: its stored grant, renewed in time. It never starts a sign-in. */
  authProviderFor(name: string, url: string): AuthProvider;
  /** Records scopes whose lack made the server refuse a request; the next sign-in requests them too. */
  scopeMissing(server: AuthServer, scope: string): Promise<void>;
  /** Reads the stored grant only, without a request. */
  grant(server: AuthServer): Promise<GrantState>;
  /** Throws `mcp.oauth_failed` with the reason why no sign-in can start. */
  begin(target: AuthTarget): Promise<BeginOutcome>;
  /** Waits until tokens are stored. Throws `validation.failed` (unknown flow) or `mcp.oauth_failed`. */
  complete(flowId: string, options: CompleteOptions): Promise<void>;
  cancel(flowId: string): void;
  /** `begin` and `complete` in one call: resolves when there is a grant; an abort of the signal cancels it. */
  authenticate(
    target: AuthTarget,
    options: {
      signal: AbortSignal;
      /** Called with the address that a person has to open. */
      onSignIn(signIn: Pick<OpenFlow, 'authorizationUrl' | 'expiresAt'>): void;
    },
  ): Promise<void>;
  /** Removes the stored credential and ends its sign-in. */
  reset(server: AuthServer): Promise<void>;
  /** Called for grants that servers can connect with now, and for removed ones. Returns an unsubscribe function. */
  onChanged(listener: (change: GrantChange) => void): () => void;
  /** Schedules the renewal of all stored grants. */
  start(): Promise<void>;
  close(): void;
}

export interface McpAuthDeps extends OAuthFetchDeps {
  home: string;
  documents: Documents;
  holder: LeaseHolder;
  /** The client name that authorization servers receive. */
  clientName(): string;
  clock: Clock;
  log: Logger;
}

export function createMcpAuth(deps: McpAuthDeps): McpAuth {
  const { home, documents, holder, fetch, network, clientName, clock, log } = deps;
  const store = createCredentialReader({ documents, log });
  const change = createCredentialChanges({ home, documents, holder });
  const flows = createFlows({ clock });
  /** The last challenge of each credential. */
  const challenges = new Map<string, Challenge>();
  const resources = new Map<string, string>();
  const grants = createGrants({ store, change, resourceOf: (id) => resources.get(id), fetch, network, clock, log });

  /** Returns the id of the server's credential and registers its resource. */
  function idOf({ name, url }: AuthServer): string {
    const id = credentialId(name, url);
    resources.set(id, resourceOf(url));
    return id;
  }

  async function open(target: AuthTarget): Promise<OpenFlow | undefined> {
    const { name } = target;
    try {
      const id = idOf(target);
      if (await grants.settle(id)) return undefined;
      return await flows.begin(id, name, () =>
        startAuthorization({
          id,
          target,
          challenge: challenges.get(id),
          store,
          save: (grant, signal) => grants.save(id, grant, signal),
          fetch,
          network,
          clientName: clientName(),
          now: clock.now,
        }),
      );
    } catch (error) {
      throw new ServiceError('mcp.oauth_failed', `failed to start OAuth flow for "${name}": ${causeText(error)}`);
    }
  }

  return {
    authProviderFor(name, url) {
      const id = idOf({ name, url });
      let used: string | undefined;
      return {
        async token() {
          used = (await grants.current(id))?.access_token;
          return used;
        },
        async onUnauthorized({ response }) {
          challenges.set(id, await challengeOf(response));
          if (await grants.replaceRefused(id, used)) return;
          const { UnauthorizedError } = await import('@modelcontextprotocol/client');
          throw new UnauthorizedError(`${name} requires OAuth`);
        },
      };
    },

    async scopeMissing(server, scope) {
      const id = idOf(server);
      await change(id, async (writer) => {
        const [tokens, meta] = await Promise.all([store.read(id, 'tokens'), store.read(id, 'meta')]);
        const granted = meta?.granted ?? tokens?.scope;
        await writer.write('meta', { ...(granted !== undefined && { granted }), missing: scope });
      });
    },

    grant: (server) => grants.state(idOf(server)),

    async begin(target) {
      const flow = await open(target);
      if (!flow) return { status: 'already-authorized' };
      const { flowId, authorizationUrl } = flow;
      return { status: 'authorization-required', flowId, authorizationUrl };
    },

    complete: flows.complete,
    cancel: flows.cancel,

    async authenticate(target, { signal, onSignIn }) {
      const flow = await open(target);
      if (!flow) return;
      if (signal.aborted) flows.cancel(flow.flowId);
      signal.throwIfAborted();
      onSignIn({ authorizationUrl: flow.authorizationUrl, expiresAt: clock.now() + WAIT_MS });
      // Cancelling this handle leaves the other flows of the credential running.
      const onAbort = () => flows.cancel(flow.flowId);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        await flows.complete(flow.flowId, {});
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },

    async reset(server) {
      const id = idOf(server);
      flows.end(id, 'the credentials were reset');
      challenges.delete(id);
      await grants.remove(id);
    },

    onChanged: grants.onChanged,
    start: grants.start,
    close() {
      flows.close();
      grants.close();
    },
  };
}
