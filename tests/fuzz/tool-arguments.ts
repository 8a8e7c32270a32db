/**
 * Fuzz target: arguments are parsed up to 200 levels of nesting and are `{}` beyond, regardless of brackets in strings;
 * deeper ones are clipped to valid JSON within the levels.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { clipJson, isRecord, MAX_JSON_LEVELS } from '#server/text/json.ts';
import { argumentsObject, argumentsText, parseArguments, shownArguments } from '#server/text/tool-arguments.ts';
import { integer, pick, type Random } from '#support/random.ts';

const TEXTS = ['', 'a', '[[[[', ']]]]', '{"', '"}', '\\', '\\"', '\\\\"', '\n', '\u2028', '😀', '\ud800', '__proto__'];
const BROKEN = ['', ' ', '{', '}', '[', '"', ',', ':', 'nul', '\\', '\0', '1e', '//'];

const randomText = (random: Random) => Array.from({ length: integer(random, 4) }, () => pick(random, TEXTS)).join('');
const leaf = (random: Random): unknown => pick(random, [null, true, 0, -1.5, 1e21, randomText(random), [], {}]);

/** A value of `levels` nested arrays and objects, with siblings at each level. */
function nested(random: Random, levels: number): unknown {
  let value: unknown = pick(random, [null, false, 7, randomText(random)]);
  for (let level = 0; level < levels; level += 1) {
    const others = Array.from({ length: integer(random, 2) }, () => (level > 0 ? leaf(random) : 1));
    if (random() < 0.5) value = random() < 0.5 ? [value, ...others] : [...others, value];
    else value = Object.fromEntries([...others.entries(), [`k${randomText(random)}`, value]]);
  }
  return value;
}

const levelsOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(levelsOf)) : 0;

const randomLevels = (random: Random) =>
  random() < 0.8 ? integer(random, 8) : MAX_JSON_LEVELS - 2 + integer(random, 5);

/** One case. Throws when arguments are parsed to a different value, or the clipped text is no JSON. */
export function toolArguments(random: Random): void {
  const value = nested(random, randomLevels(random));
  const text = JSON.stringify(value, undefined, pick(random, [0, 1, '\t']));
  const written: unknown = JSON.parse(text);
  const levels = levelsOf(written);
  const fits = levels <= MAX_JSON_LEVELS;
  deepStrictEqual(parseArguments(text), fits ? written : {}, `${levels} levels`);
  deepStrictEqual(argumentsObject(text), fits && isRecord(written) ? { ...written } : {}, `${levels} levels`);
  deepStrictEqual(argumentsText(text), fits && isRecord(written) ? text : '{}', `${levels} levels`);
  deepStrictEqual(shownArguments(text), fits ? written : text);
  const clipped: unknown = JSON.parse(clipJson(text));
  if (fits) deepStrictEqual(clipped, written);
  else deepStrictEqual(levelsOf(clipped), MAX_JSON_LEVELS);

  const at = integer(random, text.length + 1);
  const cut = random() < 0.5 ? text.slice(0, at) : text.slice(0, at) + pick(random, BROKEN) + text.slice(at + 1);
  const parsed = parseArguments(cut);
  let expected: unknown = {};
  try {
    const whole: unknown = JSON.parse(cut);
    if (levelsOf(whole) <= MAX_JSON_LEVELS) expected = whole;
  } catch {
    // No valid JSON.
  }
  deepStrictEqual(parsed, expected, cut.slice(0, 200));
}
