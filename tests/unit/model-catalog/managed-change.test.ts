/** The default model, thinking and services after a refresh of the managed login. */
import { describe, expect, it } from 'vitest';
import { toTable } from '#server/config/document.ts';
import { changeManaged } from '#server/model-catalog/managed-change.ts';
import { readManagedListing } from '#server/model-catalog/managed-listing.ts';

const ID = 'managed:service-code';
const BASE = 'https://api.example.org/managed/v1';
const oauth = { storage: 'file', key: 'oauth/service-code' };
const provider = { type: 'native', base_url: BASE, api_key: '', oauth };

function change(before: object, entry: object = {}) {
  const document = toTable({ providers: { [ID]: provider, fixed: { type: 'openai' } }, ...before });
  const body = JSON.stringify({
    data: [
      { id: 'm', context_length: 5, ...entry },
      { id: 'n', context_length: 5 },
    ],
  });
  const draft = { document, stored: {} };
  const { write, result } = changeManaged(draft, readManagedListing(body, ID), BASE, (id) => id === 'fixed');
  write?.(document);
  return { document, result, isWritten: write !== undefined };
}

describe('whether a new default model thinks', () => {
  it.each<[string, object, object | undefined, object | undefined]>([
    [
      'one that only thinks',
      { supports_thinking_type: 'only' },
      { enabled: false, effort: 'low' },
      { enabled: true, effort: 'low' },
    ],
    ['one that never thinks', { supports_thinking_type: 'no' }, { enabled: true }, { enabled: false }],
    [
      'one that may think, with a setting',
      { supports_thinking_type: 'both', supports_reasoning: true },
      { enabled: false },
      { enabled: false },
    ],
    [
      'one that may think, without a setting',
      { supports_thinking_type: 'both', supports_reasoning: true },
      undefined,
      { enabled: true },
    ],
    ['one without reasoning', { supports_reasoning: false }, undefined, { enabled: false }],
    ['one that declares nothing', {}, undefined, undefined],
  ])('%s', (_name, entry, before, after) => {
    const { document } = change({ default_model: 'gone', ...(before && { thinking: before }) }, entry);
    expect(document.default_model).toBe(`${ID}/m`);
    expect(document.thinking).toEqual(after);
  });
});

describe('an existing default model', () => {
  it.each<[string, object, string, object | undefined]>([
    ['of the login', {}, `${ID}/n`, undefined],
    ['of another provider', { models: { 'q/x': { provider: 'q' } } }, 'q/x', undefined],
    ['by another name', { models: { 'q/x': { provider: 'q', aliases: ['nick'] } } }, 'nick', undefined],
    [
      'that always thinks',
      { models: { 'q/x': { provider: 'q', capabilities: ['always_thinking'] } } },
      'q/x',
      { enabled: true },
    ],
    [
      'that always thinks by its overrides',
      { models: { 'q/x': { provider: 'q', overrides: { capabilities: ['always_thinking'] } } } },
      'q/x',
      { enabled: true },
    ],
    [
      'of a static provider that always thinks',
      { models: { 'f/x': { provider: 'fixed', capabilities: ['always_thinking'] } } },
      'f/x',
      undefined,
    ],
  ])('%s is retained', (_name, before, alias, thinking) => {
    const { document } = change({ ...before, default_model: alias });
    expect(document.default_model).toBe(alias);
    expect(document.thinking).toEqual(thinking);
  });
});

describe('the services', () => {
  const generated = (name: string) => ({ base_url: `${BASE}/${name}`, api_key: '', oauth });
  it('are entered, and follow the login to other addresses', () => {
    const moved = {
      ...generated('search'),
      base_url: 'https://old/search',
      oauth: { storage: 'file', key: 'oauth/service-code-env-0' },
    };
    const headers = { custom_headers: { a: 'b' } };
    const { document } = change({ services: { search: { ...moved, ...headers } } });
    expect(document.services).toEqual({ search: { ...generated('search'), ...headers }, fetch: generated('fetch') });
  });
  it('that the user configured are retained', () => {
    const mine = { base_url: 'https://mine', api_key: 'k' };
    const { document } = change({ services: { search: mine, fetch: { api_key: 'k' } } });
    expect(document.services).toEqual({ search: mine, fetch: { api_key: 'k' } });
  });
});

it('the second refresh with the same list writes nothing', () => {
  const { document, result } = change({});
  expect(result).toEqual({ added: 2, removed: 0 });
  expect(change(document)).toMatchObject({ result: undefined, isWritten: false });
});

it('only entering services counts as no change of models', () => {
  const { document } = change({});
  delete document.services;
  expect(change(document)).toMatchObject({ result: undefined, isWritten: true });
});

it('an alias of another provider under a listed key is not overwritten', () => {
  expect(() => change({ models: { [`${ID}/m`]: { provider: 'q' } } })).toThrow(
    `model alias key already owned by another provider: ${ID}/m`,
  );
});
