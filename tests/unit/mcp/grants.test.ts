/** Stored grants and their renewal, against a real authorization server. */
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { createLogger } from '#server/logging/log.ts';
import { canonicalUrl, credentialId, resourceOf } from '#server/mcp/auth/credentials.ts';
import { createMcpAuth } from '#server/mcp/auth/mcp-auth.ts';
import type { GrantChange } from '#server/mcp/auth/grants.ts';
import type { Fetch } from '#server/net/http-client.ts';
import { systemNetwork } from '#server/net/network.ts';
import { createDocuments } from '#server/storage/documents.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import { leaseHolder, suspendableHolder } from '#support/lease-holder.ts';
import { manualClock } from '#support/manual-clock.ts';
import { signIn, startOAuthMcpServer } from '#support/oauth-mcp-server.ts';
import { eventually } from '#support/patience.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const MINUTE = 60_000;

interface Opening {
  atWrite?: () => Promise<void>;
  atRemove?: () => Promise<void>;
  /** Called before each request of the token endpoint. */
  atToken?: () => Promise<void>;
  holder?: LeaseHolder;
}

async function open({ atWrite, atRemove, atToken, holder = leaseHolder() }: Opening = {}) {
  const home = await temporaryHome();
  const guarded = await startOAuthMcpServer();
  const clock = manualClock();
  const lines: string[] = [];
  /** Another server process of the home, with the same clock. */
  function server(serverHolder = holder) {
    const changes: GrantChange[] = [];
    const documents = createDocuments({ home });
    const auth = createMcpAuth({
      home,
      documents: {
        ...documents,
        async set(key, schema, value) {
          await atWrite?.();
          await documents.set(key, schema, value);
        },
        async remove(key) {
          await atRemove?.();
          await documents.remove(key);
        },
      },
      holder: serverHolder,
      fetch: (async (url, init) => {
        if (String(url).endsWith('/token')) await atToken?.();
        return fetch(url as URL, init as RequestInit);
      }) as Fetch,
      network: systemNetwork,
      clientName: () => 'service-code',
      clock,
      log: createLogger('trace', (line) => lines.push(line)),
    });
    auth.onChanged((change) => changes.push(change));
    onTestFinished(() => auth.close());
    return { auth, changes };
  }
  const { auth, changes } = server();
  const target = { name: 'guarded', url: guarded.url, transport: 'http' as const, headers: {} };
  const bearer = () => auth.authProviderFor(target.name, target.url).token();
  const refused = () => new Response('', { status: 401, headers: { 'www-authenticate': 'Bearer realm="x"' } });
  return {
    home,
    guarded,
    clock,
    lines,
    server,
    auth,
    changes,
    target,
    bearer,
    id: credentialId(target.name, target.url),
    latest: () => guarded.grants.at(-1)?.access,
    refuse: (provider: ReturnType<typeof auth.authProviderFor>) =>
      provider.onUnauthorized?.({ response: refused(), serverUrl: new URL(guarded.url), fetchFn: fetch }),
    async signIn() {
      const begun = await auth.begin(target);
      if (begun.status !== 'authorization-required') throw new Error('nobody is asked');
      const done = auth.complete(begun.flowId, {});
      await signIn(begun.authorizationUrl);
      await done;
      changes.length = 0;
    },
  };
}

it('a credential id ignores the fragment of an address, and depends on name and address', () => {
  expect(canonicalUrl('HTTP://Host.Example:80/a?b=c#d')).toBe('http://host.example/a?b=c');
  const id = credentialId('a b/ü', 'https://x.example/#f');
  expect(id).toMatch(/^a_b_-[0-9a-f]{24}$/);
  expect(credentialId('a b/ü', 'https://x.example/')).toBe(id);
  expect(credentialId('a_b_', 'https://x.example/')).not.toBe(id);
  expect(credentialId('a b/ü', 'https://y.example/')).not.toBe(id);
  expect(credentialId('../../x'.repeat(40), 'https://x.example/')).toMatch(/^[A-Za-z0-9_-]{1,65}$/);
});

it('the resource of a server that names none has no part that may be a secret', () => {
  expect(resourceOf('https://me:pw@Mcp.Example:443/a/mcp?key=secret#part')).toBe('https://mcp.example/a/mcp');
});

it('renews a token two minutes before its expiry, without a request for it', async () => {
  const { clock, guarded, signIn, changes, bearer, latest, id } = await open();
  await signIn();
  clock.advance(57 * MINUTE);
  expect(guarded.grants).toHaveLength(1);
  clock.advance(MINUTE);
  await eventually(() => expect(changes).toEqual([{ id, kind: 'saved' }]));
  expect(guarded.grants).toHaveLength(2);
  expect(guarded.tokenCalls[1]?.get('resource')).toBe(guarded.url);
  expect(await bearer()).toBe(latest());
  clock.advance(58 * MINUTE);
  await eventually(() => expect(guarded.grants).toHaveLength(3));
});

