/** Building blocks of fuzz targets: texts joined from hostile pieces, and edits that make a valid input nearly valid. */
import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';

/** An edit of an input. It is printed as its result, because the input is mapped before the case runs. */
export type Edit<T> = (input: T) => T;

/** Texts joined from `least` to `most` pieces. A failing text shrinks towards the first piece. */
export const textsOf = (pieces: readonly string[], most: number, least = 0): Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...pieces), minLength: least, maxLength: most });

/** Inputs with the edit; about a share of `1 / freq` remains unedited, none by default. */
export const edited = <T>(inputs: Arbitrary<T>, edits: Arbitrary<Edit<T>>): Arbitrary<T> =>
  fc.tuple(inputs, edits).map(([input, edit]) => edit(input));

/** Edits in a share of `1 / freq` of the inputs. */
export const sometimes = <T>(freq: number, edits: Arbitrary<Edit<T>>): Arbitrary<Edit<T>> =>
  fc.oneof({ weight: freq - 1, arbitrary: fc.constant((input: T) => input) }, { weight: 1, arbitrary: edits });

/** Replaces up to `mostRemoved` characters at any offset with one of the pieces. */
export const textEdits = (pieces: readonly string[], mostRemoved = 0): Arbitrary<Edit<string>> =>
  fc.tuple(fc.nat(), fc.constantFrom(...pieces), fc.nat(mostRemoved)).map(([position, piece, removed]) => (text) => {
    const at = position % (text.length + 1);
    return text.slice(0, at) + piece + text.slice(at + removed);
  });

/** The replacement of a member, or none to remove it; `name` is that of an added member. */
interface Change {
  replacement: readonly unknown[];
  name: string;
}

/** The value after the change of the member at the path; the index after the last member adds one. */
function changed(value: unknown, [step, ...path]: readonly number[], change: Change): readonly unknown[] {
  if (step === undefined || typeof value !== 'object' || value === null) return change.replacement;
  const members = Object.entries(value);
  const at = step % (members.length + 1);
  const [name, member]: [string, unknown] = members[at] ?? [change.name, undefined];
  members.splice(at, 1, ...changed(member, path, change).map((next): [string, unknown] => [name, next]));
  return [Array.isArray(value) ? members.map(([, next]) => next) : Object.fromEntries(members)];
}

/** Replaces, removes or adds a member of a JSON value at any of four levels. */
export const valueEdits = (replacements: Arbitrary<unknown>, names: readonly string[]): Arbitrary<Edit<unknown>> => {
  const changes = fc.record({
    replacement: fc.option(
      replacements.map((value) => [value]),
      { nil: [] },
    ),
    name: fc.constantFrom(...names),
  });
  return fc.tuple(fc.array(fc.nat(), { maxLength: 4 }), changes).map(([path, change]) => (value) => {
    const [next = null] = changed(value, path, change);
    return next;
  });
};
