/** Documents of custom registries: lenient reading, and the records that their models declare. */
import { describe, expect, it } from 'vitest';
import { parseRegistry } from '#server/model-catalog/parse-registry.ts';
import { readRegistry } from '#server/model-catalog/registry-document.ts';

const entry = (more: object = {}) => ({ id: 'p', name: 'P', api: 'http://a/v1', type: 'openai', models: {}, ...more });
const bytesOf = (document: object) => new TextEncoder().encode(JSON.stringify(document));
const read = (document: object) => readRegistry(bytesOf(document));
async function recordOf(model: object, others: object = {}) {
  const { entries } = await read({ x: entry({ models: { m: { id: 'm', ...model }, ...others } }) });
  return entries[0]?.models[0]?.record;
}
const declared = {
  provider: 'p',
  model: 'm',
  max_context_size: 131_072,
  capabilities: ['tool_use'],
  display_name: 'm',
};

describe('the record of a model', () => {
  it.each<[string, object, object]>([
    ['nothing but an id', {}, {}],
    ['a name', { name: 'M' }, { display_name: 'M' }],
    ['a context', { limit: { context: 5.9, output: 3 } }, { max_context_size: 5 }],
    ['only an output', { limit: { output: 3 } }, { max_context_size: 3 }],
    ['limits that are not positive', { limit: { context: 0, output: -1 } }, {}],
    ['a limit below one', { limit: { context: 0.5 } }, {}],
    ['a limit that is no integer of JSON', { limit: { context: 1e300 } }, {}],
    ['malformed limits', { limit: { context: '5' } }, {}],
    ['tools', { tool_call: true }, {}],
    ['no tools', { tool_call: false }, { capabilities: undefined }],
    ['no reasoning alone', { reasoning: false }, { capabilities: undefined }],
    ['reasoning', { reasoning: true }, { capabilities: ['thinking'] }],
    [
      'efforts',
      { support_efforts: ['low', 5, 'high'], default_effort: 'low' },
      { capabilities: ['thinking'], support_efforts: ['low', 'high'], default_effort: 'low' },
    ],
    ['no efforts', { support_efforts: [] }, { capabilities: undefined }],
    [
      'modalities',
      { modalities: { input: ['text', 'image', 'video', 'pdf'], output: ['image', 'audio'] } },
      { capabilities: ['image_in', 'video_in', 'image_out', 'audio_out'] },
    ],
    ['malformed modalities', { modalities: 'image' }, {}],
    ['malformed flags', { tool_call: 'yes', reasoning: 1 }, {}],
    [
      'prices',
      { cost: { input: 0, output: 1.5, cache_write: 2 } },
      { cost: { input: 0, output: 1.5, cache_write: 2 } },
    ],
    ['malformed prices', { cost: { input: '1', output: 2 } }, {}],
    ['a malformed upgrade', { upgrade: { model: 'n' } }, {}],
    [
      'an upgrade to a model that is not listed',
      { upgrade: { model: 'n', migration_markdown: '{{from}} $& {{to}} {{x}}', retirement_at: '2026-01-01' } },
      { upgrade: { model: 'n', migration_markdown: 'm $& n {{x}}', retirement_at: '2026-01-01' } },
    ],
  ])('with %s', async (_name, model, more) => {
    const wanted = Object.entries({ ...declared, ...more }).filter(([, value]) => value !== undefined);
    expect(await recordOf(model)).toEqual(Object.fromEntries(wanted));
  });

  it('an upgrade to a listed model names its alias', async () => {
    const upgrade = { model: 'wire', migration_markdown: 'to {{to}}' };
    expect(await recordOf({ upgrade }, { key: { id: 'wire' } })).toMatchObject({
      upgrade: { model: 'p/key', migration_markdown: 'to wire' },
    });
  });

  it('unpaired surrogates are replaced, as a file has none', async () => {
    expect(await recordOf({ name: 'a\ud800b' })).toMatchObject({ display_name: 'a\ufffdb' });
  });
});

it.each<[string, unknown]>([
  ['no object', 5],
  ['an array', []],
  ['no id', entry({ id: undefined })],
  ['an id that providers cannot have', entry({ id: 'a/b' })],
  ['the id of the login', entry({ id: 'managed:service-code' })],
  ['the id of a prototype', entry({ id: '__proto__' })],
  ['an empty name', entry({ name: '' })],
  ['an empty address', entry({ api: '' })],
  ['an unknown type', entry({ type: 'vertexai' })],
  ['no models', entry({ models: undefined })],
  ['a list of models', entry({ models: [] })],
])('an entry with %s is skipped, others are read', async (_name, value) => {
  const { entries, skipped } = await read({ bad: value, good: entry({ id: 'good' }) });
  expect(entries.map(({ id }) => id)).toEqual(['good']);
  expect(skipped.size).toBe(1);
});

it('the id of an entry counts, not its key; the second entry with an id is skipped', async () => {
  const { entries } = await read({ x: entry({ name: 'first' }), y: entry({ name: 'second' }) });
  expect(entries).toMatchObject([{ id: 'p', name: 'first', type: 'openai', baseUrl: 'http://a/v1' }]);
});

it('models without an id, or with an empty key, are skipped', async () => {
  const { entries } = await read({
    x: entry({ models: { a: {}, b: null, c: { id: '' }, '': { id: 'x' }, d: { id: 'd' } } }),
  });
  expect(entries[0]?.models.map(({ alias }) => alias)).toEqual(['p/d']);
});

it.each([
  ['<html>', 'the reply is not JSON'],
  ['', 'the reply is not JSON'],
  ['null', 'the reply is not a JSON object'],
  ['[]', 'the reply is not a JSON object'],
])('refuses %j', async (body, message) => {
  await expect(readRegistry(Buffer.from(body))).rejects.toThrow(message);
});

it('refuses a document with 100,000 models', async () => {
  const models = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`m${at}`, { id: `m${at}` }]));
  await expect(read({ x: entry({ models }) })).rejects.toThrow('it lists more than 10000 models');
});

describe('a large document, which a thread parses', () => {
  const { signal } = new AbortController();
  const name = 'n'.repeat(2000);

  it('has the same entries', async () => {
    const models = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`m${at}`, { id: `m${at}`, name }]));
    const document = { a: entry({ id: 'a', models }), bad: 5, b: entry({ id: 'b' }), c: entry({ id: 'c', models }) };
    expect(await parseRegistry(bytesOf(document), signal)).toEqual(await read(document));
  });

  it('is refused with the same reason', async () => {
    await expect(parseRegistry(new Uint8Array(1024 * 1024), signal)).rejects.toThrow('the reply is not JSON');
  });
});
