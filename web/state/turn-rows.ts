/** The row of a conversation that displays a message. */
import type { Item, TranscriptState } from '../client/types.ts';
import type { TurnTarget } from './search-hits.ts';
import type { Row } from './timeline.ts';

/** `load`: older turns must be loaded first; `wait`: the turn's steps have not arrived; `lost`: it was removed. */
export type FoundRow = { kind: 'row'; key: string } | { kind: 'load' } | { kind: 'wait' } | { kind: 'lost' };

const isTurn = (item: Item) => item.kind === 'turn';

/** Finds the step of the target, or the first row of its turn where that step is not displayed. */
export function findRow(
  { items, hasMoreOlder }: Pick<TranscriptState, 'items' | 'hasMoreOlder'>,
  rows: readonly Row[],
  { turn: ordinal, stepId }: Pick<TurnTarget, 'turn' | 'stepId'>,
): FoundRow {
  const turns = items.filter(isTurn);
  const turn = turns.find((item) => item.ordinal === ordinal);
  if (!turn) {
    const [oldest] = turns;
    return { kind: hasMoreOlder && (!oldest || oldest.ordinal > ordinal) ? 'load' : 'lost' };
  }
  // Only the turns of a subagent are followed until its conversation is opened.
  if (stepId !== undefined && turn.steps.length === 0) return { kind: 'wait' };
  const row =
    rows.find(({ key }) => key === stepId) ??
    rows.find(({ key }) => key === turn.turnId || key.startsWith(`${turn.turnId}.`));
  return row ? { kind: 'row', key: row.key } : { kind: 'lost' };
}
