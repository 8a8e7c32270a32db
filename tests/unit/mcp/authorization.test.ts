/** The start of a sign-in to a server whose name another host may own: the hosts that its requests reach. */
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { createLogger } from '#server/logging/log.ts';
import { createCredentialReader } from '#server/mcp/auth/credentials.ts';
import { startAuthorization, type Authorization } from '#server/mcp/auth/authorization.ts';
import type { Fetch } from '#server/net/http-client.ts';
import { systemNetwork } from '#server/net/network.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { startOAuthMcpServer, type OAuthMcpServer } from '#support/oauth-mcp-server.ts';
import { temporaryHome } from '#support/temporary-home.ts';

/** Simulates DNS rebinding: a listener of this machine, and a `fetch` that resolves every name to it. */
async function startVictim() {
  const paths: string[] = [];
  const host = createServer((request, response) => {
    paths.push(`${request.method} ${request.url}`);
    response.writeHead(401).end('{}');
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void host.close());
  const { port } = z.object({ port: z.number() }).parse(host.address());
  const unpinned: Fetch = (url, init) => {
    const rebound = new URL(url);
    rebound.host = `127.0.0.1:${port}`;
    return fetch(rebound, init);
  };
  return { paths, unpinned };
}

/** Makes the server describe itself by the name; returns its address by that name. */
function nameServer({ url, behaviour }: OAuthMcpServer): string {
  const named = new URL(url);
  named.hostname = 'mcp.example';
  const { origin } = named;
  behaviour.resourceOverrides = { resource: named.href, authorization_servers: [origin] };
  behaviour.metadataOverrides = {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  };
  return named.href;
}

interface Starting {
  url: string;
  fetch: Fetch;
  network: Parameters<typeof startAuthorization>[0]['network'];
  transport?: 'http' | 'sse';
}

async function start({ url, fetch, network, transport = 'http' }: Starting): Promise<Authorization> {
  const documents = createDocuments({ home: await temporaryHome() });
  const authorization = await startAuthorization({
    id: 'x',
    target: { name: 'x', url, transport, headers: { 'x-key': 'configured' } },
    challenge: undefined,
    store: createCredentialReader({ documents, log: createLogger('trace', () => undefined) }),
    save: async () => undefined,
    fetch,
    network,
    clientName: 'service-code',
    now: () => 0,
  });
  onTestFinished(() => authorization.end('the test is over'));
  return authorization;
}

it.each(['http', 'sse'] as const)(
  'all requests of a sign-in over %s go to the addresses that the name resolved to first',
  async (transport) => {
    const guarded = await startOAuthMcpServer();
    const victim = await startVictim();
    let asked = 0;
    const network = { resolve: async () => [`127.0.0.${(asked += 1)}`], localScope: async () => undefined };
    const { authorizationUrl } = await start({ url: nameServer(guarded), fetch: victim.unpinned, network, transport });
    expect(new URL(authorizationUrl).hostname).toBe('mcp.example');
    expect(guarded.requests[0]).toBe(transport === 'http' ? 'POST /mcp' : 'GET /mcp');
    expect(guarded.requests).toContain('POST /register');
    expect([asked, victim.paths]).toEqual([1, []]);
  },
);

it('no request of a sign-in reaches this machine by a name that resolves to it', async () => {
  const guarded = await startOAuthMcpServer();
  const victim = await startVictim();
  const network = { ...systemNetwork, resolve: async () => ['127.0.0.1'] };
  await expect(start({ url: nameServer(guarded), fetch: victim.unpinned, network })).rejects.toThrow(
    'the name mcp.example leads to this machine, where a sign-in does not go',
  );
  expect([guarded.requests, victim.paths]).toEqual([[], []]);
});
