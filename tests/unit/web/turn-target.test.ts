/** Scrolling a conversation to the message that a search has found. */
import { effectScope, nextTick, shallowRef } from 'vue';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { emptyTranscript } from '#server/transcript/reducer/state.ts';
import type { Item } from '@service-code/client';
import type { TurnTarget } from '../../../web/state/search-hits.ts';
import type { Row } from '../../../web/state/rows.ts';
import { createTimeline } from '../../../web/state/timeline.ts';
import { seekTurn } from '../../../web/stores/turn-target.ts';

const turn = (ordinal: number): Item => ({
  kind: 'turn',
  turnId: `t${ordinal}`,
  ordinal,
  state: 'completed',
  origin: { kind: 'user' },
  prompt: `Prompt ${ordinal}`,
  steps: [],
});

const state = emptyTranscript();
const target = shallowRef<TurnTarget>();
const rows = shallowRef<readonly Row[]>([]);
let scope: ReturnType<typeof effectScope>;
/** Rows, those that are displayed again in parentheses. */
let found: (string | undefined)[];
let loads: (() => void)[];

/** The turns that the page has; as many older ones as the first one's number. */
function receive(ordinals: number[]) {
  state.items = ordinals.map(turn);
  state.hasMoreOlder = (ordinals[0] ?? 0) > 0;
}

async function show(ordinals: number[]) {
  receive(ordinals);
  rows.value = createTimeline()(state);
  await nextTick();
}

const want = (ordinal: number): TurnTarget => ({ sessionId: 's', agentId: 'main', turn: ordinal });

beforeEach(async () => {
  found = [];
  loads = [];
  target.value = undefined;
  scope = effectScope();
  scope.run(() =>
    seekTurn({
      target,
      state: () => state,
      rows,
      loadOlder: () => new Promise((resolve) => void loads.push(resolve)),
      onFound: (key, isAgain) => found.push(isAgain ? `(${key})` : key),
    }),
  );
  await show([7, 8, 9]);
});
afterEach(() => scope.stop());

/** Completes a read of older turns, whose change is drawn afterwards. */
async function load(ordinals: number[]) {
  receive(ordinals);
  loads.shift()?.();
  await Promise.resolve();
  await show(ordinals);
}

it('loads older turns, one page at a time, until the message is there', async () => {
  target.value = want(2);
  await nextTick();
  // Another change does not start a second read.
  await show([7, 8, 9, 10]);
  expect(loads).toHaveLength(1);
  await load([4, 5, 6, 7, 8, 9, 10]);
  expect([found, loads.length]).toEqual([[], 1]);
  await load([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect([found, loads.length]).toEqual([['t2'], 0]);
  await show([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(found).toEqual(['t2']);
});

it('finds a message that another read brings while older turns are loaded', async () => {
  target.value = want(2);
  await nextTick();
  await show([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(found).toEqual([]);
  // Its own read brings nothing new, so that nothing is drawn again.
  loads.shift()?.();
  await expect.poll(() => found).toEqual(['t2']);
});

it('loads them again when the server replaces the conversation by its newest turns', async () => {
  await show([6, 7, 8, 9]);
  target.value = want(6);
  await nextTick();
  expect(found).toEqual(['t6']);
  await show([8, 9]);
  expect(loads).toHaveLength(1);
  await load([5, 6, 7, 8, 9]);
  expect(found).toEqual(['t6', '(t6)']);
  // The user has moved elsewhere.
  target.value = undefined;
  await show([8, 9]);
  expect(loads).toHaveLength(0);
});

it('displays a message again that is opened again', async () => {
  target.value = want(8);
  await nextTick();
  target.value = want(8);
  await nextTick();
  expect(found).toEqual(['t8', 't8']);
});

it('reports a message that was removed', async () => {
  await show([0, 1, 3]);
  target.value = want(2);
  await nextTick();
  expect([found, loads.length]).toEqual([[undefined], 0]);
});
