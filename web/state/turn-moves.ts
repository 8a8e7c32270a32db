/** Moves from turn to turn in the rows of a conversation. */
import type { Row } from './rows.ts';

/** The turn of a row; undefined for rows between turns. */
function turnOf(row: Row): string | undefined {
  switch (row.kind) {
    case 'notice':
    case 'compacted':
    case 'marker':
      return undefined;
    default:
      return row.key.split('.')[0];
  }
}

/** Index of the first row of each turn. */
function turnStarts(rows: readonly Row[]): number[] {
  const starts: number[] = [];
  let before: string | undefined;
  for (const [index, row] of rows.entries()) {
    const turn = turnOf(row);
    if (turn === undefined || turn === before) continue;
    before = turn;
    starts.push(index);
  }
  return starts;
}

/**
 * The first row of the turn that starts after a position, or of the one that starts before it; undefined if there is
 * none. The position is the index of a row, or between two of them.
 */
export function turnFrom(rows: readonly Row[], position: number, by: 1 | -1): Row | undefined {
  const starts = turnStarts(rows);
  const index = by === 1 ? starts.find((start) => start > position) : starts.findLast((start) => start < position);
  return index === undefined ? undefined : rows[index];
}
