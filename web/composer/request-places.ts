/** Where the open requests of a session are drawn: at the place of their call, while its row is in the list. */
import { shallowReactive } from 'vue';

export interface RequestPlaces {
  /** Elements at the place of waiting calls, by `keyOf` agent and call. */
  readonly places: Map<string, HTMLElement>;
  /** Keys of the calls whose request has a card, which replaces the card of the call. */
  readonly drawn: Set<string>;
  /** The cards that request an answer. */
  readonly cards: Set<HTMLElement>;
}

const known = new WeakMap<object, RequestPlaces>();

/** One reactive value for each open session. */
export function requestPlaces(session: object): RequestPlaces {
  const places = known.get(session) ?? {
    places: shallowReactive(new Map<string, HTMLElement>()),
    drawn: shallowReactive(new Set<string>()),
    cards: shallowReactive(new Set<HTMLElement>()),
  };
  known.set(session, places);
  return places;
}
