/** The number of prompts that an undo reverts, where the prompt may not be loaded yet. */
import { expect, it } from 'vitest';
import { prependItems, type TranscriptOp } from '@service-code/client';
import { countUndone } from '../../../web/stores/undo-count.ts';
import { marker, transcript, turn } from './transcripts.ts';

/** A conversation whose last page is loaded; each page before it is loaded by a further call. */
function conversation(...pages: TranscriptOp[][]) {
  const state = transcript(pages.pop() ?? []);
  state.hasMoreOlder = pages.length > 0;
  return {
    state: () => state,
    async loadOlder() {
      const page = pages.pop();
      prependItems(state, transcript(page ?? []).items, pages.length > 0);
    },
    left: () => pages.length,
  };
}

const isWanted = () => true;

it('is counted in loaded turns without a request', async () => {
  const loaded = conversation([turn(0)], [turn(1), turn(2), turn(3)]);
  expect([await countUndone(loaded, 't2', isWanted), loaded.left()]).toEqual([2, 1]);
});

it('is counted back to a prompt that is not loaded, and the turns before it are loaded', async () => {
  const loaded = conversation([turn(0)], [turn(1), turn(2)], [turn(3)], [turn(4)]);
  expect([await countUndone(loaded, 't2', isWanted), loaded.left()]).toEqual([3, 1]);
  expect([await countUndone(loaded, 't1', isWanted), loaded.left()]).toEqual([4, 0]);
  expect(await countUndone(loaded, 't0', isWanted)).toBe(5);
});

it('is undefined before a compaction, without loading what is before it, and for a prompt that was removed', async () => {
  const compacted = conversation([turn(0)], [marker(1, 'compaction', { phase: 'completed' }), turn(1)], [turn(2)]);
  expect([await countUndone(compacted, 't0', isWanted), compacted.left()]).toEqual([undefined, 1]);
  expect(await countUndone(conversation([turn(0)], [turn(2)]), 't1', isWanted)).toBeUndefined();
});

it('is unknown while no older turns can be loaded', async () => {
  const { state } = conversation([turn(0)], [turn(1)]);
  await expect(countUndone({ state, loadOlder: async () => {} }, 't0', isWanted)).rejects.toThrow(
    'could not be loaded',
  );
});

it('loads nothing more when it is not wanted any more', async () => {
  const loaded = conversation([turn(0)], [turn(1)], [turn(2)], [turn(3)]);
  expect(await countUndone(loaded, 't0', () => loaded.left() > 2)).toBeUndefined();
  expect(loaded.left()).toBe(2);
});
