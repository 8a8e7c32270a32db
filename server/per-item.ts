/**
 * `make` for each item of a list that grows, such as a history told again with each request: lists that begin with the
 * same item share what was made for as far as they are the same. What was made is let go of with that item.
 */
export function perItem<Item extends object, Made>(make: (item: Item) => Made): (items: readonly Item[]) => Made[] {
  const lists = new WeakMap<Item, { items: readonly Item[]; made: readonly Made[] }>();
  return (items) => {
    const [first] = items;
    if (!first) return [];
    const before = lists.get(first);
    const same = before ? commonLength(before.items, items) : 0;
    const made = before ? before.made.slice(0, same) : [];
    for (let place = same; place < items.length; place += 1) {
      const item = items[place];
      if (item) made.push(make(item));
    }
    lists.set(first, { items: [...items], made });
    return made;
  };
}

/** How many items two lists begin with that are the same. */
export function commonLength<Item>(
  one: readonly Item[],
  other: readonly Item[],
  same: (a: Item | undefined, b: Item | undefined) => boolean = Object.is,
): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && same(one[length], other[length])) length += 1;
  return length;
}
