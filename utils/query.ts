/**
 * Query parameters. The value of a parameter comes in as a string, or as an array when its key is
 * repeated; each builder turns it into its type and documents that type.
 */
import * as z from 'zod';
import { afterFields } from '#schema/after-fields.ts';
import { clientArray } from '#schema/client-array.ts';
import { nonEmpty } from '#schema/scalars.ts';

const BOOLEANS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** `true`, `1`, `false` or `0`. Required; add `.optional()` or `.default()`. */
export function queryBoolean() {
  return z
    .preprocess((value) => (typeof value === 'string' ? (BOOLEANS.get(value) ?? value) : value), z.boolean())
    .meta({ type: 'boolean' });
}

/**
 * An integer within bounds; `Number(text)` reads it, so the empty string is 0, and one that is required and missing is
 * NaN.
 */
export function queryInteger({ min, max, required }: { min?: number; max?: number; required?: true } = {}) {
  let integer = z.int();
  if (min !== undefined) integer = integer.min(min);
  if (max !== undefined) integer = integer.max(max);
  const documented = {
    type: 'integer' as const,
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
  };
  return z
    .preprocess((value) => {
      if (value === undefined && !required) return undefined;
      return typeof value === 'string' ? Number(value) : Number.NaN;
    }, integer)
    .meta(documented);
}

/** A repeatable parameter: one value, or an array of at most `LIST_MAX`. */
export function queryList<Item extends z.ZodType>(item: Item) {
  return z.preprocess((value) => (typeof value === 'string' ? [value] : value), clientArray(item));
}

export const PAGE_SIZE_MAX = 100;

const bothCursors = z.object({ before_id: z.string(), after_id: z.string() });

/** A query with `before_id`, `after_id`, `page_size` and further members; both cursors together are rejected. */
export function cursorQuery<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z
    .object({
      before_id: nonEmpty.optional(),
      after_id: nonEmpty.optional(),
      page_size: queryInteger({ min: 1, max: PAGE_SIZE_MAX }).optional(),
      ...shape,
    })
    .refine((query) => !bothCursors.safeParse(query).success, {
      ...afterFields,
      path: ['before_id'],
      error: 'before_id and after_id are mutually exclusive',
    });
}

/** The parsed query string: a repeated key holds an array. */
export function parseQuery(query: string): Record<string, string | string[]> {
  const parsed: Record<string, string | string[]> = Object.create(null);
  if (query === '') return parsed;
  for (const [key, value] of new URLSearchParams(query)) {
    const before = parsed[key];
    if (before === undefined) parsed[key] = value;
    else if (typeof before === 'string') parsed[key] = [before, value];
    else before.push(value);
  }
  return parsed;
}
