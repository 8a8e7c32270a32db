/** The managed API's list of models, and the records that its entries declare. */
import { describe, expect, it } from 'vitest';
import { readManagedListing } from '#server/model-catalog/managed-listing.ts';

const base = { id: 'm', context_length: 1000 };
const read = (...data: unknown[]) => readManagedListing(JSON.stringify({ data }), 'p');
const record = (more: object) => read({ ...base, ...more })[0]?.record;
const declared = { provider: 'p', model: 'm', max_context_size: 1000, capabilities: ['tool_use'] };
const cost = { input: 1, output: 2 };

describe('the record of a model', () => {
  it.each<[string, object, object]>([
    ['the required members', {}, {}],
    ['a numeric string', { context_length: '2000' }, { max_context_size: 2000 }],
    ['a name', { display_name: 'M' }, { display_name: 'M' }],
    ['a blank name', { display_name: ' ' }, {}],
    ['a name of another type', { display_name: 5 }, {}],
    [
      'only thinking',
      { supports_thinking_type: 'only' },
      { capabilities: ['thinking', 'always_thinking', 'tool_use'] },
    ],
    ['thinking and not', { supports_thinking_type: 'both' }, { capabilities: ['thinking', 'tool_use'] }],
    ['no thinking despite reasoning', { supports_thinking_type: 'no', supports_reasoning: true }, {}],
    [
      'an unknown kind of thinking',
      { supports_thinking_type: 'x', supports_reasoning: true },
      { capabilities: ['thinking', 'tool_use'] },
    ],
    ['reasoning', { supports_reasoning: true }, { capabilities: ['thinking', 'tool_use'] }],
    [
      'images and videos',
      { supports_image_in: true, supports_video_in: true },
      { capabilities: ['image_in', 'video_in', 'tool_use'] },
    ],
    ['no tools', { supports_tool_use: false }, { capabilities: undefined }],
    [
      'efforts',
      { think_efforts: { support: true, valid_efforts: ['low'], default_effort: 'low' } },
      { support_efforts: ['low'], default_effort: 'low' },
    ],
    [
      'efforts without support',
      { think_efforts: { support: false, valid_efforts: ['low'], default_effort: 'low' } },
      {},
    ],
    ['efforts without a word on support', { think_efforts: { valid_efforts: ['low'] } }, {}],
    ['no efforts', { think_efforts: { support: true, valid_efforts: [] } }, {}],
    ['efforts at the top level', { support_efforts: ['low'], default_effort: 'low' }, {}],
    ['the protocol anthropic', { protocol: 'anthropic' }, { protocol: 'anthropic', beta_api: true }],
    [
      'the protocol anthropic with thinking',
      { protocol: 'anthropic', supports_reasoning: true },
      { capabilities: ['thinking', 'tool_use'], protocol: 'anthropic', beta_api: true, adaptive_thinking: true },
    ],
    ['another protocol', { protocol: 'openai' }, {}],
    ['prices', { cost: { ...cost, cache_read: 0, extra: 1 } }, { cost: { ...cost, cache_read: 0 } }],
    ['a negative price', { cost: { ...cost, output: -1 } }, {}],
    ['half of the prices', { cost: { input: 1 } }, {}],
    ['a malformed price of the cache', { cost: { ...cost, cache_read: 'x' } }, {}],
  ])('with %s', (_name, entry, more) => {
    const wanted = Object.entries({ ...declared, ...more }).filter(([, value]) => value !== undefined);
    expect(record(entry)).toEqual(Object.fromEntries(wanted));
  });
});

it.each([0, -1, 1.5, '', '1.5', 'x', null, undefined, true])(
  'context_length %j fails the whole list',
  (context_length) => {
    expect(() => read(base, { id: 'n', context_length })).toThrow('Model n of the list has no valid context_length');
  },
);

it('entries without an id are skipped, and only the first of several with one id counts', () => {
  const models = read(null, 5, {}, { id: '' }, { id: 5, context_length: 0 }, base, { ...base, display_name: 'second' });
  expect(models).toMatchObject([{ alias: 'p/m', wireName: 'm' }]);
  expect(models[0]?.record.display_name).toBeUndefined();
});

it('ids may contain slashes and the names of prototypes', () => {
  const models = read({ ...base, id: 'a/b:c' }, { ...base, id: '__proto__' });
  expect(models.map(({ alias }) => alias)).toEqual(['p/a/b:c', 'p/__proto__']);
});

it.each([
  ['', 'The list of models is not valid'],
  ['[]', 'The list of models is not valid'],
  ['{"data":{}}', 'The list of models is not valid'],
  [JSON.stringify({ data: Array.from({ length: 10_001 }, () => base) }), 'The list has more than 10000 models'],
])('refuses a body that is no list, or too long a one', (body, message) => {
  expect(() => readManagedListing(body, 'p')).toThrow(message);
});
