import { describe, expect, it } from 'vitest';
import { clientOf } from '#server/net/forwarded.ts';
import { parseTrustedProxies } from '#server/net/trusted-proxies.ts';

const proxies = parseTrustedProxies(['loopback', '10.0.0.0/8']);
const PEER = '127.0.0.1';
const read = (headers: Record<string, string>, peer: string | undefined = PEER) =>
  clientOf({ peer, scheme: 'http', headers: { host: 'own.test:1', ...headers } }, proxies);
const spoofed = { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'x.test' };

describe('the client of a request', () => {
  it.each([undefined, '192.0.2.1', '::2', '11.0.0.1'])('is the peer if that is not listed: %s', (peer) => {
    expect(clientOf({ peer, scheme: 'http', headers: { host: 'h', ...spoofed } }, proxies)).toEqual({
      address: peer,
      scheme: 'http',
      host: 'h',
    });
  });

  it('is the peer without the option', () => {
    expect(clientOf({ peer: PEER, scheme: 'https', headers: { host: 'h', ...spoofed } }, undefined)).toEqual({
      address: PEER,
      scheme: 'https',
      host: 'h',
    });
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['127.0.0.1, 192.0.2.1', '192.0.2.1'],
    ['9.9.9.9, 192.0.2.1, 10.0.0.3', '192.0.2.1'],
    ['10.0.0.1, 10.0.0.2', '10.0.0.1'],
    ['x, 192.0.2.1', '192.0.2.1'],
    ['192.0.2.1, x', PEER],
    ['192.0.2.1:80', PEER],
    ['192.0.2.1, ', PEER],
    ['x, 10.0.0.1', PEER],
    ['fe80::1%eth0', PEER],
    ['', PEER],
    ['2001:DB8::1', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['8.8.8.8, ::ffff:a00:1', '8.8.8.8'],
  ])('of X-Forwarded-For %j is %s', (header, address) => {
    expect(read({ 'x-forwarded-for': header }).address).toBe(address);
  });

  it.each(['::ffff:127.0.0.1', '::1', '10.9.9.9'])('is read of the headers of %s', (peer) => {
    expect(read({ 'x-forwarded-for': '192.0.2.1' }, peer).address).toBe('192.0.2.1');
  });

  it.each([
    ['https', 'https'],
    ['https, http', 'http'],
    ['http, https', 'https'],
    ['HTTPS', 'http'],
    ['wss', 'http'],
    ['', 'http'],
  ])('has by X-Forwarded-Proto %j the scheme %s', (header, scheme) => {
    expect(read({ 'x-forwarded-proto': header }).scheme).toBe(scheme);
  });

  it.each([
    ['a.test', 'a.test'],
    ['evil.test, a.test:8443', 'a.test:8443'],
    ['', 'own.test:1'],
  ])('has by X-Forwarded-Host %j the host %s', (header, host) => {
    expect(read({ 'x-forwarded-host': header }).host).toBe(host);
  });

  it('does not depend on other headers', () => {
    const others = {
      forwarded: 'for=1.2.3.4;proto=https;host=x.test',
      'x-real-ip': '1.2.3.4',
      'x-forwarded-port': '9',
      'x-forwarded-prefix': '/x',
    };
    expect(read(others)).toEqual({ address: PEER, scheme: 'http', host: 'own.test:1' });
  });
});
