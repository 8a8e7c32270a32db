/** The source class of providers. */
import { expect, it } from 'vitest';
import type { ProviderRecord } from '#schema/config/provider-record.ts';
import { sourceOf } from '#server/model-catalog/sources.ts';

const BASE = 'https://api.example.org/managed/v1';
const oauth = { storage: 'file', key: 'oauth/service-code' } as const;
const registry = { kind: 'apiJson', url: 'http://r', apiKey: '' };
const key = { type: 'native', apiKey: 'k', baseUrl: BASE };

it.each<[string, string, ProviderRecord, string]>([
  ['an empty record', 'p', {}, 'static'],
  ['the login', 'managed:service-code', { type: 'native', oauth }, 'managed'],
  ['the login made static', 'managed:service-code', { type: 'native', oauth, modelSource: 'static' }, 'static'],
  ['the login of another type', 'managed:service-code', { type: 'openai', oauth }, 'static'],
  ['the id of the login without one', 'managed:service-code', { type: 'native' }, 'static'],
  ['a login under another id', 'p', { type: 'native', oauth }, 'static'],
  ['a key', 'p', key, 'managed-by-key'],
  ['a key with a slash after the address', 'p', { ...key, baseUrl: ` ${BASE}/ ` }, 'managed-by-key'],
  ['a key with an upper-case host', 'p', { ...key, baseUrl: 'HTTPS://API.example.org/managed/v1' }, 'managed-by-key'],
  ['a key with an upper-case path', 'p', { ...key, baseUrl: 'https://api.example.org/Managed/v1' }, 'static'],
  ['a key with a query', 'p', { ...key, baseUrl: `${BASE}?x` }, 'static'],
  ['a key for another path', 'p', { ...key, baseUrl: `${BASE}/x` }, 'static'],
  ['a key without an address', 'p', { type: 'native', apiKey: 'k' }, 'static'],
  ['a key in the table of variables', 'p', { ...key, apiKey: ' ', env: { SERVICE_API_KEY: 'k' } }, 'managed-by-key'],
  ['no key', 'p', { ...key, apiKey: '' }, 'static'],
  ['a key of another type', 'p', { ...key, type: 'openai' }, 'static'],
  ['a static key', 'p', { ...key, modelSource: 'static' }, 'static'],
  ['a key to discover', 'p', { ...key, modelSource: 'discover' }, 'managed-by-key'],
  ['only discovery', 'p', { type: 'openai', modelSource: 'discover' }, 'static'],
  ['a registry', 'p', { type: 'openai', source: registry }, 'registry'],
  ['a registry of the native type', 'p', { ...key, source: registry }, 'registry'],
  ['a registry without a key', 'p', { source: { kind: 'apiJson', url: 'http://r' } }, 'static'],
  ['another kind of source', 'p', { source: { ...registry, kind: 'x' } }, 'static'],
  ['a registry with a login', 'p', { source: registry, oauth }, 'static'],
  ['a static registry', 'p', { source: registry, modelSource: 'static' }, 'static'],
])('%s', (_name, id, record, kind) => {
  expect(sourceOf(id, record, BASE).kind).toBe(kind);
});
