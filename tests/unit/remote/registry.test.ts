import { expect, it } from 'vitest';
import { CloudRequestError, type CloudClient } from '#server/remote/cloud-client.ts';
import { createRegistry } from '#server/remote/registry.ts';

function registryOf(body: unknown) {
  const requests: string[] = [];
  const cloud: Pick<CloudClient, 'request' | 'finish'> = {
    async request(method, path) {
      requests.push(`${method} ${path}`);
      return { status: 200, body: typeof body === 'string' ? body : JSON.stringify(body), retryAfterMs: undefined };
    },
    finish: () => Promise.resolve(),
  };
  return { registry: createRegistry(cloud as CloudClient), requests };
}

const registration = {
  device_id: 'd',
  alias: 'a',
  platform: 'p',
  client_version: 'v',
  local_base_url: 'l',
  instance_id: 'i',
};
const { signal } = new AbortController();
const registered = { url: 'https://r.test/devices/d/?rc=1', tunnel_url: 'wss://r.test/t', tunnel_ticket: 't' };

it.each(['.', '..'])('sends no request for the id %s, which an URL would resolve', async (id) => {
  const { registry, requests } = registryOf({});
  await expect(registry.rename(id, 'x')).rejects.toThrow(CloudRequestError);
  await registry.remove(id);
  expect(requests).toEqual([]);
});

it('encodes ids', async () => {
  const { registry, requests } = registryOf({});
  await registry.deactivate('a/../b?c');
  expect(requests).toEqual(['POST /devices/a%2F..%2Fb%3Fc/deactivate']);
});

it.each([
  ['a page', '<html>'],
  ['an address with a token of its own', { ...registered, url: 'https://r.test/#token=x' }],
  ['an address with a password', { ...registered, url: 'https://u:p@r.test/' }],
  ['an address that runs code', { ...registered, url: 'javascript:alert(1)' }],
  ['a tunnel that is no WebSocket', { ...registered, tunnel_url: 'https://r.test/t' }],
  ['no ticket', { ...registered, tunnel_ticket: '' }],
  ['a ticket that no header can carry', { ...registered, tunnel_ticket: 'a\r\nb' }],
])('refuses a registration with %s', async (_name, body) => {
  await expect(registryOf(body).registry.register(registration, signal)).rejects.toThrow('invalid reply');
});

it('reads a registration', async () => {
  expect(await registryOf(registered).registry.register(registration, signal)).toEqual({
    url: registered.url,
    tunnelUrl: registered.tunnel_url,
    ticket: 't',
  });
});
