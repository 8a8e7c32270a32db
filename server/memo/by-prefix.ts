/**
 * Incremental map of a growing list, such as a history that is sent again with each request: caches the mapped prefix
 * that two lists with the same first item have in common. Entries are garbage-collected with that item.
 */
export function memoizeByPrefix<Item extends object, Made>(
  make: (item: Item) => Made,
): (items: readonly Item[]) => Made[] {
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

/** Length of the common prefix of two lists. */
function commonLength<Item>(one: readonly Item[], other: readonly Item[]): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one[length] === other[length]) length += 1;
  return length;
}
