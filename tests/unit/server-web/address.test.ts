/** Addresses of fetches for the model: a table of hostile URLs with their verdicts. */
import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { publicAddresses, webUrl } from '#server/web/address.ts';
import { WebFailure } from '#server/web/failure.ts';
import { isPublicAddress, localScope } from '#server/net/public-address.ts';
import type { Network } from '#server/net/network.ts';

type Verdict =
  /** It is fetched. */
  | 'public'
  /** Its host is, or resolves to, an address outside of the public internet. */
  | 'private'
  /** No name is resolved for it. */
  | 'no URL'
  | 'credentials'
  | 'unknown';

/** The addresses that names resolve to; the owner of a name chooses them freely. */
const names: Record<string, string[]> = {
  'example.com': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'xn--bcher-kva.example': ['93.184.215.14'],
  'evil.example': ['127.0.0.1'],
  'half.example': ['93.184.215.14', '10.0.0.8'],
  'half6.example': ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', '::1'],
  'mapped.example': ['::ffff:10.0.0.8'],
  'empty.example': [],
  'odd.example': ['not an address'],
  'scoped.example': ['fe80::1%eth0'],
  'metadata.google.internal': ['169.254.169.254'],
  'printer.local': ['192.168.1.40'],
  intranet: ['10.1.2.3'],
  'host.docker.internal': ['192.168.65.254'],
  '127.0.0.1.nip.example': ['127.0.0.1'],
  'ip6-localhost': ['::1'],
};

const network: Network = {
  async resolve(name) {
    const addresses = names[name];
    if (!addresses) throw new Error(`getaddrinfo ENOTFOUND ${name}`);
    return addresses;
  },
  isPublic: async (address) => isPublicAddress(address),
  localScope: async (address) => localScope(address),
};

async function verdictOf(text: string): Promise<Verdict> {
  try {
    await publicAddresses(webUrl(text), network, new AbortController().signal);
    return 'public';
  } catch (error) {
    if (!(error instanceof WebFailure)) throw error;
    if (/user name or password/.test(error.message)) return 'credentials';
    if (/public internet/.test(error.message)) return 'private';
    if (/not found|no address/.test(error.message)) return 'unknown';
    expect(error.message).toMatch(/valid URL|only http: and https:/);
    return 'no URL';
  }
}

