import { expect, test } from 'vitest';
import { referenceOf } from '#server/account/credential-slots.ts';
import { withManagedServices, type WebServices } from '#server/account/managed-services.ts';

const base = 'https://own/managed/v1';
const oauth = referenceOf('https://own', base);
const managed = { type: 'native' as const, baseUrl: `${base}/`, oauth };
const pinned = { SERVICE_CODE_CLOUD_URL: 'https://c' };
const at = (address: string) => ({
  search: { baseUrl: `${address}/search`, oauth },
  fetch: { baseUrl: `${address}/fetch`, oauth },
});
const keyed = { baseUrl: 'https://k/search', apiKey: 'k' };

test.each<[string, WebServices, NodeJS.ProcessEnv, WebServices]>([
  ['are added', {}, {}, at(base)],
  ['are added at a pinned address', {}, pinned, at('https://c/managed/v1')],
  ['do not replace a configured one', { search: keyed }, {}, { ...at(base), search: keyed }],
  ['do not replace one without an address', { fetch: { apiKey: 'k' } }, {}, { ...at(base), fetch: { apiKey: 'k' } }],
  ['that a login has configured are used', at(base), {}, at(base)],
  ['that a login has configured follow a pinned address', at(base), pinned, at('https://c/managed/v1')],
  [
    'at another address stay there',
    { search: { baseUrl: 'https://x/s', oauth } },
    pinned,
    { ...at('https://c/managed/v1'), search: { baseUrl: 'https://x/s', oauth } },
  ],
  ['without an address get one', { search: { oauth } }, {}, at(base)],
])('the services of a login %s', (_what, services, env, expected) => {
  expect(withManagedServices(services, { env, providers: { 'managed:service-code': managed } })).toEqual(expected);
});

test('without a login nothing is added', () => {
  const records = [
    undefined,
    { other: managed },
    { 'managed:service-code': { type: 'native' as const, baseUrl: base } },
  ];
  for (const providers of records) {
    expect(withManagedServices({ search: keyed }, { env: pinned, providers })).toEqual({ search: keyed });
  }
});
