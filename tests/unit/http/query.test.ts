import { describe, expect, it } from 'vitest';
import { cursorQuery, parseQuery, queryBoolean, queryInteger } from '#utils/query.ts';

const schema = cursorQuery({
  archived: queryBoolean().optional(),
  count: queryInteger({ min: 1, max: 10 }).default(5),
});

/** The value, or `path: message` of each issue. */
function read(query: string): unknown {
  const result = schema.safeParse(parseQuery(query));
  if (result.success) return result.data;
  return result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('query parameters', () => {
  it.each([
    ['', { count: 5 }],
    ['unknown=1&count=3', { count: 3 }],
    ['archived=1', { count: 5, archived: true }],
    ['archived=false', { count: 5, archived: false }],
    ['page_size=100&before_id=x', { count: 5, page_size: 100, before_id: 'x' }],
  ])('reads %j', (query, expected) => expect(read(query)).toEqual(expected));

  it.each([
    ['archived=TRUE', ['archived: Invalid input: expected boolean, received string']],
    ['archived=', ['archived: Invalid input: expected boolean, received string']],
    ['page_size=', ['page_size: Too small: expected number to be >=1']],
    ['page_size=101', ['page_size: Too big: expected number to be <=100']],
    ['page_size=abc', ['page_size: Invalid input: expected number, received NaN']],
    ['page_size=1&page_size=2', ['page_size: Invalid input: expected number, received NaN']],
    ['page_size=2.5', ['page_size: Invalid input: expected int, received number']],
    ['before_id=', ['before_id: Too small: expected string to have >=1 characters']],
    ['before_id=a&before_id=b', ['before_id: Invalid input: expected string, received array']],
    ['before_id=a&after_id=b', ['before_id: before_id and after_id are mutually exclusive']],
    // Cross-field checks wait until every field passed.
    ['before_id=a&after_id=b&page_size=0', ['page_size: Too small: expected number to be >=1']],
  ])('refuses %j', (query, expected) => expect(read(query)).toEqual(expected));
});
