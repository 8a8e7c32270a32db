/** The row of a conversation that displays a message. */
import type { Item } from '@service-code/client';
import type { TurnTarget } from './search-hits.ts';
import { frameIdsOf, type Row } from './rows.ts';

/** `load`: the turn must be loaded first; `wait`: its steps or rows are not there yet; `lost`: it was removed. */
export type FoundRow = { kind: 'row'; key: string } | { kind: 'load' } | { kind: 'wait' } | { kind: 'lost' };

/** The turns that are loaded. */
export interface LoadedTurns {
  items: readonly Item[];
  hasMoreOlder: boolean;
}

const isTurn = (item: Item) => item.kind === 'turn';

/** Finds the step of the target, or the first row of its turn where that step is not displayed. */
export function findRow(
  { items, hasMoreOlder }: LoadedTurns,
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
    (stepId === undefined ? undefined : rowOfStep(rows, stepId)) ??
    rows.find(({ key }) => key === turn.turnId || key.startsWith(`${turn.turnId}.`));
  return row ? { kind: 'row', key: row.key } : { kind: 'wait' };
}

/** The text of a step, else its first row. */
function rowOfStep(rows: readonly Row[], stepId: string): Row | undefined {
  const own = rows.filter((row) => frameIdsOf(row).some((id) => id.startsWith(`${stepId}.`)));
  return own.find(({ kind }) => kind === 'text') ?? own[0];
}
