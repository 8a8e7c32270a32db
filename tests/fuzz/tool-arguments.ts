/**
 * Fuzz target: arguments are parsed up to 200 levels of nesting and are `{}` beyond, regardless of brackets in strings;
 * deeper ones are clipped to valid JSON within the levels.
 */
import { deepStrictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { clipJson, isRecord, MAX_JSON_LEVELS } from '#server/text/json.ts';
import { argumentsObject, argumentsText, parseArguments, shownArguments } from '#server/text/tool-arguments.ts';
import { textEdits, textsOf, type Edit } from '#support/arbitraries.ts';

const TEXTS = ['', 'a', '[[[[', ']]]]', '{"', '"}', '\\', '\\"', '\\\\"', '\n', '\u2028', '😀', '\ud800', '__proto__'];
const BROKEN = ['', ' ', '{', '}', '[', '"', ',', ':', 'nul', '\\', '\0', '1e', '//'];

const texts = textsOf(TEXTS, 3);
const leaves = fc.oneof(fc.constantFrom(null, true, 0, -1.5, 1e21, [], {}), texts);

/** An array or object around a value, with up to one sibling. */
const levels: fc.Arbitrary<Edit<unknown>> = fc
  .record({
    siblings: fc.array(leaves, { maxLength: 1 }),
    key: texts,
    kind: fc.constantFrom('before', 'after', 'object'),
  })
  .map(({ siblings, key, kind }) => (value) => {
    if (kind === 'object') return Object.fromEntries([...siblings.entries(), [`k${key}`, value]]);
    return kind === 'before' ? [...siblings, value] : [value, ...siblings];
  });

/** Values of some levels, which repeat a few different ones. */
const values = fc
  .record({
    innermost: fc.oneof(fc.constantFrom(null, false, 7), texts),
    levels: fc.array(levels, { minLength: 1, maxLength: 7 }),
    count: fc.oneof(
      { weight: 4, arbitrary: fc.nat(7) },
      { weight: 1, arbitrary: fc.integer({ min: MAX_JSON_LEVELS - 2, max: MAX_JSON_LEVELS + 2 }) },
    ),
  })
  .map(({ innermost, levels, count }) => {
    let value: unknown = innermost;
    for (let level = 0; level < count; level += 1) value = levels[level % levels.length]?.(value);
    return value;
  });
const edits = fc.oneof(textEdits([''], Number.MAX_SAFE_INTEGER), textEdits(BROKEN, 1));
const cases = fc.tuple(values, fc.constantFrom(undefined, 1, '\t'), edits).map(([value, space, edit]) => {
  const text = JSON.stringify(value, undefined, space);
  return { text, broken: edit(text) };
});

const levelsOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(levelsOf)) : 0;

/** The value of a text within the levels, else `{}`. */
function expected(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return levelsOf(value) <= MAX_JSON_LEVELS ? value : {};
  } catch {
    return {};
  }
}

/** Fails when arguments are parsed to a different value, or the clipped text is no JSON within the levels. */
export const toolArguments = fc.property(cases, ({ text, broken }) => {
  const written: unknown = JSON.parse(text);
  const fits = levelsOf(written) <= MAX_JSON_LEVELS;
  deepStrictEqual(parseArguments(text), fits ? written : {});
  deepStrictEqual(argumentsObject(text), fits && isRecord(written) ? { ...written } : {});
  deepStrictEqual(argumentsText(text), fits && isRecord(written) ? text : '{}');
  deepStrictEqual(shownArguments(text), fits ? written : text);
  const clipped: unknown = JSON.parse(clipJson(text));
  if (fits) deepStrictEqual(clipped, written);
  else deepStrictEqual(levelsOf(clipped), MAX_JSON_LEVELS);

  deepStrictEqual(parseArguments(broken), expected(broken));
});
