/** JSON from outside: 200 levels are parsed, deeper texts are rejected unparsed. */
import { describe, expect, it } from 'vitest';
import { clipJson, JsonTooDeep, MAX_JSON_LEVELS, parseJson, stringifyJson, tryParseJson } from '#server/text/json.ts';
import { argumentsObject, argumentsText, parseArguments, shownArguments } from '#server/text/tool-arguments.ts';

const lists = (levels: number, inner = '1') => '['.repeat(levels) + inner + ']'.repeat(levels);
const objects = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
const mixed = (levels: number) => '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2);

describe('parsing', () => {
  it.each([
    ['lists', lists(MAX_JSON_LEVELS)],
    ['objects', objects(MAX_JSON_LEVELS)],
    ['both', mixed(MAX_JSON_LEVELS)],
    ['many at the last level', lists(MAX_JSON_LEVELS - 1, '[],{},[1]')],
    ['a string with a million brackets', JSON.stringify({ a: '[{'.repeat(500_000) })],
    ['brackets after escaped quotes', JSON.stringify([`"${'['.repeat(300)}`, `\\"${'{'.repeat(300)}`, '\\'])],
    ['brackets in a key', JSON.stringify({ ['['.repeat(300)]: 1 })],
    ['a short text', 'null'],
  ])('accepts %s', (_what, text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
    expect(clipJson(text)).toBe(text);
  });

  it.each([
    ['lists', lists(MAX_JSON_LEVELS + 1)],
    ['objects', objects(MAX_JSON_LEVELS + 1)],
    ['both', mixed(MAX_JSON_LEVELS + 2)],
    ['lists after a string that ends with a backslash', `["\\\\",${lists(MAX_JSON_LEVELS)}]`],
    ['a million levels', lists(1_000_000)],
    ['a million levels that are never closed', '['.repeat(1_000_000)],
    ['a million levels before a string without end', `${'['.repeat(1_000_000)}"`],
  ])('rejects %s before parsing', (_what, text) => {
    expect(() => parseJson(text)).toThrow(JsonTooDeep);
    expect(tryParseJson(text)).toBeUndefined();
  });

  it('throws like JSON.parse for malformed text', () => {
    for (const text of ['', '{', `${']'.repeat(300)}${'['.repeat(300)}`, '"'.repeat(1001)]) {
      expect(() => parseJson(text)).toThrow(SyntaxError);
      expect(tryParseJson(text)).toBeUndefined();
    }
  });
});

describe('clipping', () => {
  it('replaces values that are nested too deeply and retains the rest', () => {
    const inner = `[1],{"a":[2]},"[",3`;
    expect(clipJson(lists(MAX_JSON_LEVELS, inner))).toBe(lists(MAX_JSON_LEVELS, `"…","…","[",3`));
    expect(parseJson(clipJson(`{"id":7,"a":${lists(5000)}}`))).toMatchObject({ id: 7 });
  });

  it('does not complete an unfinished text', () => {
    expect(() => parseJson(clipJson('['.repeat(1000)))).toThrow(SyntaxError);
  });
});

describe('writing', () => {
  it.each([
    ['200 levels', objects(MAX_JSON_LEVELS)],
    ['201 levels', lists(MAX_JSON_LEVELS + 1)],
    ['siblings at the last level', lists(MAX_JSON_LEVELS, '[1],{"a":2},null,"["')],
  ])('leaves %s unchanged', (_what, text) => {
    expect(stringifyJson(JSON.parse(text) as object)).toBe(text);
  });

  it('clips 100,000 levels to a text that is still too deep to be parsed', () => {
    const text = stringifyJson(JSON.parse(`{"a":${lists(100_000)}}`) as object);
    expect(text).toBe(`{"a":${lists(MAX_JSON_LEVELS, '"…"')}}`);
    expect(() => parseJson(text)).toThrow(JsonTooDeep);
  });
});

describe('arguments of a call', () => {
  const deep = `{"path":${lists(MAX_JSON_LEVELS)}}`;

  it.each<[string | null, unknown, Record<string, unknown>, unknown]>([
    [null, {}, {}, {}],
    ['', {}, {}, {}],
    [' \n', {}, {}, {}],
    ['{"a":1}', { a: 1 }, { a: 1 }, { a: 1 }],
    ['{"a":', {}, {}, '{"a":'],
    ['[1]', [1], {}, [1]],
    ['null', null, {}, null],
    [deep, {}, {}, deep],
  ])('%j for the tool, for providers and for people', (text, forTool, forProvider, forPeople) => {
    expect(parseArguments(text)).toEqual(forTool);
    expect(argumentsObject(text)).toEqual(forProvider);
    expect(shownArguments(text)).toEqual(forPeople);
    expect(JSON.parse(argumentsText(text))).toEqual(forProvider);
  });

  it('for a provider that accepts text are what the model wrote', () => {
    const text = '{ "a": 1.0,\n"a": "\\u0041" }';
    expect(argumentsText(text)).toBe(text);
  });
});