it('renews a short-lived token at half of its life', async () => {
  const { clock, guarded, signIn } = await open();
  guarded.behaviour.lifetime = 100;
  await signIn();
  clock.advance(49_000);
  expect(guarded.grants).toHaveLength(1);
  clock.advance(1000);
  await eventually(() => expect(guarded.grants).toHaveLength(2));
});

it('a token that expires immediately is not renewed without a pause', async () => {
  const { clock, guarded, signIn, changes } = await open();
  guarded.behaviour.lifetime = 0;
  await signIn();
  clock.advance(9000);
  expect(guarded.grants).toHaveLength(1);
  clock.advance(1000);
  await eventually(() => expect(changes).toHaveLength(1));
  expect(guarded.grants).toHaveLength(2);
  expect(Math.min(...clock.waits())).toBeGreaterThanOrEqual(10_000);
});

it('renews what an earlier server of the home has stored', async () => {
  const { clock, guarded, signIn, auth, server } = await open();
  await signIn();
  auth.close();
  clock.advance(2 * 60 * MINUTE);
  const { auth: later, changes } = server();
  await later.start();
  clock.advance(0);
  await eventually(() => expect(changes).toHaveLength(1));
  expect(guarded.grants).toHaveLength(2);
});

it('a grant that was stored without its resource is renewed for the address of the server, after it was named', async () => {
  const { clock, guarded, signIn, auth, server, home, id, target } = await open();
  await signIn();
  auth.close();
  const folder = join(home, 'credentials', 'mcp');
  const path = join(folder, `${id}-discovery.json`);
  const { resource, ...before } = z
    .looseObject({ resource: z.string() })
    .parse(JSON.parse(await readFile(path, 'utf8')));
  expect(resource).toBe(guarded.url);
  await writeFile(path, JSON.stringify(before));
  clock.advance(2 * 60 * MINUTE);
  const { auth: later } = server();
  await later.start();
  clock.advance(0);
  await eventually(async () => expect((await stat(join(folder, `${id}.lock.2`))).size).toBe(0));
  expect(guarded.grants).toHaveLength(1);
  expect(await later.authProviderFor(target.name, target.url).token()).toBe(guarded.grants[1]?.access);
  expect(guarded.tokenCalls.map((call) => [call.get('grant_type'), call.get('resource')])).toEqual([
    ['authorization_code', guarded.url],
    ['refresh_token', guarded.url],
  ]);
});

it('concurrent requests for a token share one renewal, also across two servers of a home', async () => {
  const { clock, guarded, signIn, auth, target, server, latest } = await open();
  await signIn();
  const other = server().auth;
  // The timers of this process are not tested here.
  guarded.behaviour.intercept = (request, response) => {
    if (request.url !== '/token' || guarded.requests.filter((line) => line === 'POST /token').length > 1) return false;
    response.writeHead(503).end();
    return true;
  };
  clock.advance(2 * 60 * MINUTE);
  const providers = Array.from({ length: 20 }, (_, at) =>
    (at % 2 === 0 ? auth : other).authProviderFor(target.name, target.url),
  );
  const tokens = await Promise.all(providers.map((provider) => provider.token()));
  guarded.behaviour.intercept = undefined;
  const again = await Promise.all(providers.map((provider) => provider.token()));
  expect(guarded.grants.filter(({ revoked }) => !revoked)).toHaveLength(1);
  expect(guarded.grants).toHaveLength(2);
  expect(new Set(again)).toEqual(new Set([latest()]));
  expect(tokens.length).toBe(20);
});

it('many refusals of one token cause one renewal', async () => {
  const { clock, guarded, signIn, auth, target, refuse, latest } = await open();
  await signIn();
  clock.advance(MINUTE);
  guarded.expireAccess();
  const provider = auth.authProviderFor(target.name, target.url);
  const before = await provider.token();
  await Promise.all(Array.from({ length: 10 }, async () => refuse(provider)));
  expect(guarded.grants).toHaveLength(2);
  expect(await provider.token()).toBe(latest());
  expect(await provider.token()).not.toBe(before);
  // A request that was sent before the renewal is refused late.
  await refuse(provider);
  expect(guarded.grants).toHaveLength(2);
});

