/** What a feature keeps in a session's view: a fold of its own over the same snapshots and events. */
import type { EventFrame, Snapshot } from '../client/types.ts';
import type { SessionView } from './session-view.ts';

export interface ViewPart<S> {
  /** Unique among all parts. */
  name: string;
  initial: S;
  /** Replaces what was known. */
  snapshot?(state: S, snapshot: Snapshot): S;
  /** Gets the events of every agent, each perhaps twice; returns the same state when nothing changed. */
  event?(state: S, frame: EventFrame): S;
}

/** The state of a part in a view. */
export function partOf<S>(view: Pick<SessionView, 'parts'>, part: ViewPart<S>): S {
  // Only the part itself writes under its name.
  return (view.parts[part.name] ?? part.initial) as S;
}

type Parts = SessionView['parts'];

/** All parts after a snapshot. */
export function partsFromSnapshot(parts: Parts, known: readonly ViewPart<unknown>[], snapshot: Snapshot): Parts {
  return change(parts, known, (part, state) => (part.snapshot ? part.snapshot(state, snapshot) : state));
}

/** All parts after an event. */
export function partsAfter(parts: Parts, known: readonly ViewPart<unknown>[], frame: EventFrame): Parts {
  return change(parts, known, (part, state) => (part.event ? part.event(state, frame) : state));
}

function change(
  parts: Parts,
  known: readonly ViewPart<unknown>[],
  next: (part: ViewPart<unknown>, state: unknown) => unknown,
): Parts {
  let changed = parts;
  for (const part of known) {
    const state = parts[part.name] ?? part.initial;
    const after = next(part, state);
    if (after !== state) changed = { ...changed, [part.name]: after };
  }
  return changed;
}
