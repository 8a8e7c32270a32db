/** The panes of the page: in its address (`#/s/a+b`), and the slots that keep their sizes. */

export const MOST_PANES = 3;

/** The part of the page that an address displays; no member is set at the start page. */
export interface Place {
  /** Ids of the sessions, a pane for each. */
  sessions: readonly string[];
  /** Id of the view that replaces the panes. */
  view?: string;
}

/** Parses the hash of an address; a session is opened in one pane only. */
export function parsePlace(hash: string): Place {
  const [, sessions] = /^#\/s\/(.+)$/.exec(hash) ?? [];
  if (sessions !== undefined) {
    const ids = sessions.split('+').filter((id) => id !== '');
    return { sessions: [...new Set(ids)].slice(0, MOST_PANES) };
  }
  const [, view] = /^#\/([a-z-]+)$/.exec(hash) ?? [];
  return view === undefined ? { sessions: [] } : { sessions: [], view };
}

export const sessionsHash = (ids: readonly string[]): string => (ids.length === 0 ? '#/' : `#/s/${ids.join('+')}`);

/** A pane, in the order of the page. The slot names its sizes and its panel, and stays when a neighbour is closed. */
export interface PaneSlot {
  readonly slot: number;
  readonly sessionId: string;
}

/** Panes of these sessions: a session keeps its slot, another one takes the slot of the pane that it replaces. */
export function withSessions(panes: readonly PaneSlot[], ids: readonly string[]): readonly PaneSlot[] {
  const slots = new Map(panes.flatMap(({ slot, sessionId }) => (ids.includes(sessionId) ? [[sessionId, slot]] : [])));
  const free = new Set(Array.from({ length: MOST_PANES }, (_, slot) => slot));
  for (const slot of slots.values()) free.delete(slot);
  return ids.map((sessionId, index) => {
    const replaced = panes[index]?.slot;
    const [lowest = 0] = free;
    const slot = slots.get(sessionId) ?? (replaced !== undefined && free.has(replaced) ? replaced : lowest);
    free.delete(slot);
    return { slot, sessionId };
  });
}

/** Sessions after one was opened to the right of the pane at `index`; a full page replaces the last other pane. */
export function withNeighbour(ids: readonly string[], index: number, id: string): readonly string[] {
  const added = ids.toSpliced(index + 1, 0, id);
  if (added.length <= MOST_PANES) return added;
  const [kept] = ids.slice(index, index + 1);
  const removed = added.findLastIndex((other) => other !== id && other !== kept);
  return added.toSpliced(removed, 1);
}