it('a revoked grant is removed, but its granted scopes stay', async () => {
  const { clock, guarded, signIn, auth, target, changes, id, bearer, lines } = await open();
  guarded.behaviour.resourceOverrides = { scopes_supported: ['read'] };
  await signIn();
  guarded.revokeAll();
  clock.advance(58 * MINUTE);
  await eventually(() => expect(changes).toEqual([{ id, kind: 'removed' }]));
  expect(await bearer()).toBeUndefined();
  expect(await auth.grant(target)).toBe('none');
  guarded.behaviour.resourceOverrides = {};
  const begun = await auth.begin(target);
  expect(begun).toMatchObject({ status: 'authorization-required' });
  expect(begun.status === 'already-authorized' || new URL(begun.authorizationUrl).searchParams.get('scope')).toBe(
    'read',
  );
  expect(lines.join('')).not.toContain(guarded.grants[0]?.refresh);
});

it('a refused token that cannot be renewed requires a sign-in', async () => {
  const { clock, guarded, signIn, auth, target, refuse } = await open();
  await signIn();
  clock.advance(MINUTE);
  guarded.revokeAll();
  const provider = auth.authProviderFor(target.name, target.url);
  await provider.token();
  await expect(refuse(provider)).rejects.toMatchObject({ name: 'UnauthorizedError' });
  await expect(refuse(provider)).rejects.toMatchObject({ name: 'UnauthorizedError' });
});

it('a token is used until its expiry while the authorization server is away, and renewed later', async () => {
  const { clock, guarded, signIn, auth, target, bearer, changes } = await open();
  await signIn();
  const first = guarded.grants[0]?.access;
  guarded.behaviour.intercept = (request, response) => {
    if (request.url !== '/token') return false;
    response.writeHead(503).end('<html>away');
    return true;
  };
  clock.advance(58 * MINUTE + 1000);
  expect(await bearer()).toBe(first);
  await eventually(() => expect(clock.waits().some((ms) => ms <= MINUTE)).toBe(true));
  clock.advance(2 * MINUTE);
  expect(await bearer()).toBeUndefined();
  expect(await auth.grant(target)).toBe('valid');
  guarded.behaviour.intercept = undefined;
  expect(await bearer()).toBe(guarded.grants.at(-1)?.access);
  expect(guarded.grants).toHaveLength(2);
  expect(changes).not.toContainEqual(expect.objectContaining({ kind: 'removed' }));
});

it('a reset grant is not restored by a running renewal', async () => {
  const { clock, guarded, signIn, auth, target, bearer } = await open();
  await signIn();
  let asked = false;
  guarded.behaviour.intercept = (request) => {
    if (request.url === '/token') asked = true;
    return false;
  };
  clock.advance(59 * MINUTE);
  const renewing = bearer();
  await eventually(() => expect(asked).toBe(true));
  await auth.reset(target);
  await renewing;
  expect(await auth.grant(target)).toBe('none');
});

it('a reset grant is not restored by tokens that are being written', async () => {
  let signedIn = false;
  let goOn: (() => void) | undefined;
  const { clock, signIn, auth, target, bearer } = await open({
    async atWrite() {
      if (signedIn) await new Promise<void>((resolve) => (goOn = resolve));
    },
  });
  await signIn();
  signedIn = true;
  clock.advance(59 * MINUTE);
  const renewing = bearer();
  await eventually(() => expect(goOn).toBeDefined());
  const reset = auth.reset(target);
  goOn?.();
  await Promise.all([renewing, reset]);
  expect(await auth.grant(target)).toBe('none');
});

it('a renewal that is due during a reset sends no request', async () => {
  let goOn: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  let removing = false;
  const { clock, guarded, signIn, auth, target, bearer } = await open({
    async atRemove() {
      removing = true;
      await held;
    },
  });
  await signIn();
  const asked = guarded.grants.length;
  const reset = auth.reset(target);
  await eventually(() => expect(removing).toBe(true));
  clock.advance(59 * MINUTE);
  const renewing = bearer();
  goOn?.();
  await Promise.all([renewing, reset]);
  expect(await auth.grant(target)).toBe('none');
  expect(guarded.grants).toHaveLength(asked);
});

it('a grant that another server of the home resets is not restored by a running renewal', async () => {
  let answer: (() => void) | undefined;
  let atToken = async () => {};
  const { clock, signIn, auth, target, bearer, server } = await open({ atToken: () => atToken() });
  await signIn();
  atToken = () => new Promise<void>((resolve) => (answer = resolve));
  clock.advance(59 * MINUTE);
  const renewing = bearer();
  await eventually(() => expect(answer).toBeDefined());
  let meetsOwner: (() => void) | undefined;
  const waiting = new Promise<void>((resolve) => (meetsOwner = resolve));
  const other = server(
    leaseHolder('server_2', {
      async alive() {
        meetsOwner?.();
        return true;
      },
    }),
  );
  const reset = other.auth.reset(target);
  await Promise.race([reset, waiting]);
  answer?.();
  await Promise.all([renewing, reset]);
  expect(await auth.grant(target)).toBe('none');
  expect(await bearer()).toBeUndefined();
});

