/**
 * Fuzz target: whatever headers a client sends, those that the proxy appends decide; headers of a peer that is not
 * listed have no effect.
 */
import { deepStrictEqual, match, ok } from 'node:assert/strict';
import { isIP } from 'node:net';
import * as fc from 'fast-check';
import { clientOf } from '#server/net/forwarded.ts';
import { parseTrustedProxies } from '#server/net/trusted-proxies.ts';
import { textsOf } from '#support/arbitraries.ts';

const proxies = parseTrustedProxies(['loopback', '10.0.0.0/8', 'fd00::/8']);
const LISTED = ['127.0.0.1', '127.255.0.9', '::1', '10.0.0.1', '10.255.255.255', 'fd00::1', '::ffff:10.0.0.1'];
const OTHERS = ['192.0.2.1', '11.0.0.0', '9.255.255.255', '128.0.0.1', '::2', 'fe00::1', '::ffff:192.0.2.9', '0.0.0.0'];
const PIECES = [
  ...LISTED,
  ...OTHERS,
  ',',
  ', ',
  ' ',
  '\t',
  ':',
  '%',
  '[',
  ']',
  '"',
  'unknown',
  '_hidden',
  '127.1',
  '0x7f.0.0.1',
];
const SCHEMES = ['http', 'https', 'ws', 'HTTPS', '', ',', 'http, https', 'javascript'];
const HOSTS = ['a.test', 'evil.test', 'a.test:1', '', ',', '@', '[::1]'];

const listed = fc.constantFrom(...LISTED);
const others = fc.constantFrom(...OTHERS);
const requests = fc.record({
  scheme: fc.constantFrom('http', 'https'),
  peer: listed,
  stranger: others,
  /** The headers that the client sends. */
  sent: fc.record({
    host: fc.constant('own.test'),
    'x-forwarded-for': textsOf(PIECES, 5),
    'x-forwarded-proto': textsOf(SCHEMES, 5),
    'x-forwarded-host': textsOf(HOSTS, 5),
    forwarded: textsOf(PIECES, 5),
    'x-real-ip': listed,
  }),
  /** A chain of listed proxies appends the address of the client, and their own. */
  client: others,
  hops: fc.array(listed, { maxLength: 2 }),
  separator: fc.constantFrom(',', ', ', ' , '),
});

const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '');

/** Fails when a header has an effect that no listed proxy has written. */
export const forwardedHeaders = fc.property(requests, ({ scheme, peer, stranger, sent, client, hops, separator }) => {
  const unlisted = clientOf({ peer: stranger, scheme, headers: sent }, proxies);
  deepStrictEqual(unlisted, { address: stranger, scheme, host: 'own.test' });

  // The headers may contain any address, but always an address and a scheme result.
  const claimed = clientOf({ peer, scheme, headers: sent }, proxies);
  ok(isIP(claimed.address ?? '') !== 0, `no address: ${claimed.address}`);
  match(claimed.scheme, /^https?$/);

  const appended = {
    ...sent,
    'x-forwarded-for': [sent['x-forwarded-for'], client, ...hops].join(separator),
    'x-forwarded-proto': `${sent['x-forwarded-proto']}, https`,
    'x-forwarded-host': `${sent['x-forwarded-host']},public.test`,
  };
  const forwarded = clientOf({ peer, scheme, headers: appended }, proxies);
  deepStrictEqual(forwarded, { address: plain(client), scheme: 'https', host: 'public.test' });
});
