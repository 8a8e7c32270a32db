/** The layout of the page as reactive values, stored for the tab and, for new tabs, for the browser. */
import { computed, reactive, shallowRef, watch } from 'vue';
import { clamp, parseLayout, SIDEBAR, type PaneLayout } from '../state/layout.ts';

const PHONE = '(max-width: 720px)';
/** From this width, the panel is open next to the conversation until the user closes it. */
const WIDE_PX = 1800;

/** A region that is displayed without the others. */
export type SingleRegion = 'conversation' | 'panel' | 'drawer';

/** Whether a media query matches, now and after each change. */
function matches(query: string) {
  const list = window.matchMedia(query);
  const isMatching = shallowRef(list.matches);
  list.addEventListener('change', () => (isMatching.value = list.matches));
  return computed(() => isMatching.value);
}

export type LayoutStore = ReturnType<typeof createLayout>;

/** `key` names the layout in the browser's storage. Never disposed. */
export function createLayout(key: string) {
  const layout = reactive(parseLayout(sessionStorage.getItem(key) ?? localStorage.getItem(key)));
  watch(layout, () => {
    const text = JSON.stringify(layout);
    sessionStorage.setItem(key, text);
    localStorage.setItem(key, text);
  });

  return {
    /** Whether one region at a time is displayed. */
    isPhone: matches(PHONE),
    isWide: matches(`(min-width: ${WIDE_PX}px)`),
    /** Whether the main pointer can hover, unlike a finger. */
    canHover: matches('(hover: hover)'),
    sidebar: layout.sidebar,
    sidebarWidth: computed({
      get: () => layout.sidebar.width,
      set: (width) => (layout.sidebar.width = clamp(width, SIDEBAR.min, SIDEBAR.max)),
    }),
    shares: computed({ get: () => layout.shares, set: (shares) => (layout.shares = shares) }),
    pane(slot: number): PaneLayout {
      const pane = layout.panes[slot];
      if (!pane) throw new Error(`No slot ${slot}`);
      return pane;
    },
    /** The region of the focused pane that is displayed without the others. */
    single: shallowRef<SingleRegion>(),
  };
}
