/** The rows of a session list, and their positions: of thousands, only the visible ones are drawn. */
import type { Session, Workspace } from '@service-code/client';
import { groupByWorkspace, withChildren } from './session-list.ts';

export interface GroupRow {
  kind: 'group';
  key: string;
  /** Name and directory of a workspace; absent for pinned sessions. */
  name?: string;
  root?: string;
}

export interface SessionRow {
  kind: 'session';
  key: string;
  session: Session;
  isChild: boolean;
  isPinned: boolean;
}

export type ListRow = GroupRow | SessionRow;

/** Pinned sessions in the order of their pins, then all others by workspace. */
export function listRows(
  sessions: readonly Session[],
  workspaces: readonly Workspace[],
  pins: readonly string[] = [],
): ListRow[] {
  const isPinned = new Set(pins);
  const pinned = new Map(sessions.filter(({ id }) => isPinned.has(id)).map((session) => [session.id, session]));
  const others = pinned.size === 0 ? sessions : sessions.filter(({ id }) => !pinned.has(id));
  const rows: ListRow[] = [];
  if (pinned.size > 0) rows.push({ kind: 'group', key: 'pinned' });
  for (const id of pins) {
    const session = pinned.get(id);
    if (session) rows.push({ kind: 'session', key: id, session, isChild: false, isPinned: true });
  }
  for (const group of groupByWorkspace(others, workspaces)) {
    rows.push({ kind: 'group', key: `group ${group.id}`, name: group.name, root: group.root });
    for (const { session, isChild } of withChildren(group.sessions)) {
      rows.push({ kind: 'session', key: session.id, session, isChild, isPinned: false });
    }
  }
  return rows;
}

/** Heights in pixels; the styles of the rows must agree. */
export const GROUP_PX = 36;
export const SESSION_PX = 32;
export const COMPACT_PX = 28;
/** Height of a session where rows are touched. */
export const TOUCH_PX = 44;
/** Rows that are drawn above and below the visible ones. */
const OVERSCAN = 6;

export interface RowLayout {
  /** Sum of the heights of all rows. */
  height: number;
  /** Distance of each row from the start. */
  tops: readonly number[];
}

export function layoutRows(rows: readonly ListRow[], sessionPx = SESSION_PX): RowLayout {
  const tops: number[] = [];
  let height = 0;
  for (const { kind } of rows) {
    tops.push(height);
    height += kind === 'group' ? GROUP_PX : sessionPx;
  }
  return { height, tops };
}

/** Index of the row at an offset; the last row after the end, 0 in an empty list. */
export function rowAt({ tops }: RowLayout, offset: number): number {
  let [low, high] = [0, tops.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((tops[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Indexes of the rows to draw, ascending: the visible ones with a margin, and `also`, which has the focus. */
export function drawnRows(layout: RowLayout, scrollTop: number, height: number, also?: number): number[] {
  const count = layout.tops.length;
  const first = Math.max(0, rowAt(layout, scrollTop) - OVERSCAN);
  const end = Math.min(count, rowAt(layout, scrollTop + height) + 1 + OVERSCAN);
  const drawn = Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
  if (also === undefined || also < 0 || also >= count || (also >= first && also < end)) return drawn;
  return also < first ? [also, ...drawn] : [...drawn, also];
}

/**
 * The scroll offset at which the first visible row that is left stays where it is. At the start new rows move the
 * others down instead.
 */
export function keptOffset(
  before: { rows: readonly ListRow[]; layout: RowLayout },
  after: { rows: readonly ListRow[]; layout: RowLayout },
  scrollTop: number,
): number {
  if (scrollTop <= 0) return scrollTop;
  const indexes = new Map(after.rows.map(({ key }, index) => [key, index]));
  for (let at = rowAt(before.layout, scrollTop); at < before.rows.length; at += 1) {
    const index = indexes.get(before.rows[at]?.key ?? '');
    if (index === undefined) continue;
    return Math.max(0, scrollTop + (after.layout.tops[index] ?? 0) - (before.layout.tops[at] ?? 0));
  }
  return scrollTop;
}
