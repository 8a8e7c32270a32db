/** A visible row of a tree; the rows are in their order, those of a closed branch are absent. */
export interface TreeRow<T> {
  key: string;
  item: T;
  /** From 1. */
  level: number;
  /** The name that typing finds; the drawn text is what is read aloud. */
  label: string;
  /** Whether a branch is open; undefined for a leaf. */
  open?: boolean | undefined;
}

/** The index that a key moves to, or undefined for another key. */
export function treeMove<T>(rows: readonly TreeRow<T>[], at: number, key: string): number | undefined {
  const row = rows[at];
  if (!row) return undefined;
  if (key === 'ArrowDown') return Math.min(at + 1, rows.length - 1);
  if (key === 'ArrowUp') return Math.max(at - 1, 0);
  if (key === 'Home') return 0;
  if (key === 'End') return rows.length - 1;
  if (key === 'ArrowRight' && row.open) return (rows[at + 1]?.level ?? 0) > row.level ? at + 1 : at;
  if (key === 'ArrowLeft' && !row.open) {
    const parent = rows.slice(0, at).findLastIndex(({ level }) => level < row.level);
    return parent === -1 ? at : parent;
  }
  if (key.length === 1 && key.trim() !== '') {
    const starts = ({ label }: TreeRow<T>) => label.toLowerCase().startsWith(key.toLowerCase());
    const next = rows.findIndex((other, index) => index > at && starts(other));
    const first = rows.findIndex(starts);
    return next === -1 ? (first === -1 ? at : first) : next;
  }
  return undefined;
}
