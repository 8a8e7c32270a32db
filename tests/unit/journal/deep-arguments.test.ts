import { describe, expect, it } from 'vitest';
import { flattenDeepArguments } from '#server/journal/deep-arguments.ts';
import { BlobText } from '#server/journal/texts.ts';
import { MAX_JSON_LEVELS } from '#server/text/json.ts';

/** Nested lists and objects, `levels` of them. */
function nested(levels: number): unknown {
  let value: unknown = 'core';
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: 1, value };
  return value;
}

function flattened(record: object): object {
  flattenDeepArguments(record);
  return record;
}

describe('arguments that nest too deeply', () => {
  it.each(['args', 'toolInput'])('in %s become their JSON text', (key) => {
    const deep = nested(MAX_JSON_LEVELS + 1);
    expect(flattened({ [key]: deep, kept: deep })).toEqual({ [key]: JSON.stringify(deep), kept: deep });
  });

  it.each(['display', 'tool_input_display'])('in the detail of %s become their JSON text', (key) => {
    const deep = nested(MAX_JSON_LEVELS + 1);
    const display = { kind: 'generic', summary: 's', detail: deep };
    expect(flattened({ [key]: display })).toEqual({ [key]: { ...display, detail: JSON.stringify(deep) } });
  });

  it('are found next to others', () => {
    const args = { a: [1], b: nested(MAX_JSON_LEVELS), c: null };
    expect(flattened({ args })).toEqual({ args: JSON.stringify(args) });
  });
});

describe('a record is unchanged', () => {
  it.each([
    [
      'with arguments of the greatest depth',
      { args: nested(MAX_JSON_LEVELS), display: { detail: nested(MAX_JSON_LEVELS) } },
    ],
    ['without arguments', { type: 'x' }],
    ['with plain arguments', { args: 'text', toolInput: null, display: 'text', tool_input_display: null }],
    ['with a long text', { args: { text: new BlobText('hash', 99_999) } }],
  ])('%s', (_name, record) => {
    const before = structuredClone({ ...record, args: undefined });
    const { args } = { args: undefined, ...record };
    flattenDeepArguments(record);
    expect({ ...record, args: undefined }).toEqual(before);
    expect({ args: undefined, ...record }.args).toBe(args);
  });

  it('if it is a list', () => {
    expect(flattened([nested(MAX_JSON_LEVELS + 1)])).toEqual([nested(MAX_JSON_LEVELS + 1)]);
  });
});
