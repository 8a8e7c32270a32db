/** Which fields of stored records a refresh overwrites. */
import { expect, it } from 'vitest';
import { toTable } from '#server/config/document.ts';
import { changedRecords, MANAGED_FIELDS, mergeModels, REGISTRY_FIELDS } from '#server/model-catalog/field-ownership.ts';
import type { DeclaredModel } from '#server/model-catalog/declared-model.ts';

const model = (wireName: string, more: object = {}, alias = `p/${wireName}`): DeclaredModel => ({
  alias,
  wireName,
  record: { provider: 'p', model: wireName, max_context_size: 5, ...more },
});
const base = { provider: 'p', model: 'm', max_context_size: 5 };

function merge(before: Record<string, object>, declared: DeclaredModel[], fields: readonly string[] = REGISTRY_FIELDS) {
  const models = toTable(before);
  const { changes, ...counts } = mergeModels(models, 'p', declared, fields);
  return { records: Object.fromEntries(changedRecords(models, changes)), differs: changes.size > 0, ...counts };
}

it.each<[string, object, object, object, boolean]>([
  ['equal records do not differ', base, {}, base, false],
  [
    'a declared field overwrites',
    { ...base, display_name: 'Old' },
    { display_name: 'New' },
    { ...base, display_name: 'New' },
    true,
  ],
  ['a field that is no longer declared vanishes', { ...base, cost: { input: 1, output: 1 } }, {}, base, true],
  [
    'fields of the user survive',
    { ...base, note: 1, reasoning_key: 'x' },
    { display_name: 'M' },
    { ...base, note: 1, reasoning_key: 'x', display_name: 'M' },
    true,
  ],
  [
    'overrides survive',
    { ...base, overrides: { cost: { input: 1, output: 1 } } },
    {},
    { ...base, overrides: { cost: { input: 1, output: 1 } } },
    false,
  ],
  [
    'capabilities in another order do not differ',
    { ...base, capabilities: ['a', 'b'] },
    { capabilities: ['b', 'a'] },
    { ...base, capabilities: ['a', 'b'] },
    false,
  ],
  [
    'a further capability differs',
    { ...base, capabilities: ['a'] },
    { capabilities: ['a', 'b'] },
    { ...base, capabilities: ['a', 'b'] },
    true,
  ],
  ['capabilities that vanish differ', { ...base, capabilities: ['a'] }, {}, base, true],
  [
    'efforts in another order differ',
    { ...base, support_efforts: ['a', 'b'] },
    { support_efforts: ['b', 'a'] },
    { ...base, support_efforts: ['b', 'a'] },
    true,
  ],
])('%s', (_name, before, declared, after, differs) => {
  expect(merge({ 'p/m': before }, [model('m', declared)])).toEqual({
    records: { 'p/m': after },
    differs,
    added: 0,
    removed: 0,
  });
});

it('a registry owns upgrades but no protocol, the managed API the reverse', () => {
  const before = {
    'p/m': { ...base, protocol: 'anthropic', beta_api: true, adaptive_thinking: true, upgrade: { model: 'n' } },
  };
  expect(merge(before, [model('m')]).records['p/m']).toEqual({
    ...base,
    protocol: 'anthropic',
    beta_api: true,
    adaptive_thinking: true,
  });
  expect(merge(before, [model('m')], MANAGED_FIELDS).records['p/m']).toEqual({ ...base, upgrade: { model: 'n' } });
});

it('generated aliases that are not listed vanish; those by hand, and those of other providers, survive', () => {
  const before = {
    'p/gone': base,
    mine: base,
    'p/other': { ...base, provider: 'q' },
    'q/x': { ...base, provider: 'q' },
    'p/m': base,
  };
  const { records, ...counts } = merge(before, [model('m'), model('n')]);
  expect(Object.keys(records)).toEqual(['mine', 'p/other', 'q/x', 'p/m', 'p/n']);
  expect(counts).toEqual({ differs: true, added: 1, removed: 0 });
});

it('counts wire ids: an alias that moves to another key is no addition', () => {
  expect(merge({ 'p/old': base }, [model('m', {}, 'p/new')])).toMatchObject({ differs: true, added: 0, removed: 0 });
  expect(merge({ 'p/m': { ...base, name: 'wire' } }, [model('wire', {}, 'p/m')])).toMatchObject({
    added: 0,
    removed: 0,
  });
  expect(merge({ 'p/m': base }, [model('other', {}, 'p/m')])).toMatchObject({ added: 1, removed: 1 });
});

it('an alias of another provider is not overwritten', () => {
  const before = { 'p/m': { ...base, provider: 'q' }, 'p/n': { model: 'flat' } };
  expect(() => merge(before, [model('m'), model('n')])).toThrow(
    'model alias key already owned by another provider: p/m, p/n',
  );
});
