/** The place of the page in the browser's history: sessions and view in the address, the region of a phone in the entry. */
import { computed, shallowRef } from 'vue';
import { isObject, textIn } from '../state/is-object.ts';
import { parsePlace, type Place } from '../state/pane-address.ts';
import { followOverlayHistory, overlaysInHistory } from '../ui/back-closes.ts';

const regions = ['sessions', 'conversation', 'panel', 'more'] as const;
/** A phone displays one of these at a time. */
export type PhoneRegion = (typeof regions)[number];

interface Shown extends Place {
  region: PhoneRegion;
  /** Id of the panel of the region `panel`. */
  panel?: string;
}

export type Navigation = ReturnType<typeof createNavigation>;

function readPlace(): Shown {
  const entry: unknown = history.state;
  const state = isObject(entry) ? entry : {};
  const panel = textIn(state, 'panel');
  return {
    ...parsePlace(location.hash),
    region: regions.find((name) => name === state['region']) ?? 'conversation',
    ...(panel !== undefined && { panel }),
  };
}

/** `takeToken` removes a token from an address that the user has opened, and returns whether there was one. */
export function createNavigation(takeToken: () => boolean) {
  const place = shallowRef(readPlace());
  let hash = location.hash;

  function read() {
    hash = location.hash;
    place.value = readPlace();
  }

  function onNavigated() {
    // The address of the displayed place is restored.
    if (takeToken()) history.replaceState(history.state, '', hash || location.pathname + location.search);
    read();
  }

  // Both: an address that the user has typed, and a step in the history.
  window.addEventListener('popstate', onNavigated);
  window.addEventListener('hashchange', onNavigated);
  followOverlayHistory();

  function write(state: { region: PhoneRegion; panel?: string } | null, to: string, isReplaced: boolean) {
    // Back leads to the place before, not to an overlay that was open in it.
    if (isReplaced || overlaysInHistory() > 0) history.replaceState(state, '', to);
    else history.pushState(state, '', to);
    read();
  }

  return {
    sessions: computed(() => place.value.sessions),
    view: computed(() => place.value.view),
    region: computed(() => place.value.region),
    panel: computed(() => place.value.panel),
    /** Opens sessions or a view. */
    go(to: string): void {
      if (to === location.hash && place.value.region === 'conversation') return;
      // Back leads to the list of sessions, but not to a closed sheet.
      write(null, to, place.value.region === 'more');
    },
    /** Displays a region of the same place. Back leads to the conversation, regardless of how many were displayed. */
    show(region: Exclude<PhoneRegion, 'conversation'>, panel?: string): void {
      const state = { region, ...(panel !== undefined && { panel }) };
      write(state, location.hash || '#/', place.value.region !== 'conversation');
    },
    /** Returns to the conversation; settles when it is displayed. */
    leave(): Promise<void> {
      if (place.value.region === 'conversation') return Promise.resolve();
      return new Promise((resolve) => {
        window.addEventListener('popstate', () => resolve(), { once: true });
        history.go(-1 - overlaysInHistory());
      });
    },
  };
}
