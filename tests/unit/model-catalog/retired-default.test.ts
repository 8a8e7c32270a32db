/** Successors of retired models, and their recognition in a change of the configuration. */
import { describe, expect, it } from 'vitest';
import { retiredDefault, successorOf } from '#server/model-catalog/retired-default.ts';

const record = (to?: unknown) => ({
  provider: 'p',
  model: 'x',
  ...(to === undefined ? {} : { upgrade: { model: to } }),
});

/** A chain `p/0` → `p/1` → … of `length` records, each with an upgrade to the next. */
const chain = (length: number) =>
  Object.fromEntries(Array.from({ length }, (_, at) => [`p/${at}`, record(`p/${at + 1}`)]));

describe('the successor of a model', () => {
  it.each<[string, Record<string, unknown>, string[], string | undefined]>([
    ['no upgrade', { 'p/0': record() }, ['p/1'], undefined],
    ['an upgrade by alias', { 'p/0': record('p/1') }, ['p/1'], 'p/1'],
    ['an upgrade by wire id', { 'p/0': record('1') }, ['p/1'], 'p/1'],
    ['a wire id with a slash', { 'p/0': record('a/b') }, ['a/b', 'p/a/b'], 'p/a/b'],
    ['a wire id that begins like an alias', { 'p/0': record('p/1') }, ['p/p/1'], 'p/p/1'],
    ['a model that is not listed either', { 'p/0': record('1') }, [], undefined],
    ['a chain', chain(3), ['p/3'], 'p/3'],
    ['a chain that ends at the first usable model', chain(3), ['p/2', 'p/3'], 'p/2'],
    ['8 upgrades', chain(8), ['p/8'], 'p/8'],
    ['9 upgrades', chain(9), ['p/9'], undefined],
    ['a cycle', { 'p/0': record('p/1'), 'p/1': record('p/0') }, ['p/2'], undefined],
    ['an upgrade to itself', { 'p/0': record('p/0') }, ['p/2'], undefined],
    ['a malformed upgrade', { 'p/0': record(5) }, ['p/5'], undefined],
    ['an empty upgrade', { 'p/0': record('') }, ['p/'], undefined],
    ['no record', {}, ['p/1'], undefined],
  ])('with %s', (_name, models, usable, successor) => {
    expect(successorOf(models, 'p/0', (alias) => usable.includes(alias))).toBe(successor);
  });
});

describe('a retired default in a change of the configuration', () => {
  const before = { defaultModel: 'p/0', models: { 'p/0': record('p/1'), 'p/1': record('p/2') } };
  const after = { defaultModel: 'p/2', models: { 'p/2': record() } };
  it('is recognized by the upgrades of the records before', () => {
    expect(retiredDefault(before, after)).toEqual({ from: 'p/0', to: 'p/2' });
  });
  it.each<[string, Parameters<typeof retiredDefault>[0], Parameters<typeof retiredDefault>[1]]>([
    ['the same default', before, { ...after, defaultModel: 'p/0' }],
    ['a default that still exists', before, { ...after, models: { ...after.models, 'p/0': record() } }],
    ['a default without a record', { defaultModel: 'p/0' }, after],
    ['another default', before, { defaultModel: 'q', models: { q: record() } }],
    ['a new default without a record', before, { defaultModel: 'p/2', models: {} }],
    ['a cleared default', before, { models: after.models }],
    ['no default', { models: before.models }, after],
  ])('is not %s', (_name, from, to) => {
    expect(retiredDefault(from, to)).toBeUndefined();
  });
});
