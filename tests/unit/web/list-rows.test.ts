/** Rows of a session list, their positions, and which of them are drawn. */
import { expect, it } from 'vitest';
import { drawnRows, keptOffset, layoutRows, listRows, rowAt, SESSION_PX } from '../../../web/state/list-rows.ts';
import { session } from './session-frames.ts';

const sessionAt = (number: number, more: object = {}) =>
  session({ id: `session_${String(number).padStart(5, '0')}`, title: `Session ${number}`, ...more });
const many = (count: number) => Array.from({ length: count }, (_, number) => sessionAt(number));
const open = (sessions: ReturnType<typeof many>) => {
  const rows = listRows(sessions, []);
  return { rows, layout: layoutRows(rows) };
};

it('has pinned sessions first, in the order of the pins, and each only one time', () => {
  const other = { workspace_id: 'wd_other_000000000000', metadata: { cwd: '/home/me/other' } };
  const sessions = [sessionAt(1), sessionAt(2, other), sessionAt(3)];
  const rows = listRows(sessions, [], ['session_00003', 'session_00009', 'session_00002']);
  expect(rows.map((row) => (row.kind === 'group' ? (row.name ?? 'no name: the pinned ones') : row.key))).toEqual([
    'no name: the pinned ones',
    'session_00003',
    'session_00002',
    'shop',
    'session_00001',
  ]);
  expect(
    listRows(sessions, []).map((row) => (row.kind === 'group' ? (row.name ?? 'no name: the pinned ones') : row.key)),
  ).toEqual(['shop', 'session_00001', 'session_00003', 'other', 'session_00002']);
});

it('draws only the visible rows of 10,000, and the one that has the focus', () => {
  const { rows, layout } = open(many(10_000));
  expect(rows).toHaveLength(10_001);
  const drawn = drawnRows(layout, 160_000, 700, 3);
  expect(drawn.length).toBeLessThan(50);
  expect(drawn[0]).toBe(3);
  const visible = rows.flatMap((_, index) => {
    const top = layout.tops[index] ?? 0;
    return top + SESSION_PX > 160_000 && top < 160_700 ? [index] : [];
  });
  expect(drawn).toEqual(expect.arrayContaining(visible));
  expect(drawn).toEqual(drawn.toSorted((a, b) => a - b));
  expect(drawnRows(layout, 0, 700, 9_000).at(-1)).toBe(9_000);
  expect(drawnRows(layout, 0, 700, 2).filter((index) => index === 2)).toHaveLength(1);
});

it('finds rows at any offset', () => {
  const { rows, layout } = open(many(100));
  for (let index = 0; index < rows.length; index += 1) {
    const top = layout.tops[index] ?? 0;
    expect([rowAt(layout, top), rowAt(layout, top + SESSION_PX - 1)]).toEqual([index, index]);
  }
  expect(rowAt(layout, 1e9)).toBe(rows.length - 1);
  expect(rowAt(layout, -1)).toBe(0);
  expect(drawnRows(layoutRows([]), 0, 700, -1)).toEqual([]);
});

it('keeps the visible rows where they are when others arrive or disappear', () => {
  const sessions = many(100);
  const before = open(sessions);
  const at = 50 * SESSION_PX + 7;
  expect(keptOffset(before, open([sessionAt(500), ...sessions]), at)).toBe(at + SESSION_PX);
  expect(keptOffset(before, open(sessions.slice(10)), at)).toBe(at - 10 * SESSION_PX);
  // The first visible row is one of those that disappear: the next one that is left stays where it is.
  const visible = rowAt(before.layout, at) - 1;
  const left = sessions.filter((_, index) => index < visible || index > visible + 3);
  expect(keptOffset(before, open(left), at)).toBe(at - 4 * SESSION_PX);
});

it('displays new rows at the start while the list is at its start', () => {
  const before = open(many(100));
  expect(keptOffset(before, open([sessionAt(500), ...many(100)]), 0)).toBe(0);
});
