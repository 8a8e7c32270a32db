/** The row of a message that a search has found. */
import { expect, it } from 'vitest';
import { emptyTranscript } from '#server/transcript/reducer/state.ts';
import type { Item } from '@service-code/client';
import { createTimeline } from '../../../web/state/timeline.ts';
import { findRow } from '../../../web/state/turn-rows.ts';

const turn = (ordinal: number, steps: ('completed' | 'failed')[] = ['completed']): Item => ({
  kind: 'turn',
  turnId: `t${ordinal}`,
  ordinal,
  state: 'completed',
  origin: { kind: 'user' },
  prompt: `Prompt ${ordinal}`,
  steps: steps.map((state, at) => ({
    kind: 'step',
    stepId: `t${ordinal}.${at + 1}`,
    turnId: `t${ordinal}`,
    ordinal: at + 1,
    state,
    frames: [{ kind: 'text', frameId: `t${ordinal}.${at + 1}.f1`, role: 'assistant', text: 'Answer' }],
  })),
});

function find(items: Item[], wanted: { turn: number; stepId?: string }, hasMoreOlder = false) {
  const state = { ...emptyTranscript(), items, hasMoreOlder };
  return findRow(state, createTimeline()(state), wanted);
}

it('is the prompt of the turn, or the step of the answer', () => {
  const items = [turn(3), turn(4, ['completed', 'completed'])];
  expect(find(items, { turn: 4 })).toEqual({ kind: 'row', key: 't4' });
  expect(find(items, { turn: 4, stepId: 't4.2' })).toEqual({ kind: 'row', key: 't4.2.f1' });
});

it('is the turn where the step is not displayed', () => {
  expect(find([turn(4, ['failed'])], { turn: 4, stepId: 't4.1' })).toEqual({ kind: 'row', key: 't4' });
});

it('is of the turn with that number, and of no other that begins alike', () => {
  expect(find([turn(1), turn(10)], { turn: 10, stepId: 't10.7' })).toEqual({ kind: 'row', key: 't10' });
  expect(find([turn(1), turn(10)], { turn: 1, stepId: 't1.7' })).toEqual({ kind: 'row', key: 't1' });
});

it('needs older turns, as long as there are any', () => {
  expect(find([turn(8)], { turn: 3 }, true)).toEqual({ kind: 'load' });
  expect(find([], { turn: 3 }, true)).toEqual({ kind: 'load' });
  expect(find([turn(8)], { turn: 3 })).toEqual({ kind: 'lost' });
  // Removed by an undo.
  expect(find([turn(2), turn(4)], { turn: 3 }, true)).toEqual({ kind: 'lost' });
});

it('waits for the steps of a subagent of which only turns have arrived', () => {
  expect(find([turn(0, [])], { turn: 0, stepId: 't0.1' })).toEqual({ kind: 'wait' });
  expect(find([turn(0, [])], { turn: 0 })).toEqual({ kind: 'row', key: 't0' });
});