it('a reset does not wait for the answer to a renewal', async () => {
  const { clock, guarded, signIn, auth, target, bearer } = await open();
  await signIn();
  let asked = false;
  guarded.behaviour.intercept = ({ url }) => {
    asked ||= url === '/token';
    return url === '/token';
  };
  clock.advance(59 * MINUTE);
  const renewing = bearer();
  await eventually(() => expect(asked).toBe(true));
  await auth.reset(target);
  expect(await renewing).toBeUndefined();
  expect(await auth.grant(target)).toBe('none');
});

it('a sign-in that is cancelled while its grant waits for the lock stores nothing', async () => {
  let goOn: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  let removing = false;
  let waits = false;
  const { auth, target, home, id, server } = await open({
    async atRemove() {
      removing = true;
      await held;
    },
    holder: leaseHolder('server_1', {
      async alive() {
        waits = true;
        return true;
      },
    }),
  });
  const begun = await auth.begin(target);
  if (begun.status !== 'authorization-required') throw new Error('nobody is asked');
  const reset = server(leaseHolder('server_2')).auth.reset(target);
  await eventually(() => expect(removing).toBe(true));
  await signIn(begun.authorizationUrl);
  await eventually(() => expect(waits).toBe(true));
  auth.cancel(begun.flowId);
  goOn?.();
  await reset;
  const folder = join(home, 'credentials', 'mcp');
  // The lease that follows the one of the reset is released.
  await eventually(async () => expect((await stat(join(folder, `${id}.lock.2`))).size).toBe(0));
  expect((await readdir(folder)).filter((name) => name.endsWith('.json'))).toEqual([]);
});

it('a sign-in and a reset write nothing more after another server has acquired the lock', async () => {
  const { holder, suspend } = suspendableHolder();
  let atWrite = async () => {};
  let atRemove = async () => {};
  const { auth, target, home, id, signIn } = await open({
    holder,
    atWrite: () => atWrite(),
    atRemove: () => atRemove(),
  });
  const folder = join(home, 'credentials', 'mcp');
  const files = async () => (await readdir(folder)).filter((name) => name.endsWith('.json'));
  const rob = () => suspend(join(folder, `${id}.lock`));
  atWrite = rob;
  await expect(signIn()).rejects.toThrow('went to another server');
  // The pending write is renamed late; no other write follows it.
  expect(await files()).toEqual([`${id}-client.json`]);
  atWrite = async () => {};
  await signIn();
  atRemove = rob;
  await expect(auth.reset(target)).rejects.toThrow('went to another server');
  expect(await files()).not.toContain(`${id}-tokens.json`);
  expect(await files()).toContain(`${id}-client.json`);
});

it.each([
  ['brings tokens', false],
  ['finds the grant revoked', true],
])('a renewal that %s writes nothing when another server acquired the lock meanwhile', async (_what, revoked) => {
  const { holder, suspend } = suspendableHolder();
  let beforeAnswer = async () => {};
  const { home, clock, guarded, signIn, bearer, id, lines, changes } = await open({
    holder,
    atToken: () => beforeAnswer(),
  });
  guarded.behaviour.resourceOverrides = { scopes_supported: ['read'] };
  await signIn();
  const folder = join(home, 'credentials', 'mcp');
  /** A write replaces a file. */
  const files = async () =>
    Promise.all(
      (await readdir(folder))
        .filter((name) => name.endsWith('.json'))
        .map(async (name) => [name, (await stat(join(folder, name))).ino]),
    );
  const before = await files();
  if (revoked) guarded.revokeAll();
  beforeAnswer = () => suspend(join(folder, `${id}.lock`));
  clock.advance(59 * MINUTE);
  // Tokens that were obtained are used from memory.
  expect(await bearer()).toBe(guarded.grants[revoked ? 0 : 1]?.access);
  expect(await files()).toEqual(before);
  expect(changes).toEqual(revoked ? [] : [{ id, kind: 'saved' }]);
  expect(lines.join('')).toContain('went to another server');
});

