/**
 * Fuzz target: an origin is allowed exactly when it is listed, or the host that a browser would derive from it is the
 * one that the request is addressed to, or both are this machine; without credentials only the identical origin is.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { isOwnOrigin, originAllowed } from '#server/auth/origins.ts';
import { integer, pick, type Random } from '#support/random.ts';
import { damaged, isWellFormed, randomHost, type RandomHost } from './hosts.ts';

const LISTED = new Set(['https://app.test', 'null', 'vscode-webview://x']);
const SCHEMES = ['http', 'https', 'ws', 'vscode-webview', 'chrome-extension'];
const NAMELESS = ['', 'file://', 'data:,x', 'about:blank', 'http://', 'localhost', '//localhost', 'http:'];

const isLoopback = (name: string) =>
  name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127\.\d+\.\d+\.\d+$/.test(name);

/** An origin, and its host. */
function randomOrigin(random: Random): { origin: string; scheme: string; host: RandomHost | undefined } {
  const kind = random();
  if (kind < 0.1) return { origin: pick(random, NAMELESS), scheme: '', host: undefined };
  if (kind < 0.2) return { origin: pick(random, [...LISTED]), scheme: '', host: undefined };
  const scheme = pick(random, SCHEMES);
  const host = randomHost(random);
  // A foreign name in the user part has no effect.
  const user = random() < 0.2 ? `${pick(random, ['localhost', '127.0.0.1', 'a.test'])}@` : '';
  return { origin: `${scheme}://${user}${host.text}`, scheme, host };
}

/** The host name as browsers normalize it: addresses such as `0x7f.1` too, for the schemes of the web. */
function seenName(scheme: string, { text }: RandomHost): string | undefined {
  const url = `${scheme}://${text}`;
  return URL.canParse(url) ? new URL(url).hostname.replaceAll(/[[\]]/g, '').toLowerCase() : undefined;
}

/** One case. Throws when a foreign origin is allowed, or an allowed one refused. */
export function origins(random: Random): void {
  const { origin, scheme, host } = randomOrigin(random);
  const target = random() < 0.4 && host ? host : randomHost(random);
  const seen = host && seenName(scheme, host);
  const to = target.name;
  const same = seen !== undefined && (seen === to || (isLoopback(seen) && isLoopback(to)));
  const isListed = LISTED.has(origin);
  deepStrictEqual(originAllowed(origin, target.text, LISTED), isListed || same, `${origin} for ${target.text}`);
  deepStrictEqual(originAllowed(origin, undefined, LISTED), isListed, origin);

  const at = pick(random, ['http', 'https'] as const);
  const port = at === 'http' ? '80' : '443';
  const isSamePort = (host?.port || port) === (target.port || port);
  const own = scheme === at && seen !== undefined && seen === seenName(at, target) && isSamePort;
  deepStrictEqual(
    isOwnOrigin(origin, { scheme: at, host: target.text }, LISTED),
    isListed || own,
    `${origin} as ${at}://${target.text}`,
  );

  // A damaged host is never the server's, even if a browser would derive a host from it.
  const odd = damaged(random, target.text);
  if (!isWellFormed(odd) && URL.canParse(`http://${odd}`)) {
    const read = new URL(`http://${odd}`).origin;
    if (isOwnOrigin(read, { scheme: 'http', host: odd }, LISTED)) throw new Error(`${read} as ${JSON.stringify(odd)}`);
  }
  const foreign = `http://evil${integer(random, 9)}.example`;
  if (originAllowed(foreign, odd, LISTED)) throw new Error(`${foreign} for ${JSON.stringify(odd)}`);
}
