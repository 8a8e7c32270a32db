/**
 * Fuzz target: an origin is allowed exactly when it is listed, or the host that a browser would derive from it is the
 * one that the request is addressed to, or both are this machine; without credentials only the identical origin is.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import * as fc from 'fast-check';
import { isOwnOrigin, originAllowed } from '#server/auth/origins.ts';
import { damagedHosts, isWellFormed, wellFormedHosts, type Host } from './hosts.ts';

const LISTED = new Set(['https://app.test', 'null', 'vscode-webview://x']);
const SCHEMES = ['http', 'https', 'ws', 'vscode-webview', 'chrome-extension'];
const NAMELESS = ['', 'file://', 'data:,x', 'about:blank', 'http://', 'localhost', '//localhost', 'http:'];

const isLoopback = (name: string) =>
  name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127\.\d+\.\d+\.\d+$/.test(name);

interface Origin {
  origin: string;
  scheme: string;
  host: Host | undefined;
}

/** Origins in any spelling; a foreign name in the user part has no effect. */
const spelledOrigins = fc
  .record({
    scheme: fc.constantFrom(...SCHEMES),
    user: fc.option(fc.constantFrom('localhost@', '127.0.0.1@', 'a.test@'), { nil: '', freq: 5 }),
    host: wellFormedHosts,
  })
  .map(({ scheme, user, host }): Origin => ({ origin: `${scheme}://${user}${host.text}`, scheme, host }));
const otherOrigins = fc
  .oneof(fc.constantFrom(...NAMELESS), fc.constantFrom(...LISTED))
  .map((origin): Origin => ({ origin, scheme: '', host: undefined }));

const requests = fc
  .record({
    sender: fc.oneof({ weight: 8, arbitrary: spelledOrigins }, { weight: 2, arbitrary: otherOrigins }),
    server: fc.record({ scheme: fc.constantFrom('http', 'https'), host: wellFormedHosts }),
    isOwn: fc.boolean(),
    damaged: damagedHosts,
  })
  .map(({ sender, server, isOwn, damaged }) => {
    const host = (isOwn ? sender.host : undefined) ?? server.host;
    return { sender, server: { ...server, host }, damaged };
  });

/** The host name as browsers normalize it: addresses such as `0x7f.1` too, for the schemes of the web. */
function seenName(scheme: string, { text }: Host): string | undefined {
  const url = `${scheme}://${text}`;
  return URL.canParse(url) ? new URL(url).hostname.replaceAll(/[[\]]/g, '').toLowerCase() : undefined;
}

/** Fails when a foreign origin is allowed, or an allowed one refused. */
export const origins = fc.property(requests, ({ sender: { origin, scheme, host }, server, damaged }) => {
  const target = server.host.text;
  const seen = host && seenName(scheme, host);
  const to = server.host.name;
  const same = seen !== undefined && (seen === to || (isLoopback(seen) && isLoopback(to)));
  const isListed = LISTED.has(origin);
  deepStrictEqual(originAllowed(origin, target, LISTED), isListed || same, `${origin} for ${target}`);
  deepStrictEqual(originAllowed(origin, undefined, LISTED), isListed, `${origin} without a host`);

  const port = server.scheme === 'http' ? '80' : '443';
  const isSamePort = (host?.port || port) === (server.host.port || port);
  const isOwn = scheme === server.scheme && seen !== undefined && seen === seenName(scheme, server.host) && isSamePort;
  deepStrictEqual(
    isOwnOrigin(origin, { scheme: server.scheme, host: target }, LISTED),
    isListed || isOwn,
    `${origin} as ${server.scheme}://${target}`,
  );

  // A damaged host is never the server's, even if a browser would derive a host from it.
  if (!isWellFormed(damaged) && URL.canParse(`http://${damaged}`)) {
    const read = new URL(`http://${damaged}`).origin;
    ok(!isOwnOrigin(read, { scheme: 'http', host: damaged }, LISTED), `${read} as ${damaged}`);
  }
  ok(!originAllowed('http://evil.example', damaged, LISTED), `any origin for ${damaged}`);
});
