/** The selected sessions of a list. */

export interface Selection {
  readonly ids: ReadonlySet<string>;
  /** The session that was selected last; a range starts there. */
  readonly anchor: string | undefined;
}

export const emptySelection: Selection = { ids: new Set(), anchor: undefined };

/** Selects a session, or deselects it. */
export function toggled({ ids }: Selection, id: string): Selection {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { ids: next, anchor: id };
}

/** Adds the sessions from the anchor to this one, in the order of the list. Without an anchor, only this one. */
export function extended({ ids, anchor }: Selection, order: readonly string[], id: string): Selection {
  const to = order.indexOf(id);
  const from = anchor === undefined ? -1 : order.indexOf(anchor);
  if (to === -1) return { ids, anchor };
  const range = from === -1 ? [id] : order.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { ids: new Set([...ids, ...range]), anchor: from === -1 ? id : anchor };
}

export const allSelected = (ids: readonly string[]): Selection => ({ ids: new Set(ids), anchor: undefined });

/** Deselects sessions. */
export function without({ ids, anchor }: Selection, gone: ReadonlySet<string>): Selection {
  const left = new Set([...ids].filter((id) => !gone.has(id)));
  return { ids: left, anchor: anchor !== undefined && left.has(anchor) ? anchor : undefined };
}
