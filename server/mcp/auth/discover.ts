/** Discovery of a server's authorization server: RFC 9728, then RFC 8414 or OpenID. */
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';
import type { Challenge } from './challenge.ts';
import type { Fetch } from '#server/net/http-client.ts';
import { resourceOf } from './credentials.ts';
import { isAllowed } from './oauth-fetch.ts';

export interface Discovered {
  issuer: string;
  authorizationServerUrl: string;
  /** Undefined if the server publishes none; the standard paths are used then. */
  metadata: AuthorizationServerMetadata | undefined;
  /** The resource of the tokens (RFC 8707): as the server spells it, else its address as `resourceOf` returns it. */
  resource: string;
  scopesSupported: string[] | undefined;
}

/** Throws with the reason. Metadata of a hostile server never leads to a request to an address that is not allowed. */
export async function discover(server: URL, { resourceMetadataUrl }: Challenge, fetch: Fetch): Promise<Discovered> {
  const { checkResourceAllowed, discoverOAuthServerInfo, resourceUrlFromServerUrl } =
    await import('@modelcontextprotocol/client');
  const found = await discoverOAuthServerInfo(server, {
    ...(resourceMetadataUrl && isAllowed(resourceMetadataUrl, server) ? { resourceMetadataUrl } : {}),
    fetchFn: fetch,
  });
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found;
  const requestedResource = resourceUrlFromServerUrl(server);
  const configuredResource = resourceMetadata?.resource;
  if (configuredResource !== undefined && !checkResourceAllowed({ requestedResource, configuredResource })) {
    throw new Error('the server describes the sign-in of another resource');
  }
  // Without PKCE an intercepted code is as good as the tokens, and servers may ignore methods that they do not
  // announce.
  if (metadata && metadata.code_challenge_methods_supported?.includes('S256') !== true) {
    throw new Error('the authorization server does not announce the code challenge method S256 (PKCE)');
  }
  return {
    issuer: metadata?.issuer ?? authorizationServerUrl,
    authorizationServerUrl,
    metadata,
    resource: configuredResource ?? resourceOf(server.href),
    scopesSupported: resourceMetadata?.scopes_supported,
  };
}