const table: Record<Verdict, string[]> = {
  public: [
    'http://example.com/',
    'https://example.com:8443/a?b=c#d',
    'HTTPS://EXAMPLE.COM',
    'https://example.com./',
    'https://bücher.example/',
    'https://ｅｘａｍｐｌｅ.com/',
    'http://93.184.215.14/',
    'http://1.1.1.1/',
    'http://8.8.8.8:53/',
    'http://134744072/',
    'http://[2606:4700:4700::1111]/',
    'http://[2001:4860:4860::8888]:8080/',
    'http://172.15.255.255/',
    'http://172.32.0.1/',
    'http://100.63.255.255/',
    'http://100.128.0.1/',
    'http://169.253.255.255/',
    'http://192.167.255.255/',
    'http://11.0.0.1/',
    'http://223.255.255.255/',
    'https:example.com',
    'http:\\\\example.com\\a',
  ],
  private: [
    // This machine.
    'http://localhost/',
    'http://LOCALHOST:58627/',
    'http://localhost./',
    'http://localhost../',
    'http://foo.localhost/',
    'http://a.b.localhost./',
    'http://ip6-localhost/',
    'http://127.0.0.1/',
    'http://127.0.0.1./',
    'http://127.255.255.254/',
    'http://0.0.0.0/',
    'http://0.1.2.3/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]:80/',
    'http://[::]/',
    // Other spellings of this machine.
    'http://2130706433/',
    'http://017700000001/',
    'http://0x7f000001/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://0177.0.0x1/',
    'http://127.1/',
    'http://127.0.1/',
    'http://0/',
    'http://0x0/',
    'http://①②⑦.⓪.⓪.①/',
    'http://１２７.0.0.1/',
    'http://127。0。0。1/',
    'http://%31%32%37.0.0.1/',
    'http://loc%61lhost/',
    'http://ⓛocalhost/',
    'http:127.0.0.1',
    'http:/127.0.0.1/',
    'http:\\\\127.0.0.1\\',
    '  http://127.0.0.1/  ',
    'ht\ntp://127.0.0.1/',
    // Private and shared networks.
    'http://10.0.0.1/',
    'http://10.255.255.255/',
    'http://167772161/',
    'http://012.1/',
    'http://172.16.0.1/',
    'http://172.31.255.255/',
    'http://192.168.0.1/',
    'http://192.168.1/',
    'http://0xc0a80001/',
    'http://100.64.0.1/',
    'http://100.127.255.255/',
    'http://[fc00::1]/',
    'http://[fdff:ffff::1]/',
    // Link-local addresses and metadata services.
    'http://169.254.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
    'http://169.254.170.2/v2/credentials',
    'http://100.100.100.200/latest/meta-data/',
    'http://192.0.0.192/',
    'http://168.63.129.16/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://[febf::1]/',
    'http://[fec0::1]/',
    // Reserved, documentation, multicast and unassigned ranges.
    'http://192.0.2.1/',
    'http://198.51.100.7/',
    'http://203.0.113.9/',
    'http://198.18.0.1/',
    'http://198.19.255.255/',
    'http://192.88.99.1/',
    'http://192.31.196.1/',
    'http://224.0.0.1/',
    'http://239.255.255.250/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://4294967295/',
    'http://[ff02::1]/',
    'http://[2001:db8::1]/',
    'http://[3fff::1]/',
    'http://[100::1]/',
    'http://[5f00::1]/',
    'http://[4000::1]/',
    'http://[2001:2::1]/',
    'http://[2001:10::1]/',
    'http://[2001:20::1]/',
    // IPv4 within IPv6, for any embedded address.
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[::ffff:8.8.8.8]/',
    'http://[::127.0.0.1]/',
    'http://[::8.8.8.8]/',
    'http://[::ffff:0:127.0.0.1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://[64:ff9b::8.8.8.8]/',
    'http://[64:ff9b:1::10.0.0.1]/',
    'http://[2002:7f00:1::]/',
    'http://[2002:808:808::1]/',
    'http://[2001:0:7f00:1::]/',
    'http://[2001::ffff:1]/',
    'http://[2606:4700::5efe:10.0.0.1]/',
    'http://[2606:4700::200:5efe:7f00:1]/',
    // Names.
    'http://evil.example/',
    'http://half.example/',
    'http://half6.example/',
    'http://mapped.example/',
    'http://odd.example/',
    'http://scoped.example/',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://printer.local/',
    'http://intranet/',
    'http://host.docker.internal:2375/',
    'http://127.0.0.1.nip.example/',
  ],
  credentials: [
    'http://user:password@example.com/',
    'http://user@example.com/',
    'http://:password@example.com/',
    'http://example.com@127.0.0.1/',
    'http://127.0.0.1@example.com/',
    'http://example.com:80@127.0.0.1/',
  ],
  'no URL': [
    '',
    'example.com',
    '//example.com/',
    '/etc/passwd',
    'http://',
    'http://[::1',
    'http://127.0.0.1%2f@/',
    'http://[fe80::1%25eth0]/',
    'http://1.2.3.4.5/',
    'http://256.256.256.256/',
    'http://0x100000000/',
    'http://example.com:99999/',
    'http://exa mple.com/',
    'http://exam<ple.com/',
    'file:///etc/passwd',
    'ftp://example.com/',
    'ws://example.com/',
    'data:text/html,<p>x',
    'javascript:alert(1)',
    'blob:https://example.com/1',
    'view-source:https://example.com/',
    'gopher://127.0.0.1:6379/_FLUSHALL',
    `https://example.com/${'a'.repeat(8192)}`,
  ],
  unknown: ['http://nowhere.example/', 'http://empty.example/', 'http://./', 'http://1.1.1.1.example/'],
};

const rows = Object.entries(table).flatMap(([verdict, urls]) => urls.map((url) => ({ url, verdict })));

test('the table has more than 100 rows', () => {
  expect(rows.length).toBeGreaterThan(100);
});

test.each(rows)('$url: $verdict', async ({ url, verdict }) => {
  expect(await verdictOf(url)).toBe(verdict);
});

test('no address of this machine is public', () => {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  expect(own.length).toBeGreaterThan(0);
  for (const { address } of own) expect(isPublicAddress(address)).toBe(false);
});

const interfaceAddresses = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .map(({ address }) => address);
const scopes = new Map<string, string | undefined>([
  ...['169.254.1.1', '169.254.169.254', '::ffff:169.254.169.254', 'fe80::1'].map(
    (address) => [address, 'a link-local address'] as const,
  ),
  ...['168.63.129.16', '100.100.100.200', 'fd00:ec2::254'].map((address) => [address, 'a metadata service'] as const),
  ...['10.255.254.253', '172.31.254.253', '192.168.254.253', 'fd12:3456::1', '100.64.1.2', '1.1.1.1'].map(
    (address) => [address, undefined] as const,
  ),
  ...['127.0.0.1', '127.8.8.8', '::1', '0.0.0.0', '::', '::ffff:127.0.0.1', ...interfaceAddresses].map(
    (address) => [address, 'this machine'] as const,
  ),
]);
test.each([...scopes])('the local scope of %s: %s', (address, scope) => {
  expect(localScope(address)).toBe(scope);
});

test('one form of a URL: no fragment, no dot after the host, no default port', () => {
  expect(webUrl('HTTPS://Example.com.:443/a/../b?c#d').href).toBe('https://example.com/b?c');
  expect(webUrl('../c', new URL('http://example.com/a/b')).href).toBe('http://example.com/c');
});

test('an abort does not wait for a resolver', async () => {
  const controller = new AbortController();
  const waiting = publicAddresses(
    new URL('http://slow.example/'),
    { ...network, resolve: () => new Promise(() => undefined) },
    controller.signal,
  );
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});
