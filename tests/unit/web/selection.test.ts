/** Selecting sessions of a list. */
import { expect, it } from 'vitest';
import { allSelected, emptySelection, extended, toggled, without } from '../../../web/state/selection.ts';

const order = ['a', 'b', 'c', 'd', 'e'];
const ids = ({ ids }: { ids: ReadonlySet<string> }) => [...ids].toSorted().join('');

it('selects and deselects single sessions', () => {
  const two = toggled(toggled(emptySelection, 'a'), 'c');
  expect(ids(two)).toBe('ac');
  expect(ids(toggled(two, 'a'))).toBe('c');
  expect(ids(emptySelection)).toBe('');
});

it('adds the range from the last selected session, in both directions', () => {
  const start = toggled(emptySelection, 'c');
  expect(ids(extended(start, order, 'e'))).toBe('cde');
  expect(ids(extended(start, order, 'a'))).toBe('abc');
  // The range starts at the same session until another one is selected.
  expect(ids(extended(extended(start, order, 'e'), order, 'b'))).toBe('bcde');
});

it('selects only the session where no range is possible', () => {
  expect(ids(extended(emptySelection, order, 'b'))).toBe('b');
  expect(ids(extended({ ids: new Set(['x']), anchor: 'x' }, order, 'b'))).toBe('bx');
  expect(ids(extended(toggled(emptySelection, 'b'), order, 'gone'))).toBe('b');
});

it('loses the sessions that were changed, and the start of a range with them', () => {
  const all = extended(toggled(emptySelection, 'a'), order, 'c');
  const left = without(all, new Set(['a', 'b']));
  expect(ids(left)).toBe('c');
  expect(left.anchor).toBeUndefined();
  expect(without(all, new Set(['c'])).anchor).toBe('a');
  expect(ids(allSelected(order))).toBe('abcde');
});
