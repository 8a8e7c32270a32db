/**
 * An MCP server over HTTP that requires a sign-in, and its authorization server, on one port. A test may change their
 * behaviour while they run.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import * as z from 'zod';

interface Grant {
  access: string;
  refresh: string;
  scope: string;
  clientId: string;
  revoked: boolean;
}

interface Code {
  challenge: string;
  redirectUri: string;
  clientId: string;
  scope: string;
  resource: string | null;
}

export interface OAuthMcpServer {
  origin: string;
  /** URL of the MCP endpoint. */
  url: string;
  behaviour: {
    /** Requires no sign-in. */
    open: boolean;
    /** `expires_in` of tokens, in seconds; undefined omits it. */
    lifetime: number | undefined;
    /** Requests with a token without this scope are refused with 403. */
    neededScope: string | undefined;
    /** Which metadata the authorization server serves: RFC 8414 or OpenID. */
    metadata: 'oauth' | 'openid' | 'none';
    /** Location of the protected resource metadata: the well-known path, or a path that only refusals name. */
    resourceMetadata: 'well-known' | 'challenge' | 'none';
    /** Members that override those of the served documents. */
    metadataOverrides: Record<string, unknown>;
    resourceOverrides: Record<string, unknown>;
    /** Members that the reply to a registration has in addition. */
    registrationReply: Record<string, unknown>;
    /** Error that the authorization server redirects with, instead of a code. */
    denial: { error: string; error_description?: string } | undefined;
    /** Called first for each request; true if it has answered the request. */
    intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  };
  /** `METHOD /path` of all requests. */
  requests: string[];
  /** Parameters of each call of the token endpoint that returned a grant. */
  tokenCalls: URLSearchParams[];
  registrations: Record<string, unknown>[];
  grants: Grant[];
  /** Revokes the existing access tokens. */
  expireAccess(): void;
  revokeAll(): void;
  close(): Promise<void>;
}

const rpcSchema = z.object({ id: z.union([z.number(), z.string()]).optional(), method: z.string() });

function send(response: ServerResponse, status: number, body?: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
}

