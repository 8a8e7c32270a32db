import { expect, it } from 'vitest';
import { seeded } from '#support/random.ts';
import { selectPage, type PageQuery } from '#server/transcript/page.ts';
import { emptyTranscript, type StoredItem } from '#server/transcript/reducer/state.ts';

/** Turns and markers in random order; ordinals have gaps, as after an undo. */
function timeline(random: () => number): StoredItem[] {
  const items: StoredItem[] = [];
  let ordinal = Math.floor(random() * 3);
  for (let left = Math.floor(random() * 14); left > 0; left--) {
    if (random() < 0.4) items.push({ kind: 'marker', markerId: `m${left}`, marker: 'interruption' });
    else {
      items.push({
        kind: 'turn',
        turnId: `t${ordinal}`,
        ordinal,
        state: 'completed',
        origin: { kind: 'user' },
        steps: [],
      });
      ordinal += 1 + Math.floor(random() * 2);
    }
  }
  return items;
}

/** Reference implementation of a page: checks every turn. */
function wanted(items: StoredItem[], { before = Infinity, after = -1, size }: PageQuery, forwards: boolean) {
  const segments: StoredItem[][] = [];
  for (const item of items) {
    if (item.kind === 'turn') segments.push([item]);
    else segments.at(-1)?.push(item);
  }
  const fitting = segments.filter(([turn]) => turn?.kind === 'turn' && turn.ordinal < before && turn.ordinal > after);
  const first = items.findIndex(({ kind }) => kind === 'turn');
  return {
    segments: forwards ? fitting.slice(0, size) : fitting.slice(-size),
    head: forwards ? [] : items.slice(0, first === -1 ? items.length : first),
    hasMore: fitting.length > size,
  };
}

it('contains the turns between its cursors, each with the items after it', () => {
  const random = seeded(7);
  for (let round = 0; round < 5000; round++) {
    const items = timeline(random);
    const cursor = () => (random() < 0.5 ? Math.floor(random() * 14) : undefined);
    const query = { before: cursor(), after: cursor(), size: 1 + Math.floor(random() * 4) };
    const page = selectPage({ ...emptyTranscript(), items }, query);
    expect({ query, page }).toEqual({ query, page: wanted(items, query, query.after !== undefined) });
  }
});
