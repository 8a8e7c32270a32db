/** Where the open requests of a pane's session are drawn: at the place of their call, while its row is in the list. */
import { shallowReactive } from 'vue';
import type { Pane } from '../shell/pane.ts';

export interface RequestPlaces {
  /** Elements at the place of waiting calls, by `keyOf` agent and call. */
  readonly places: Map<string, HTMLElement>;
  /** Keys of the calls whose request has a card, which replaces the card of the call. */
  readonly drawn: Set<string>;
  /** The cards that request an answer. */
  readonly cards: Set<HTMLElement>;
}

const known = new WeakMap<Pane, RequestPlaces>();

/** One reactive value for each pane: cards in the list of sessions neither replace those of a pane nor are found for them. */
export function requestPlaces(pane: Pane): RequestPlaces {
  const places = known.get(pane) ?? {
    places: shallowReactive(new Map<string, HTMLElement>()),
    drawn: shallowReactive(new Set<string>()),
    cards: shallowReactive(new Set<HTMLElement>()),
  };
  known.set(pane, places);
  return places;
}