/** Listens on 127.0.0.1 until the test completes. */
export async function startOAuthMcpServer(): Promise<OAuthMcpServer> {
  const clients = new Map<string, { redirectUris: string[] }>();
  const codes = new Map<string, Code>();
  const behaviour: OAuthMcpServer['behaviour'] = {
    open: false,
    lifetime: 3600,
    neededScope: undefined,
    metadata: 'oauth',
    resourceMetadata: 'well-known',
    metadataOverrides: {},
    resourceOverrides: {},
    registrationReply: {},
    denial: undefined,
    intercept: undefined,
  };
  const state = {
    requests: [] as string[],
    tokenCalls: [] as URLSearchParams[],
    registrations: [] as Record<string, unknown>[],
    grants: [] as Grant[],
  };
  let expired = new Set<string>();

  function grant(clientId: string, scope: string): Record<string, unknown> {
    const made = {
      access: `access-${randomUUID()}`,
      refresh: `refresh-${randomUUID()}`,
      scope,
      clientId,
      revoked: false,
    };
    state.grants.push(made);
    return {
      access_token: made.access,
      refresh_token: made.refresh,
      token_type: 'Bearer',
      ...(scope === '' ? {} : { scope }),
      ...(behaviour.lifetime === undefined ? {} : { expires_in: behaviour.lifetime }),
    };
  }

  function tokens(form: URLSearchParams, response: ServerResponse): void {
    const refuse = (error: string) => send(response, 400, { error, error_description: `it is ${error}` });
    if (!clients.has(form.get('client_id') ?? '')) return refuse('invalid_client');
    if (form.get('grant_type') === 'refresh_token') {
      const before = state.grants.find(({ refresh }) => refresh === form.get('refresh_token'));
      if (!before || before.revoked) {
        // Reuse of a refresh token means that it was stolen, so all grants are revoked.
        for (const one of state.grants) one.revoked = true;
        return refuse('invalid_grant');
      }
      before.revoked = true;
      state.tokenCalls.push(form);
      return send(response, 200, grant(before.clientId, before.scope));
    }
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!code || code.challenge !== challenge || code.redirectUri !== form.get('redirect_uri'))
      return refuse('invalid_grant');
    if (code.clientId !== form.get('client_id')) return refuse('invalid_grant');
    state.tokenCalls.push(form);
    return send(response, 200, grant(code.clientId, code.scope));
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const client = clients.get(query.get('client_id') ?? '');
    const redirectUri = query.get('redirect_uri') ?? '';
    if (!client?.redirectUris.includes(redirectUri) || query.get('code_challenge_method') !== 'S256') {
      return send(response, 400, { error: 'invalid_request' });
    }
    const target = new URL(redirectUri);
    target.searchParams.set('state', query.get('state') ?? '');
    if (behaviour.denial)
      for (const [key, value] of Object.entries(behaviour.denial)) target.searchParams.set(key, value);
    else {
      const code = `code-${randomUUID()}`;
      codes.set(code, {
        challenge: query.get('code_challenge') ?? '',
        redirectUri,
        clientId: query.get('client_id') ?? '',
        scope: query.get('scope') ?? '',
        resource: query.get('resource'),
      });
      target.searchParams.set('code', code);
    }
    response.writeHead(302, { location: target.href }).end();
  }

  function mcp(request: IncomingMessage, body: string, response: ServerResponse): void {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const held = state.grants.find(({ access, revoked }) => access === token && !revoked);
    if (!behaviour.open && (!held || expired.has(held.access))) {
      const hint = behaviour.resourceMetadata === 'challenge' ? `, resource_metadata="${origin}/described"` : '';
      return send(response, 401, { error: 'no' }, { 'www-authenticate': `Bearer realm="mcp"${hint}` });
    }
    const { neededScope } = behaviour;
    if (neededScope !== undefined && !held?.scope.split(' ').includes(neededScope)) {
      const challenge = `Bearer error="insufficient_scope", scope="${neededScope}"`;
      return send(response, 403, { error: 'no' }, { 'www-authenticate': challenge });
    }
    if (request.method !== 'POST') return send(response, 405);
    const { id, method } = rpcSchema.parse(JSON.parse(body));
    if (id === undefined) return send(response, 202);
    const result =
      method === 'initialize'
        ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1' } }
        : method === 'tools/list'
          ? {
              tools: [
                { name: 'look', description: 'Looks.', inputSchema: { type: 'object' } },
                { name: 'bare', inputSchema: { type: 'object' } },
              ],
            }
          : { content: [{ type: 'text', text: `answered ${method}` }] };
    return send(response, 200, { jsonrpc: '2.0', id, result });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', origin);
    state.requests.push(`${request.method} ${url.pathname}`);
    if (behaviour.intercept?.(request, response)) return;
    const body = await text(request);
    const metadata = {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      jwks_uri: `${origin}/jwks`,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      ...behaviour.metadataOverrides,
    };
    const resource = { resource: `${origin}/mcp`, authorization_servers: [origin], ...behaviour.resourceOverrides };
    switch (url.pathname) {
      case '/mcp':
        return mcp(request, body, response);
      case '/.well-known/oauth-protected-resource/mcp':
        return behaviour.resourceMetadata === 'well-known' ? send(response, 200, resource) : send(response, 404);
      case '/described':
        return behaviour.resourceMetadata === 'challenge' ? send(response, 200, resource) : send(response, 404);
      case '/.well-known/oauth-authorization-server':
        return behaviour.metadata === 'oauth' ? send(response, 200, metadata) : send(response, 404);
      case '/.well-known/openid-configuration':
        return behaviour.metadata === 'openid' ? send(response, 200, metadata) : send(response, 404);
      case '/register': {
        const registration = z.looseObject({ redirect_uris: z.array(z.string()) }).parse(JSON.parse(body));
        const client_id = `client-${randomUUID()}`;
        clients.set(client_id, { redirectUris: registration.redirect_uris });
        state.registrations.push(registration);
        return send(response, 201, { ...registration, ...behaviour.registrationReply, client_id });
      }
      case '/authorize':
        return authorize(url.searchParams, response);
      case '/token':
        return tokens(new URLSearchParams(body), response);
      default:
        return send(response, 404);
    }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => send(response, 500, { error: String(error) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  onTestFinished(close);
  return {
    origin,
    url: `${origin}/mcp`,
    behaviour,
    ...state,
    expireAccess() {
      expired = new Set(state.grants.map(({ access }) => access));
    },
    revokeAll() {
      for (const one of state.grants) one.revoked = true;
    },
    close,
  };
}

/** Follows the authorization URL to the callback, as a browser does. `url` is the address of the callback. */
export async function signIn(authorizationUrl: string): Promise<{ status: number; page: string; url: string }> {
  const response = await fetch(authorizationUrl);
  return { status: response.status, page: await response.text(), url: response.url };
}