it('renewed tokens that cannot be written are used from memory, and written at a later use', async () => {
  let atWrite = async () => {};
  const { home, clock, guarded, signIn, bearer, id, latest } = await open({ atWrite: () => atWrite() });
  await signIn();
  const stored = () => readFile(join(home, 'credentials', 'mcp', `${id}-tokens.json`), 'utf8');
  const before = await stored();
  atWrite = async () => {
    throw new Error('ENOSPC: no space left on device');
  };
  clock.advance(59 * MINUTE);
  const renewed = await bearer();
  expect(renewed).not.toBe(guarded.grants[0]?.access);
  expect(await bearer()).toBe(renewed);
  expect(await stored()).toBe(before);
  atWrite = async () => {};
  await eventually(async () => {
    expect(await bearer()).toBe(renewed);
    expect(await stored()).toContain(renewed);
  });
  expect(latest()).toBe(renewed);
});

it('returns the state of a grant without a request', async () => {
  const { clock, guarded, signIn, auth, target } = await open();
  expect(await auth.grant(target)).toBe('none');
  await signIn();
  const asked = guarded.requests.length;
  clock.advance(30 * MINUTE);
  expect(await auth.grant(target)).toBe('valid');
  expect(await auth.grant({ ...target, url: `${target.url}#x` })).toBe('valid');
  expect(await auth.grant({ ...target, url: `${target.url}?x` })).toBe('none');
  expect(await auth.grant({ ...target, name: 'other' })).toBe('none');
  expect(guarded.requests).toHaveLength(asked);
});

it('an unreadable document is treated as missing, and is not quoted', async () => {
  const { home, auth, target, bearer, lines, id } = await open();
  const folder = join(home, 'credentials', 'mcp');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${id}-tokens.json`), '{"access_token": "secret" ');
  expect(await bearer()).toBeUndefined();
  expect(await auth.grant(target)).toBe('none');
  await auth.start();
  expect(lines.join('')).toContain('cannot be read');
  expect(lines.join('')).not.toContain('secret');
});

it('a sign-in for a call publishes the address and ends with the call', async () => {
  const { auth, target, guarded } = await open();
  const calls: string[] = [];
  const gone = new AbortController();
  const first = auth.authenticate(target, {
    signal: gone.signal,
    onSignIn: ({ authorizationUrl, expiresAt }) => {
      expect(expiresAt).toBeGreaterThan(0);
      calls.push(authorizationUrl);
    },
  });
  await eventually(() => expect(calls).toHaveLength(1));
  gone.abort();
  await expect(first).rejects.toMatchObject({ name: 'mcp.oauth_failed' });
  const callback = new URL(calls[0] ?? '').searchParams.get('redirect_uri') ?? '';
  await expect(fetch(callback)).rejects.toThrow('fetch failed');
  await auth.authenticate(target, {
    signal: new AbortController().signal,
    onSignIn: ({ authorizationUrl }) => void signIn(authorizationUrl),
  });
  expect(guarded.grants).toHaveLength(1);
  await auth.authenticate(target, { signal: new AbortController().signal, onSignIn: () => expect.unreachable() });
});

it('a flow that no client completes is dropped after a quarter of an hour', async () => {
  const { clock, auth, target } = await open();
  const begun = await auth.begin(target);
  if (begun.status !== 'authorization-required') throw new Error('nobody is asked');
  clock.advance(15 * MINUTE - 1);
  const other = await auth.begin(target);
  expect(other).toMatchObject({ authorizationUrl: begun.authorizationUrl });
  clock.advance(1);
  await expect(auth.complete(begun.flowId, {})).rejects.toThrow('Unknown MCP OAuth flow');
  clock.advance(15 * MINUTE);
  const callback = new URL(begun.authorizationUrl).searchParams.get('redirect_uri') ?? '';
  await expect(fetch(callback)).rejects.toThrow('fetch failed');
});

it('of two waits the time-out of the first applies; when it is cancelled, that of the other', async () => {
  const { clock, auth, target } = await open();
  const flow = async () => {
    const begun = await auth.begin(target);
    if (begun.status !== 'authorization-required') throw new Error('nobody is asked');
    return begun.flowId;
  };
  const [a, b] = [await flow(), await flow()];
  const first = auth.complete(a, { timeoutMs: 10 * MINUTE });
  const second = auth.complete(b, { timeoutMs: MINUTE });
  const failures = Promise.allSettled([first, second]);
  clock.advance(5 * MINUTE);
  expect(await Promise.race([failures, Promise.resolve('waiting')])).toBe('waiting');
  auth.cancel(a);
  await expect(first).rejects.toThrow('the sign-in was cancelled');
  clock.advance(0);
  await expect(second).rejects.toThrow('OAuth callback timed out');
});
