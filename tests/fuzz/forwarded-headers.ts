/**
 * Fuzz target: whatever headers a client sends, those that the proxy appends decide; headers of a peer that is not
 * listed have no effect.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { isIP } from 'node:net';
import { clientOf } from '#server/net/forwarded.ts';
import { parseTrustedProxies } from '#server/net/trusted-proxies.ts';
import { integer, pick, type Random } from '#support/random.ts';

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

const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '');
const text = (random: Random, pieces: readonly string[]) =>
  Array.from({ length: integer(random, 6) }, () => pick(random, pieces)).join('');

/** One case. Throws when a header counts that no listed proxy has written. */
export function forwardedHeaders(random: Random): void {
  const scheme = pick(random, ['http', 'https'] as const);
  const sent = {
    host: 'own.test',
    'x-forwarded-for': text(random, PIECES),
    'x-forwarded-proto': text(random, SCHEMES),
    'x-forwarded-host': text(random, HOSTS),
    forwarded: text(random, PIECES),
    'x-real-ip': pick(random, LISTED),
  };
  const shown = JSON.stringify(sent);

  const stranger = pick(random, OTHERS);
  deepStrictEqual(
    clientOf({ peer: stranger, scheme, headers: sent }, proxies),
    { address: stranger, scheme, host: 'own.test' },
    shown,
  );

  // Any header gives an address, and a listed one only if no other was seen on the way.
  const peer = pick(random, LISTED);
  const claimed = clientOf({ peer, scheme, headers: sent }, proxies);
  if (claimed.address === undefined || isIP(claimed.address) === 0) throw new Error(`no address: ${shown}`);
  if (!/^https?$/.test(claimed.scheme)) throw new Error(`no scheme: ${shown}`);

  // What a chain of listed proxies has appended to it decides.
  const client = pick(random, OTHERS);
  const hops = Array.from({ length: integer(random, 3) }, () => pick(random, LISTED));
  const forwarded = clientOf(
    {
      peer,
      scheme,
      headers: {
        ...sent,
        'x-forwarded-for': [sent['x-forwarded-for'], client, ...hops].join(pick(random, [',', ', ', ' , '])),
        'x-forwarded-proto': `${sent['x-forwarded-proto']}, https`,
        'x-forwarded-host': `${sent['x-forwarded-host']},public.test`,
      },
    },
    proxies,
  );
  deepStrictEqual(forwarded, { address: plain(client), scheme: 'https', host: 'public.test' }, shown);
}
