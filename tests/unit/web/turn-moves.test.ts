/** Moves between the turns of a conversation. */
import { expect, it } from 'vitest';
import { emptyTranscript } from '#server/transcript/reducer/state.ts';
import type { Item } from '@service-code/client';
import { createTimeline } from '../../../web/state/timeline.ts';
import { turnFrom } from '../../../web/state/turn-moves.ts';

const turn = (ordinal: number, prompt: string): Item => ({
  kind: 'turn',
  turnId: `t${ordinal}`,
  ordinal,
  state: 'completed',
  origin: { kind: 'user' },
  prompt,
  steps: [
    {
      kind: 'step',
      stepId: `t${ordinal}.1`,
      turnId: `t${ordinal}`,
      ordinal: 1,
      state: 'completed',
      frames: [
        { kind: 'text', frameId: `t${ordinal}.1.f1`, role: 'assistant', text: 'Answer' },
        { kind: 'text', frameId: `t${ordinal}.1.f2`, role: 'user', text: 'Steered' },
      ],
    },
  ],
});
const marker: Item = { kind: 'marker', markerId: 'm1', marker: 'clear' };

/** The second turn was started without a prompt, as those of a goal are. */
const rows = createTimeline()({ ...emptyTranscript(), items: [turn(1, 'One'), marker, turn(2, ''), turn(3, 'Three')] });
const keys = rows.map(({ key }) => key);
const from = (key: string, by: 1 | -1) => turnFrom(rows, keys.indexOf(key), by)?.key;

it('leads to the first row of the turn after or before, also of one without a prompt', () => {
  expect(from('t1', 1)).toBe('t2.work');
  expect(from('m1', 1)).toBe('t2.work');
  expect(from('t2.work', 1)).toBe('t3');
  expect(from('t3', -1)).toBe('t2.work');
});

it('leads from within a turn to its start first, not to a prompt that was put into it', () => {
  expect(from('t3.1.f2', -1)).toBe('t3');
  expect(turnFrom(rows, keys.indexOf('t3') + 0.5, -1)?.key).toBe('t3');
  expect(turnFrom(rows, rows.length, -1)?.key).toBe('t3');
});

it('leads nowhere before the first and after the last turn', () => {
  expect(from('t1', -1)).toBeUndefined();
  expect(from('t3', 1)).toBeUndefined();
});
