/** The window of turns around one that is far from the loaded ones. */
import { expect, it } from 'vitest';
import type { Item, TranscriptState } from '@service-code/client';
import {
  WINDOW_TURNS,
  afterOps,
  beforeTurn,
  joinWindow,
  openWindow,
  reaches,
  withNewer,
  withOlder,
} from '../../../web/state/turn-window.ts';
import { AT, marker, step, transcript, turn } from './transcripts.ts';

const turns = (...ordinals: number[]): Item[] => transcript(ordinals.map((ordinal) => turn(ordinal))).items;
const page = (ordinals: number[], has_more = true) => ({ items: turns(...ordinals), has_more });
const names = ({ items }: { items: readonly Item[] }) =>
  items.map((item) => (item.kind === 'turn' ? item.turnId : item.kind === 'marker' ? item.markerId : item.refId));
const loaded = (...ordinals: number[]): TranscriptState => transcript(ordinals.map((ordinal) => turn(ordinal)));

it('is read with as many turns before the wanted one as after it', () => {
  expect([beforeTurn(40), WINDOW_TURNS]).toEqual(['t56', 31]);
});

it('grows at both ends, without a turn twice', () => {
  const window = openWindow(page([4, 5]));
  const older = withOlder(window, page([2, 3, 4], false));
  expect([names(older), older.hasMoreOlder]).toEqual([['t2', 't3', 't4', 't5'], false]);
  expect(names(withNewer(older, page([5, 6])))).toEqual(['t2', 't3', 't4', 't5', 't6']);
});

it('joins the loaded turns as soon as it has one of them, with the items between', () => {
  const state = loaded(8, 9);
  expect(reaches(openWindow(page([4, 5])), state)).toBe(false);
  const between: Item = { kind: 'marker', markerId: 'm1', marker: 'undo', payload: {}, at: AT };
  const [seventh, eighth] = turns(7, 8);
  const window = openWindow({
    items: [...(seventh ? [seventh] : []), between, ...(eighth ? [eighth] : [])],
    has_more: true,
  });
  expect(reaches(window, state)).toBe(true);
  const kept = state.byId.get('t8');
  joinWindow(window, state);
  expect([names(state), state.hasMoreOlder]).toEqual([['t7', 'm1', 't8', 't9'], true]);
  expect(state.byId.get('t8')).toBe(kept);
});

it('follows removed turns, and is stale after a change of its turns', () => {
  const window = openWindow(page([4, 5]));
  const removed = afterOps(window, [{ op: 'items.remove', ids: ['t5', 't9'] }]);
  expect(removed.kind === 'removed' && names(removed.window)).toEqual(['t4']);
  expect(afterOps(window, [turn(9), step(9, 1), marker(1, 'undo', {})]).kind).toBe('same');
  expect(afterOps(window, [step(4, 1)]).kind).toBe('stale');
  expect(afterOps(window, [turn(5, { state: 'completed' })]).kind).toBe('stale');
});
