import { expect, test } from 'vitest';
import { memoizeByPrefix } from '#server/memo/by-prefix.ts';

interface Item {
  name: string;
}

/** `perItem` of names; `called` contains the names that it was called for. */
function names() {
  const called: string[] = [];
  const read = memoizeByPrefix(({ name }: Item) => {
    called.push(name);
    return name;
  });
  return { read, called };
}

const items = (...all: string[]): Item[] => all.map((name) => ({ name }));

test('maps only the additional items of a longer list', () => {
  const { read, called } = names();
  const list = items('a', 'b');
  expect(read(list)).toEqual(['a', 'b']);
  expect(read([...list, ...items('c')])).toEqual(['a', 'b', 'c']);
  expect(read([])).toEqual([]);
  expect(called).toEqual(['a', 'b', 'c']);
});

test('maps again from the first item that differs', () => {
  const { read, called } = names();
  const list = items('a', 'b', 'c', 'd');
  read(list);
  expect(read(list.slice(0, 2))).toEqual(['a', 'b']);
  expect(read(list.with(1, { name: 'x' }))).toEqual(['a', 'x', 'c', 'd']);
  expect(called.slice(4)).toEqual(['x', 'c', 'd']);
});

test('separates lists that begin with different items', () => {
  const { read, called } = names();
  const [one, other] = [items('a', 'b'), items('a', 'b')];
  for (const list of [one, other, one, other]) expect(read(list)).toEqual(['a', 'b']);
  expect(called).toHaveLength(4);
});

test('is not affected by changes of a list or of a returned list', () => {
  const { read } = names();
  const list = items('a', 'b');
  read(list).push('z');
  expect(read(list)).toEqual(['a', 'b']);
  list.push({ name: 'c' });
  expect(read(list)).toEqual(['a', 'b', 'c']);
  list[1] = { name: 'x' };
  expect(read(list)).toEqual(['a', 'x', 'c']);
});
